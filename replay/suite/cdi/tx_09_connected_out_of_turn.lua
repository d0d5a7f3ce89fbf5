-- CDI-TX-09: Connected that nobody waits for is answered by Reset at once. cdi-probe.md 3.3 row T14.
test { id = "CDI-TX-09", title = "Connected out of turn", covers = { "CDI-S06" }, needs = { cdi = "tx" } }

local rx = open_cdi_rx {}
rx:begin()
rx:wait("300 ms")
rx:send { "Connected" }
rx:expect { "Reset", within = "100 ms" }
rx:expect { "Reset", at = "2 s" }
