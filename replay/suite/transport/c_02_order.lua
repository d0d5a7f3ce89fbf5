-- Requests complete in the order they were posted. A SEND that was acknowledged waits for the READ before it.
-- ib-wire.md C-02, R-05.
test { id = "C-02-order", title = "Requests complete in order", covers = { "C-02", "R-05" } }

local rc   = open_rc { mtu = 256 }
local data = pattern(300)
local send_1 = rc.dut:post_send { data = pattern(20, 1) }
local read_2 = rc.dut:post_read { length = #data }
local send_3 = rc.dut:post_send { data = pattern(20, 3) }
rc:expect_send { psn = rc.psn(0), data = pattern(20, 1) }
expect { "RC_RDMA_READ_REQUEST", psn = rc.psn(1), reth = { dmalen = #data } }
rc:expect_send { psn = rc.psn(3), data = pattern(20, 3) }
allow { retransmission = true }

rc:acknowledge { psn = rc.psn(3), msn = 3 }
rc.dut:expect_completion { of = send_1 }
rc.dut:expect_no_completion { within = "200 ms" }
rc:respond_read { psn = rc.psn(1), data = data, msn = 3 }
rc.dut:expect_completion { of = read_2, data = data }
rc:acknowledge { psn = rc.psn(3), msn = 3 }
rc.dut:expect_completion { of = send_3 }
rc:close { flushed = 0 }
