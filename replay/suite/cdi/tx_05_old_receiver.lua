-- CDI-TX-05: with a receiver of probe version 0 there is no ProtocolVersion. The transmitter starts to probe, and when no
-- Connected comes within 3 s it sends Reset with the receiver's version. cdi-probe.md 3.3 rows T3 and T13, 3.6.
test { id = "CDI-TX-05", title = "A receiver of SDK 1.0", covers = { "CDI-S03" }, needs = { cdi = "tx" } }

local rx = open_cdi_rx {}
local reset = rx:begin()
rx:send { "Ack", of = reset, version = "1.0.0" }
rx:expect { "Reset", at = "3 s", version = "1.0.0", bytes = 252, cdi = { requires_ack = 1 } }
