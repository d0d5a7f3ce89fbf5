-- CDI-RX-08: a Ping before Connected is acknowledged at once, once, with the version agreed on. cdi-probe.md 3.4 row R17.
test { id = "CDI-RX-08", title = "Ping before Connected", covers = { "CDI-A03", "CDI-A06", "CDI-V01" }, needs = { cdi = "rx" } }

local tx = open_cdi_tx {}
tx:allow { "Reset", number = 1, cdi = { requires_ack = 0 } }
tx:expect { "Ack", of = tx:send { "Reset" } }
local version = "2.1.4"
local started = tx:expect { "Ack", of = tx:send { "ProtocolVersion", version = version }, version = version }
tx:expect { "Ack", of = tx:send { "Ping", version = version }, within = "100 ms", version = version, number = started.number + 1 }
tx:quiet { within = "1 s" }
