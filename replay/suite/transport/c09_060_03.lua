-- C09-060-03: an RDMA WRITE completes only after the ACK that covers all its packets, as a SEND does.
-- IBTA C9-60#03 (by the pattern of #01); ib-wire.md 6.5 C-01, R-04.
test { id = "C09-060-03", title = "A WRITE completes after the ACK of its last packet",
       covers = { "C9-60", "C-01", "R-04", "L-04" } }

local function two_writes()
  local rc   = open_rc { mtu = 256, ack_timeout = 0 }
  local data = pattern(3 * rc.mtu)
  rc.dut:post_write { count = 2, data = data, va = 0x999000, rkey = 0x12345 }
  rc:expect_write { psn = rc.psn(0), data = data, va = 0x999000, rkey = 0x12345 }
  rc:expect_write { psn = rc.psn(3), data = data, va = 0x999000, rkey = 0x12345 }
  return rc
end

sub("ACK of a part", function()
  local rc = two_writes()
  rc:acknowledge { psn = rc.psn(0), msn = 0 }
  rc:acknowledge { psn = rc.psn(1), msn = 0 }
  rc.dut:expect_no_completion { within = "200 ms" }
  rc:acknowledge { psn = rc.psn(2), msn = 1 }
  rc.dut:expect_completion { status = "success" }
  rc.dut:expect_no_completion { within = "1 s" }
  rc:close { flushed = 1 }
end)

sub("one ACK for both", function()
  local rc = two_writes()
  rc:acknowledge { psn = rc.psn(5), msn = 2 }
  rc.dut:expect_completion { count = 2 }
  rc:close { flushed = 0 }
end)
