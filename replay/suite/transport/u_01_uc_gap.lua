-- UC: a missing packet costs the message it belongs to and nothing else. The next message is received, nobody is told.
-- ib-wire.md U-01, R-19.
test { id = "U-01-uc-gap", title = "UC drops a message with a gap and goes on", covers = { "U-01", "R-19" } }

local uc   = open_uc { mtu = 256 }
local data = pattern(3 * uc.mtu)
uc.dut:post_receive { count = 3 }
uc:send_message { psn = uc.own_psn(0), data = data }
uc.dut:expect_completion { receive = true, data = data }

sub("Middle missing", function()
  local rc = open_uc { mtu = 256 }
  rc.dut:post_receive { count = 3 }
  send { "UC_SEND_FIRST", psn = rc.own_psn(0), payload = data:sub(1, 256) }
  send { "UC_SEND_LAST",  psn = rc.own_psn(2), payload = data:sub(513) }
  rc.dut:expect_no_completion()
  rc:send_message { psn = rc.own_psn(3), data = pattern(40, 3) }
  rc.dut:expect_completion { receive = true, data = pattern(40, 3) }
  quiet()
  rc:close()
end)

sub("Last missing", function()
  local rc = open_uc { mtu = 256 }
  rc.dut:post_receive { count = 3 }
  send { "UC_SEND_FIRST",  psn = rc.own_psn(0), payload = data:sub(1, 256) }
  send { "UC_SEND_MIDDLE", psn = rc.own_psn(1), payload = data:sub(257, 512) }
  rc:send_message { psn = rc.own_psn(7), data = pattern(600, 3) }
  rc.dut:expect_completion { receive = true, data = pattern(600, 3) }
  rc.dut:expect_no_completion()
  quiet()
  rc:close()
end)

sub("First missing", function()
  local rc = open_uc { mtu = 256 }
  rc.dut:post_receive { count = 3 }
  send { "UC_SEND_MIDDLE", psn = rc.own_psn(1), payload = data:sub(257, 512) }
  send { "UC_SEND_LAST",   psn = rc.own_psn(2), payload = data:sub(513) }
  rc.dut:expect_no_completion()
  rc:send_message { psn = rc.own_psn(3), data = pattern(40, 3) }
  rc.dut:expect_completion { receive = true, data = pattern(40, 3) }
  quiet()
  rc:close()
end)
