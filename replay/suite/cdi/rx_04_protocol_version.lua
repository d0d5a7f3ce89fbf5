-- CDI-RX-04: ProtocolVersion is acknowledged with the version agreed on and a new address on EFA, since the adapter was started
-- anew. When no probe packets come within 2 s, Reset of that version follows. cdi-probe.md 3.4 rows R12, R13, R15, 2.5.
test { id = "CDI-RX-04", title = "ProtocolVersion", covers = { "CDI-A01", "CDI-A08", "CDI-G02", "CDI-S07" }, needs = { cdi = "rx" } }

local tx = open_cdi_tx {}
tx:allow { "Reset", number = 1, cdi = { requires_ack = 0 } }
local reset = tx:send { "Reset" }
local ack = tx:expect { "Ack", of = reset, bytes = 253 }
local pv = tx:send { "ProtocolVersion", version = ack.version }
local started = tx:expect { "Ack", of = pv, version = ack.version, bytes = 253, number = ack.number + 1 }
assert(started.senders_gid_array ~= ("\0"):rep(32), "the address on EFA is zero")
assert(started.senders_gid_array ~= ack.senders_gid_array, "the address on EFA is that of the Ack of Reset")
tx:expect { "Reset", at = "2 s", version = ack.version, bytes = 248, number = started.number + 1, cdi = { requires_ack = 0 } }
