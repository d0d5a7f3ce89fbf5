-- CDI-TX-11: an Ack of a Ping that was sent again meanwhile is ignored; one in time keeps the connection. cdi-probe.md 3.3
-- rows T19, T21, T27.
test { id = "CDI-TX-11", title = "Acks of Ping that come late", covers = { "CDI-A03", "CDI-A05", "CDI-S11" }, needs = { cdi = "tx" } }

local rx = open_cdi_rx {}
rx:send { "Ack", of = rx:begin() }
local pv = rx:expect { "ProtocolVersion", within = "100 ms" }
rx:send { "Ack", of = pv, version = pv.version }
rx:wait("300 ms")
rx:deliver {}
rx:send { "Connected", version = pv.version }
local first = rx:expect { "Ping", within = "300 ms" }
local second = rx:expect { "Ping", at = "500 ms" }
rx:wait("100 ms")
rx:send { "Ack", of = first, version = pv.version }
local third = rx:expect { "Ping", at = "500 ms", since = second }
rx:send { "Ack", of = third, version = pv.version }
rx:quiet { within = "800 ms" }
