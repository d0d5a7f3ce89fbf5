-- CDI-RX-02: Reset of a new transmitter is acknowledged with the receiver's own version. When nothing follows, the receiver
-- sends Reset after 3 s and once more after 2 s, of version 1.0.P, and is silent then. cdi-probe.md 3.4 rows R4, R10, R15, R2, R3.
--
-- A receiver may send a Reset before it looks at the first message: 3.4, race.
test { id = "CDI-RX-02", title = "Reset, and nothing behind it",
       covers = { "CDI-A01", "CDI-A04", "CDI-A07", "CDI-S14", "CDI-N01", "CDI-N02", "CDI-F07", "CDI-G02" }, needs = { cdi = "rx" } }

local tx = open_cdi_tx {}
tx:allow { "Reset", number = 1, cdi = { requires_ack = 0 } }
local reset = tx:send { "Reset", number = 7 }
local ack = tx:expect { "Ack", of = reset, within = "100 ms", number = { 1, 2 }, bytes = 253,
                        cdi = { version_num = 2, probe_version_num = { min = 4 } } }
check("senders_control_dest_port", ack.cdi.senders_control_dest_port, ack.source_port)
assert(ack.senders_gid_array ~= ("\0"):rep(32), "the address on EFA is zero")
local version = "1.0." .. ack.cdi.probe_version_num
local first = tx:expect { "Reset", at = "3 s", version = version, bytes = 252, number = ack.number + 1, cdi = { requires_ack = 0 } }
tx:expect { "Reset", at = "2 s", version = version, bytes = 252, number = first.number + 1, cdi = { requires_ack = 0 } }
tx:quiet { within = "4 s" }
