-- CDI-RX-15: a transmitter with a probe version below 4 is answered at the port that its messages name, all others at the port
-- they send from. cdi-probe.md 1.1.
test { id = "CDI-RX-15", title = "The port of the answer", covers = { "CDI-F07" }, needs = { cdi = "rx" } }

local tx, named = open_cdi_tx {}, open_cdi_tx {}
tx:allow { "Reset", number = 1, cdi = { requires_ack = 0 } }
named:allow { "Reset", number = 1, cdi = { requires_ack = 0 } }
sub("SDK 2.0", function()
  local reset = tx:send { "Reset", version = "1.0.2", senders_control_dest_port = named.port }
  named:expect { "Ack", of = reset }
  tx:quiet { within = "300 ms" }
end)
sub("SDK 2.4", function()
  local reset = tx:send { "Reset", version = "1.0.5", senders_control_dest_port = named.port }
  tx:expect { "Ack", of = reset }
end)
