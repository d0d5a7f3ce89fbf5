-- UD: a message that does not fit into its receive buffer is not received as if it did: it is dropped, or the receive fails.
-- ib-wire.md U-05.
test { id = "U-05-ud-too-long", title = "UD messages that do not fit are not received", covers = { "U-05" } }

local rc = open_ud { mtu = 1024 }
rc.dut:post_receive { length = 100 }
send { "UD_SEND_ONLY", psn = rc.own_psn(0), payload = pattern(60) }
rc.dut:expect_completion { receive = true, bytes = 100, data = pattern(60) }
rc.dut:post_receive { length = 100 }
send { "UD_SEND_ONLY", psn = rc.own_psn(1), payload = pattern(61) }
quiet()
local c = rc.dut:maybe_completion { receive = true, status = any }
assert(not c or c.status ~= "success", "a message that does not fit is received")
rc:close()
