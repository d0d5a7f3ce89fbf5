-- An ACK with credits limits the messages that need a receive buffer at the other side: those beyond the limit wait, but one
-- may go out as a probe. New credits let them go. WRITEs are not held back.
-- ib-wire.md 4.2, Q-17, a warning only: Soft-RoCE has no end-to-end flow control and fails the first two parts.
test { id = "Q-17-credits", title = "SENDs keep to the credits of the responder", covers = { "Q-17" } }

local function limited(code)
  local rc = open_rc { mtu = 256 }
  rc.dut:post_send { data = pattern(20, 0) }
  rc:expect_send { psn = rc.psn(0), data = pattern(20, 0) }
  rc:acknowledge { psn = rc.psn(0), msn = 1, syndrome = code }
  rc.dut:expect_completion { status = "success" }
  return rc
end

sub("no credits", function()
  local rc = limited(0)
  for i = 1, 4 do rc.dut:post_send { data = pattern(20, i) } end
  local probe = maybe { "RC_SEND_ONLY", psn = rc.psn(1), payload = pattern(20, 1) }
  quiet()
  rc:acknowledge { psn = rc.psn(probe and 1 or 0), msn = probe and 2 or 1, syndrome = 4 }  -- four more
  for i = probe and 2 or 1, 4 do rc:expect_send { psn = rc.psn(i), data = pattern(20, i) } end
  rc:acknowledge { psn = rc.psn(4), msn = 5 }
  rc.dut:expect_completion { count = 4 }
  rc:close { flushed = 0 }
end)

sub("two credits", function()
  local rc = limited(2)
  for i = 1, 5 do rc.dut:post_send { data = pattern(20, i) } end
  rc:expect_send { psn = rc.psn(1), data = pattern(20, 1) }
  rc:expect_send { psn = rc.psn(2), data = pattern(20, 2) }
  local probe = maybe { "RC_SEND_ONLY", psn = rc.psn(3), payload = pattern(20, 3) }
  quiet()
  rc:acknowledge { psn = rc.psn(probe and 3 or 2), msn = probe and 4 or 3, syndrome = ACK }  -- no limit any more
  for i = probe and 4 or 3, 5 do rc:expect_send { psn = rc.psn(i), data = pattern(20, i) } end
  rc:acknowledge { psn = rc.psn(5), msn = 6 }
  rc.dut:expect_completion { count = 5 }
  rc:close { flushed = 0 }
end)

sub("WRITEs", function()
  local rc = limited(0)
  for i = 1, 3 do rc.dut:post_write { data = pattern(20, i) } end
  for i = 1, 3 do rc:expect_write { psn = rc.psn(i), data = pattern(20, i) } end
  rc:acknowledge { psn = rc.psn(3), msn = 4, syndrome = 0 }
  rc.dut:expect_completion { count = 3 }
  rc:close { flushed = 0 }
end)
