-- A sequence NAK behind a READ that lacks its responses is an implied NAK for the READ: it goes out again before what the NAK
-- asks for.
-- ib-wire.md R-09, Q-10.
test { id = "R-09-nak-behind-read", title = "A NAK behind a READ makes the READ go out again",
       covers = { "R-09", "R-05", "Q-10" } }

local rc = open_rc { mtu = 256, ack_timeout = 0 }
rc.dut:post_read { length = 300 }
rc.dut:post_send { data = pattern(20) }
expect { "RC_RDMA_READ_REQUEST", psn = rc.psn(0) }
rc:expect_send { psn = rc.psn(2), data = pattern(20) }
rc:nak { psn = rc.psn(2), msn = 1 }
expect { "RC_RDMA_READ_REQUEST", psn = rc.psn(0), reth = { dmalen = 300 } }
maybe { "RC_SEND_ONLY", psn = rc.psn(2), payload = pattern(20) }
rc:respond_read { psn = rc.psn(0), data = pattern(300), msn = 1 }
rc.dut:expect_completion { data = pattern(300) }
maybe { "RC_SEND_ONLY", psn = rc.psn(2), payload = pattern(20) }
rc:acknowledge { psn = rc.psn(2), msn = 2 }
rc.dut:expect_completion { status = "success" }
rc:close { flushed = 0 }
