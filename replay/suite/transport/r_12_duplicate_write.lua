-- A WRITE that comes again does not write again: what was written there in between stays.
-- IBTA C9-105; ib-wire.md R-12, R-17.
test { id = "R-12-duplicate-write", title = "A WRITE that comes again is acknowledged, not executed",
       covers = { "C9-105", "R-12", "R-17" } }

local rc = open_rc { mtu = 256 }
rc:write_message { psn = rc.own_psn(0), data = pattern(40, 1) }
rc:expect_ack { psn = rc.own_psn(0), msn = 1 }
assert(rc.dut:memory(0, 40) == pattern(40, 1), "the WRITE did not arrive")
rc.dut:write_memory(0, pattern(40, 2))
rc:write_message { psn = rc.own_psn(0), data = pattern(40, 1) }
rc:expect_ack { psn = rc.own_psn(0), msn = 1 }
assert(rc.dut:memory(0, 40) == pattern(40, 2), "the duplicate was written")
rc:write_message { psn = rc.own_psn(1), data = pattern(40, 3) }
rc:expect_ack { psn = rc.own_psn(1), msn = 2 }
rc:close()
