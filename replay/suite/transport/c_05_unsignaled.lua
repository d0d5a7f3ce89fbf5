-- An unsignaled request completes only when it fails.
-- ib-wire.md C-05 (10.7.3.1).
test { id = "C-05-unsignaled", title = "Unsignaled requests complete only in error", covers = { "C-05" } }

sub("success", function()
  local rc = open_rc { mtu = 256 }
  rc.dut:post_send { data = pattern(20), signaled = false }
  local signaled = rc.dut:post_send { data = pattern(20) }
  rc:expect_send { psn = rc.psn(0), data = pattern(20) }
  rc:expect_send { psn = rc.psn(1), data = pattern(20) }
  rc:acknowledge { psn = rc.psn(1), msn = 2 }
  rc.dut:expect_completion { of = signaled }
  rc.dut:expect_no_completion()
  rc:close { flushed = 0 }
end)

sub("error", function()
  local rc = open_rc { mtu = 256 }
  local unsignaled = rc.dut:post_send { data = pattern(20), signaled = false }
  rc:expect_send { psn = rc.psn(0), data = pattern(20) }
  rc:nak { psn = rc.psn(0), msn = 0, syndrome = NAK_REMOTE_ACCESS }
  rc.dut:expect_completion { of = unsignaled, status = "rem_access_err" }
  rc:close { flushed = 0 }
end)
