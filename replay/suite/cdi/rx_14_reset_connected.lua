-- CDI-RX-14: Reset of a connected transmitter begins everything anew, and the receiver's numbers go on. cdi-probe.md 3.4 rows
-- R4 to R16, 2.6.
test { id = "CDI-RX-14", title = "Reset while connected", covers = { "CDI-A07", "CDI-N03", "CDI-V02" }, needs = { cdi = "rx" } }

local tx = open_cdi_tx {}
tx:allow { "Reset", number = 1, cdi = { requires_ack = 0 } }
local last
for round = 1, 2 do
  local ack = tx:expect { "Ack", of = tx:send { "Reset", version = last and last.version or "1.0.5" }, bytes = 253,
                          number = last and last.number + 1 or { 1, 2 } }
  local started = tx:expect { "Ack", of = tx:send { "ProtocolVersion", version = ack.version }, version = ack.version }
  tx:deliver {}
  local connected = tx:expect { "Connected", version = ack.version, number = started.number + 1 }
  last = tx:expect { "Ack", of = tx:send { "Ping", version = ack.version }, version = ack.version, number = connected.number + 1 }
end
