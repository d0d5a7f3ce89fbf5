-- Three responses with one PSN: the second and third repeat what has arrived, so the READ must not complete. Answered as
-- it should be, it completes: what was wrong before left no trace.
test { id = "C09-060-05-N1", title = "READ responses that repeat a PSN do not complete it", covers = { "C9-60#05", "R-02" } }

local rc   = open_rc { mtu = 256, ack_timeout = 0 }
local data = pattern(3 * rc.mtu)
local wrong = pattern(3 * rc.mtu, 2)
allow { retransmission = true }  -- to ask again is the DUT's right

rc.dut:post_read { length = #data }
expect { "RC_RDMA_READ_REQUEST", psn = rc.psn(0), reth = { dmalen = #data } }

send { "RC_RDMA_READ_RESPONSE_FIRST",  psn = rc.psn(0), aeth = { syndrome = ACK, msn = 1 }, payload = data:sub(1, 256) }
send { "RC_RDMA_READ_RESPONSE_MIDDLE", psn = rc.psn(0), payload = wrong:sub(257, 512) }
send { "RC_RDMA_READ_RESPONSE_LAST",   psn = rc.psn(0), aeth = { syndrome = ACK, msn = 1 }, payload = wrong:sub(513) }
rc.dut:expect_no_completion { within = "1 s" }

send { "RC_RDMA_READ_RESPONSE_MIDDLE", psn = rc.psn(1), payload = data:sub(257, 512) }
send { "RC_RDMA_READ_RESPONSE_LAST",   psn = rc.psn(2), aeth = { syndrome = ACK, msn = 1 }, payload = data:sub(513) }
rc.dut:expect_completion { status = "success", data = data }
rc:close { flushed = 0 }
