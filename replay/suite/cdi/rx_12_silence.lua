-- CDI-RX-12: a connection without Pings and data lives 20 s and ends without a word; the next Ping is that of a new
-- transmitter. cdi-probe.md 3.4 rows R17 and R19.
test { id = "CDI-RX-12", title = "A connection without Pings", covers = { "CDI-S08", "CDI-N03" }, needs = { cdi = "rx" } }

local tx = open_cdi_tx {}
tx:allow { "Reset", number = 1, cdi = { requires_ack = 0 } }
local version = tx:expect { "Ack", of = tx:send { "Reset" } }.version
tx:expect { "Ack", of = tx:send { "ProtocolVersion", version = version } }
tx:deliver {}
local connected = tx:expect { "Connected" }
sub("15 s", function()
  tx:quiet { within = "15 s" }
  tx:expect { "Ack", of = tx:send { "Ping", version = version }, version = version, number = connected.number + 1 }
end)
sub("22 s", function()
  tx:quiet { within = "22 s" }
  local ping = tx:send { "Ping", version = version }
  local ack = tx:maybe { "Ack", of = ping, within = "500 ms" }
  if ack then check("number of the Ack: of a new endpoint", ack.number, { 1, 2 }) end
end)
