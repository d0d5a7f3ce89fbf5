-- CDI-RX-09: two equal Resets one behind the other get one Ack; behind it a Reset may follow, from the second restart of the
-- adapter. cdi-probe.md 3.4, row R11 and the race.
test { id = "CDI-RX-09", title = "The same Reset twice", covers = { "CDI-A06" }, needs = { cdi = "rx" } }

local tx = open_cdi_tx {}
tx:allow { "Reset", number = 1, cdi = { requires_ack = 0 } }
tx:send { "Reset", number = 7 }
local second = tx:send { "Reset", number = 7 }
tx:expect { "Ack", of = second }
tx:maybe { "Reset", within = "500 ms", cdi = { requires_ack = 0 } }
tx:quiet { within = "1 s" }
