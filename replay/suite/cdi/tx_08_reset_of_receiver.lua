-- CDI-TX-08: Reset of the receiver is answered by Reset after 1 s, and not by an Ack. cdi-probe.md 3.3 rows T24 to T26, T9.
test { id = "CDI-TX-08", title = "Reset of the receiver", covers = { "CDI-S13", "CDI-D01" }, needs = { cdi = "tx" } }

local rx = open_cdi_rx {}
local reset = rx:begin()
rx:send { "Reset", version = reset.version }
local answer = rx:expect { "Reset", at = "1 s", tolerance = "200 ms", version = reset.version, cdi = { requires_ack = 1 } }
rx:expect { "Reset", at = "2 s", number = answer.number + 1 & 0xffff }
