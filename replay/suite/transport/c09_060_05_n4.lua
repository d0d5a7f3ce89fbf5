-- N4: the Last response has an ICRC that is wrong by one bit. It is as if it had not come; the good one completes the READ.
-- IBTA C9-60#05; ib-wire.md 7.4 N4, F-01.
test { id = "C09-060-05-N4", title = "A READ response with a wrong ICRC counts for nothing",
       covers = { "C9-60#05", "F-01" } }

local rc   = open_rc { mtu = 256, ack_timeout = 0 }
local data = pattern(3 * rc.mtu)

rc.dut:post_read { length = #data }
expect { "RC_RDMA_READ_REQUEST", psn = rc.psn(0) }
send { "RC_RDMA_READ_RESPONSE_FIRST",  psn = rc.psn(0), aeth = { syndrome = ACK, msn = 1 }, payload = data:sub(1, 256) }
send { "RC_RDMA_READ_RESPONSE_MIDDLE", psn = rc.psn(1), payload = data:sub(257, 512) }
send { "RC_RDMA_READ_RESPONSE_LAST",   psn = rc.psn(2), aeth = { syndrome = ACK, msn = 1 }, payload = pattern(256, 9),
       icrc_xor = 0x00000100 }
rc.dut:expect_no_completion { within = "500 ms" }
send { "RC_RDMA_READ_RESPONSE_LAST",   psn = rc.psn(2), aeth = { syndrome = ACK, msn = 1 }, payload = data:sub(513) }
rc.dut:expect_completion { status = "success", data = data }
rc:close { flushed = 0 }
