-- CDI-RX-10: Ack and Connected are messages of a receiver. To one they get no answer. cdi-probe.md 2.3, 3.4 row R21.
--
-- Debug builds of the SDK abort: without --destructive nothing is sent to a device.
test { id = "CDI-RX-10", title = "Messages of the other end", covers = { "CDI-A02", "CDI-D01" }, needs = { cdi = "rx" } }

local tx = open_cdi_tx {}
tx:allow { "Reset", number = 1, cdi = { requires_ack = 0 } }
local reset = tx:send { "Reset" }
local ack = tx:expect { "Ack", of = reset }
sub("Connected", function()
  tx:send { "Connected" }
  tx:quiet { within = "500 ms" }
end)
sub("Ack", function()
  tx:send { "Ack", of = ack }
  tx:quiet { within = "500 ms" }
end)
