-- CDI-RX-13: every source port is a transmitter of its own, with numbers of its own; a receiver takes five, and not a sixth.
-- cdi-probe.md 1.1, 3.4 row R1.
test { id = "CDI-RX-13", title = "Many transmitters", covers = { "CDI-N02" }, needs = { cdi = "rx" } }

local all = {}
for i = 1, 5 do
  local tx = open_cdi_tx { ports = 6 - i }
  tx:allow { "Reset", number = 1, cdi = { requires_ack = 0 } }
  local ack = tx:expect { "Ack", of = tx:send { "Reset", number = 10 * i }, number = { 1, 2 } }
  all[i] = { tx = tx, number = ack.number }
end
local sixth = open_cdi_tx {}
sixth:send { "Reset" }
sixth:quiet { within = "500 ms" }
for i = 1, 5 do
  local tx = all[i].tx
  tx:expect { "Ack", of = tx:send { "ProtocolVersion", version = "2.1.4" }, number = all[i].number + 1 }
end
