-- A fatal NAK carries the PSN of the request that failed and the MSN of those completed before. After it the responder is
-- silent, and what was posted to receive is flushed.
-- ib-wire.md R-10, 4.5, C-04.
test { id = "R-10-fatal-nak", title = "After a fatal NAK the responder is silent", covers = { "R-10", "R-17", "C-04" } }

local rc = open_rc { mtu = 256 }
rc.dut:post_receive { count = 2 }
rc:send_message { psn = rc.own_psn(0), data = pattern(20) }
rc:expect_ack { psn = rc.own_psn(0), msn = 1 }
rc.dut:expect_completion { receive = true }
rc:write_message { psn = rc.own_psn(1), data = pattern(20) }
rc:expect_ack { psn = rc.own_psn(1), msn = 2 }

rc:write_message { psn = rc.own_psn(2), data = pattern(20), rkey = rc.remote_r_key ~ 0xff }
rc:expect_nak { psn = rc.own_psn(2), msn = 2, syndrome = NAK_REMOTE_ACCESS }
rc.dut:expect_state "error"

rc.dut:write_memory(0, string.rep("\0", 20))
rc:write_message { psn = rc.own_psn(2), data = pattern(20) }
rc:write_message { psn = rc.own_psn(3), data = pattern(20) }
rc:send_message { psn = rc.own_psn(4), data = pattern(20) }
send { "RC_RDMA_READ_REQUEST", psn = rc.own_psn(5), reth = { dmalen = 20 } }
quiet { within = "500 ms" }
assert(rc.dut:memory(0, 20) == string.rep("\0", 20), "a WRITE was executed after the fatal NAK")
rc.dut:expect_completion { receive = true, status = "wr_flush_err" }
rc:close { flushed_receives = 0 }
