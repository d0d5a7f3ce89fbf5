-- SEND, READ, and the SEND again: its ACK must not carry a PSN of the READ's responses.
-- Linux "IB/rxe: fix for duplicate request processing and ack psns"; ib-wire.md R-13.
test { id = "R-13-duplicate-behind-read", title = "The ACK of a duplicate is not for a READ",
       covers = { "R-13", "R-12" } }

local rc   = open_rc { mtu = 256 }
local data = pattern(3 * rc.mtu)
rc.dut:write_memory(0x1000, data)
rc.dut:post_receive { count = 2 }
rc:send_message { psn = rc.own_psn(0), data = pattern(40) }
rc:expect_ack { psn = rc.own_psn(0), msn = 1 }
rc.dut:expect_completion { receive = true, data = pattern(40) }
send { "RC_RDMA_READ_REQUEST", psn = rc.own_psn(1), reth = { va = rc.remote_va + 0x1000, dmalen = #data } }
rc:expect_read_response { psn = rc.own_psn(1), data = data, msn = 2 }
rc:send_message { psn = rc.own_psn(0), data = pattern(40) }
rc:expect_ack { psn = rc.own_psn(0), msn = 2 }
rc.dut:expect_no_completion()
rc:close { flushed_receives = 1 }
