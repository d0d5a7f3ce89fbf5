-- Immediate data stands on the Last or Only packet, in the order it was posted in; so does the R_Key to invalidate.
-- ib-wire.md 2.4, 3.2, C-06.
test { id = "Q-04-immediate", title = "Immediate data of requests", covers = { "C-06", "Q-04" } }

sub("SEND", function()
  local rc = open_rc { mtu = 256 }
  rc.dut:post_send { data = pattern(10), immediate = 0x01020304 }
  rc:expect_send { psn = rc.psn(0), data = pattern(10), immediate = 0x01020304 }
  rc.dut:post_send { data = pattern(600), immediate = 0xa1b2c3d4 }
  rc:expect_send { psn = rc.psn(1), data = pattern(600), immediate = 0xa1b2c3d4 }
  rc:acknowledge { psn = rc.psn(3), msn = 2 }
  rc.dut:expect_completion { count = 2 }
  rc:close()
end)

sub("WRITE", function()
  local rc = open_rc { mtu = 256 }
  rc.dut:post_write { data = pattern(10), immediate = 0x01020304 }
  rc:expect_write { psn = rc.psn(0), data = pattern(10), immediate = 0x01020304 }
  rc.dut:post_write { data = pattern(600), immediate = 0xa1b2c3d4 }
  rc:expect_write { psn = rc.psn(1), data = pattern(600), immediate = 0xa1b2c3d4 }
  rc:acknowledge { psn = rc.psn(3), msn = 2 }
  rc.dut:expect_completion { count = 2 }
  rc:close()
end)

sub("Invalidate", function()
  local rc = open_rc { mtu = 256 }
  rc.dut:post_send { data = pattern(600), invalidate = 0x0a0b0c0d }
  rc:expect_send { psn = rc.psn(0), data = pattern(600), invalidate = 0x0a0b0c0d }
  rc:acknowledge { psn = rc.psn(2), msn = 1 }
  rc.dut:expect_completion { status = "success" }
  rc:close()
end)
