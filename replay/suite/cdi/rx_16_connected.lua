-- CDI-RX-16: Connected is sent once, when 1000 probe packets have arrived and not before, with the version agreed on.
-- cdi-probe.md 3.4 rows R14 and R16.
test { id = "CDI-RX-16", title = "Connected", covers = { "CDI-P06", "CDI-S06", "CDI-S08", "CDI-V01" }, needs = { cdi = "rx" } }

local tx = open_cdi_tx {}
tx:allow { "Reset", number = 1, cdi = { requires_ack = 0 } }
tx:expect { "Ack", of = tx:send { "Reset" } }
local version = "2.1.4"
local started = tx:expect { "Ack", of = tx:send { "ProtocolVersion", version = version }, version = version }
tx:deliver { packets = 999 }
tx:quiet { within = "300 ms" }
tx:deliver { packets = 1 }
local connected = tx:expect { "Connected", within = "300 ms", version = version, bytes = 248, number = started.number + 1,
                              cdi = { requires_ack = 0 } }
tx:quiet { within = "3 s" }
tx:expect { "Ack", of = tx:send { "Ping", version = version }, within = "100 ms", version = version, number = connected.number + 1 }
