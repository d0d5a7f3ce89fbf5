-- CDI-RX-06: no message of version 2.0.0 is taken. cdi-probe.md 2.1, 2.4.
test { id = "CDI-RX-06", title = "Reset of version 2.0.0", covers = { "CDI-F09" }, needs = { cdi = "rx" } }

local tx = open_cdi_tx {}
tx:send { "Reset", version = "2.0.0" }
tx:quiet { within = "1 s" }
