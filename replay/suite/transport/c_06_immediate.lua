-- Immediate data reaches the completion of the receive: of a SEND with the length of the message, of a WRITE with its DMALen.
-- ib-wire.md C-06.
test { id = "C-06-immediate", title = "Immediate data is delivered", covers = { "C-06" } }

sub("SEND", function()
  local rc = open_rc { mtu = 256 }
  rc.dut:post_receive { count = 2 }
  rc:send_message { psn = rc.own_psn(0), data = pattern(10), immediate = 0x01020304 }
  rc:expect_ack { psn = rc.own_psn(0), msn = 1 }
  rc.dut:expect_completion { receive = true, data = pattern(10), immediate = 0x01020304 }
  rc:send_message { psn = rc.own_psn(1), data = pattern(600), immediate = 0xfffefdfc }
  rc:expect_ack { psn = rc.own_psn(3), msn = 2 }
  rc.dut:expect_completion { receive = true, data = pattern(600), immediate = 0xfffefdfc }
  rc:close()
end)

sub("WRITE", function()
  local rc = open_rc { mtu = 256 }
  rc.dut:post_receive { count = 2, length = 0 }
  rc:write_message { psn = rc.own_psn(0), data = pattern(10), immediate = 0x01020304 }
  rc:expect_ack { psn = rc.own_psn(0), msn = 1 }
  rc.dut:expect_completion { receive = true, bytes = 10, immediate = 0x01020304 }
  rc:write_message { psn = rc.own_psn(1), data = pattern(600), immediate = 0xfffefdfc }
  rc:expect_ack { psn = rc.own_psn(3), msn = 2 }
  rc.dut:expect_completion { receive = true, bytes = 600, immediate = 0xfffefdfc }
  assert(rc.dut:memory(0, 600) == pattern(600), "the data is not in memory")
  rc:close()
end)
