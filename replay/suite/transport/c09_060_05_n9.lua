-- N9: the PSNs of the responses wrap: 0xfffffe, 0xffffff, 0. The next READ begins at 1.
-- IBTA C9-60#05; ib-wire.md 7.4 N9, Q-01, Q-02.
test { id = "C09-060-05-N9", title = "READ responses whose PSNs wrap complete it",
       covers = { "C9-60#05", "Q-01", "Q-02" },
       needs = { initiator_depth = 2 } }

local rc   = open_rc { mtu = 256, ack_timeout = 0, initiator_depth = 2, dut_psn = 0xfffffe }
local data = pattern(3 * rc.mtu)

local first, second = rc.dut:post_read { count = 2, length = #data }
expect { "RC_RDMA_READ_REQUEST", psn = 0xfffffe }
expect { "RC_RDMA_READ_REQUEST", psn = 0x000001 }
rc:respond_read { psn = rc.psn(0), data = data, msn = 1 }
rc.dut:expect_completion { of = first, data = data }
rc.dut:expect_no_completion { within = "200 ms" }
rc:respond_read { psn = rc.psn(3), data = data, msn = 2 }
rc.dut:expect_completion { of = second, data = data }
rc:close { flushed = 0 }
