-- CDI-TX-06: an Ack from another port than the one that is asked is ignored. Of a receiver with probe version below 4 the port
-- that the message names counts instead. cdi-probe.md 1.1.
test { id = "CDI-TX-06", title = "Acks from another port", covers = { "CDI-A05" }, needs = { cdi = "tx" } }

local rx, elsewhere = open_cdi_rx {}, open_cdi_rx { port = 0 }
rx:begin()
local reset = rx:expect { "Reset", within = "3 s" }
sub("sent from it", function()
  elsewhere:send { "Ack", of = reset, senders_control_dest_port = rx.port }
  reset = rx:expect { "Reset", at = "2 s", since = reset }
end)
sub("named by an old receiver", function()
  rx:send { "Ack", of = reset, version = "1.0.0", senders_control_dest_port = elsewhere.port }
  reset = rx:expect { "Reset", at = "2 s", since = reset }
end)
