-- N12: Last, First, Middle. The READ does not complete before everything came in order.
-- IBTA C9-60#05; ib-wire.md 7.4 N12, R-02, C-03.
test { id = "C09-060-05-N12", title = "READ responses out of order do not complete it",
       covers = { "C9-60#05", "R-02", "C-03" } }

local rc   = open_rc { mtu = 256, ack_timeout = 0 }
local data = pattern(3 * rc.mtu)
allow { retransmission = true }

rc.dut:post_read { length = #data }
expect { "RC_RDMA_READ_REQUEST", psn = rc.psn(0) }
send { "RC_RDMA_READ_RESPONSE_LAST",   psn = rc.psn(2), aeth = { syndrome = ACK, msn = 1 }, payload = data:sub(513) }
send { "RC_RDMA_READ_RESPONSE_FIRST",  psn = rc.psn(0), aeth = { syndrome = ACK, msn = 1 }, payload = data:sub(1, 256) }
send { "RC_RDMA_READ_RESPONSE_MIDDLE", psn = rc.psn(1), payload = data:sub(257, 512) }
rc.dut:expect_no_completion { within = "500 ms" }
send { "RC_RDMA_READ_RESPONSE_LAST",   psn = rc.psn(2), aeth = { syndrome = ACK, msn = 1 }, payload = data:sub(513) }
rc.dut:expect_completion { status = "success", data = data }
rc:close { flushed = 0 }
