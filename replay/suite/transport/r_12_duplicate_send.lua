-- A SEND that comes again is acknowledged again, with its PSN or a later one that is acknowledged already, and takes no
-- second receive buffer. The MSN does not count it.
-- IBTA C9-105; ib-wire.md R-12, R-17.
test { id = "R-12-duplicate-send", title = "A SEND that comes again is acknowledged, not executed",
       covers = { "C9-105", "R-12", "R-17" } }

sub("the latest", function()
  local rc = open_rc { mtu = 256 }
  rc.dut:post_receive { count = 3 }
  rc:send_message { psn = rc.own_psn(0), data = pattern(40) }
  rc:expect_ack { psn = rc.own_psn(0), msn = 1 }
  rc.dut:expect_completion { receive = true, data = pattern(40) }
  rc:send_message { psn = rc.own_psn(0), data = pattern(40) }
  rc:expect_ack { psn = rc.own_psn(0), msn = 1 }
  rc.dut:expect_no_completion()
  rc:send_message { psn = rc.own_psn(1), data = pattern(41) }
  rc:expect_ack { psn = rc.own_psn(1), msn = 2 }
  rc.dut:expect_completion { receive = true, data = pattern(41) }
  rc:close { flushed_receives = 1 }
end)

sub("an earlier one", function()
  local rc = open_rc { mtu = 256 }
  rc.dut:post_receive { count = 3 }
  for i = 0, 1 do
    rc:send_message { psn = rc.own_psn(i), data = pattern(40, i) }
    rc:expect_ack { psn = rc.own_psn(i), msn = i + 1 }
  end
  rc.dut:expect_completion { receive = true, count = 2 }
  rc:send_message { psn = rc.own_psn(0), data = pattern(40, 0) }
  rc:expect_ack { psn = { rc.own_psn(0), rc.own_psn(1) }, msn = 2 }
  rc.dut:expect_no_completion()
  rc:close { flushed_receives = 1 }
end)

sub("three packets", function()
  local rc   = open_rc { mtu = 256 }
  local data = pattern(3 * rc.mtu)
  rc.dut:post_receive { count = 2 }
  rc:send_message { psn = rc.own_psn(0), data = data }
  rc:expect_ack { psn = rc.own_psn(2), msn = 1 }
  rc.dut:expect_completion { receive = true, data = data }
  allow { "RC_ACKNOWLEDGE", psn = rc.own_psn(2), aeth = { syndrome = { min = 0, max = 0x1f }, msn = 1 } }  -- one per packet
  rc:send_message { psn = rc.own_psn(0), data = data }
  rc:expect_ack { psn = rc.own_psn(2), msn = 1 }
  rc.dut:expect_no_completion()
  rc:close { flushed_receives = 1 }
end)
