-- Acknowledge timeout 0 means no timer: nothing is sent again by itself.
-- ib-wire.md Q-13.
test { id = "Q-13-no-timer", title = "Without a timer nothing is sent again",
       covers = { "Q-13" }, needs = { initiator_depth = 2 } }

local rc = open_rc { mtu = 256, ack_timeout = 0, initiator_depth = 2 }
rc.dut:post_send { data = pattern(600) }
rc.dut:post_read { length = 600 }
rc:expect_send { psn = rc.psn(0), data = pattern(600) }
expect { "RC_RDMA_READ_REQUEST", psn = rc.psn(3) }
quiet { within = "5 s" }
rc.dut:expect_no_completion()
rc:acknowledge { psn = rc.psn(2), msn = 1 }
rc.dut:expect_completion { status = "success" }
rc:respond_read { psn = rc.psn(3), data = pattern(600), msn = 2 }
rc.dut:expect_completion { data = pattern(600) }
rc:close { flushed = 0 }
