-- N10: the first READ is refused. It fails with the status of the NAK, the second one is flushed.
-- IBTA C9-60#05; ib-wire.md 7.4 N10, table 4.4, C-04.
test { id = "C09-060-05-N10", title = "A refused READ fails, the one behind it is flushed",
       covers = { "C9-60#05", "C-04", "Q-18" },
       needs = { initiator_depth = 2 } }

local rc = open_rc { mtu = 256, ack_timeout = 0, initiator_depth = 2 }
local first, second = rc.dut:post_read { count = 2, length = 3 * rc.mtu }
expect { "RC_RDMA_READ_REQUEST", psn = rc.psn(0) }
expect { "RC_RDMA_READ_REQUEST", psn = rc.psn(3) }
rc:nak { psn = rc.psn(0), msn = 0, syndrome = NAK_REMOTE_ACCESS }
rc.dut:expect_completion { of = first, status = "rem_access_err" }
rc.dut:expect_completion { of = second, status = "wr_flush_err" }
rc.dut:expect_state "error"
quiet { within = "200 ms" }
rc:close { flushed = 0 }
