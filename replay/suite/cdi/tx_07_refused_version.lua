-- CDI-TX-07: no message of version 2.0.0 is taken. cdi-probe.md 2.1, 2.4.
test { id = "CDI-TX-07", title = "An Ack of version 2.0.0", covers = { "CDI-F09" }, needs = { cdi = "tx" } }

local rx = open_cdi_rx {}
rx:begin()
local reset = rx:expect { "Reset", within = "3 s" }
rx:send { "Ack", of = reset, version = "2.0.0" }
rx:expect { "Reset", at = "2 s", since = reset }
