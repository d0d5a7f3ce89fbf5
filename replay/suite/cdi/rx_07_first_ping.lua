-- CDI-RX-07: a Ping of an unknown transmitter is no part of the protocol. SDKs acknowledge it with version 1.0.P, a strict
-- receiver ignores it; neither says Connected. cdi-probe.md 3.4, R17.
test { id = "CDI-RX-07", title = "Ping as the first message", covers = { "CDI-A06", "CDI-S06", "CDI-V01" }, needs = { cdi = "rx" } }

local tx = open_cdi_tx {}
tx:allow { "Reset", cdi = { requires_ack = 0 } }
local ping = tx:send { "Ping" }
local ack = tx:maybe { "Ack", of = ping, bytes = 257, within = "500 ms", cdi = { version_num = 1, major_version_num = 0 } }
note(ack and "the receiver acknowledges a Ping before any Reset" or "the receiver ignores a Ping before any Reset")
tx:quiet { within = "2 s" }
