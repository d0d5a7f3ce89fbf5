-- CDI-TX-16: Connected is not enough: while fewer than 1000 probe packets were acknowledged, the transmitter waits some 400 ms
-- and then sends Reset. cdi-probe.md 3.3 rows T15 to T17.
test { id = "CDI-TX-16", title = "Connected before all probe packets", covers = { "CDI-P06", "CDI-S09" }, needs = { cdi = "tx" } }

local rx = open_cdi_rx {}
rx:send { "Ack", of = rx:begin() }
local pv = rx:expect { "ProtocolVersion", within = "100 ms" }
rx:send { "Ack", of = pv, version = pv.version }
rx:wait("300 ms")
rx:deliver { packets = 999 }
rx:send { "Connected", version = pv.version }
rx:expect { "Reset", at = "400 ms", tolerance = "150 ms", version = pv.version }
