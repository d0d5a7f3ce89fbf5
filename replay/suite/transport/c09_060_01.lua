-- C09-060-01: a SEND completes only after the ACK that covers all its packets. An ACK of a part moves nothing; one ACK may
-- cover several messages; the same ACK twice tells nothing new.
-- IBTA C9-60#01; ib-wire.md 6.5 C-01, R-04.
test { id = "C09-060-01", title = "A SEND completes after the ACK of its last packet",
       covers = { "C9-60#01", "C-01", "R-04" } }

local function two_sends()
  local rc   = open_rc { mtu = 256, ack_timeout = 0 }
  local data = pattern(3 * rc.mtu)
  rc.dut:post_send { count = 2, data = data }
  rc:expect_send { psn = rc.psn(0), data = data }
  rc:expect_send { psn = rc.psn(3), data = data }
  return rc
end

sub("ACK of a part", function()
  local rc = two_sends()
  rc:acknowledge { psn = rc.psn(0), msn = 0 }
  rc:acknowledge { psn = rc.psn(1), msn = 0 }
  rc.dut:expect_no_completion { within = "200 ms" }
  rc:acknowledge { psn = rc.psn(2), msn = 1 }
  rc.dut:expect_completion { status = "success" }
  rc.dut:expect_no_completion { within = "1 s" }
  rc:close { flushed = 1 }
end)

sub("one ACK for both", function()
  local rc = two_sends()
  rc:acknowledge { psn = rc.psn(5), msn = 2 }
  rc.dut:expect_completion { count = 2 }
  rc:close { flushed = 0 }
end)

sub("ACK inside the second", function()
  local rc = two_sends()
  rc:acknowledge { psn = rc.psn(4), msn = 1 }
  rc.dut:expect_completion { status = "success" }
  rc.dut:expect_no_completion { within = "200 ms" }
  rc:acknowledge { psn = rc.psn(5), msn = 2 }
  rc.dut:expect_completion { status = "success" }
  rc:close { flushed = 0 }
end)

sub("the same ACK twice", function()
  local rc = two_sends()
  rc:acknowledge { psn = rc.psn(2), msn = 1 }
  rc:acknowledge { psn = rc.psn(2), msn = 1 }
  rc.dut:expect_completion { status = "success" }
  rc.dut:expect_no_completion { within = "200 ms" }
  rc:close { flushed = 1 }
end)
