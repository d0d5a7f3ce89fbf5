-- N2: the Middle response is missing. The READ must not complete; the DUT may ask again, for all or for the rest, and then
-- gets that. A DUT that only drops what comes too early (Soft-RoCE without a timer) gets what was missing.
-- IBTA C9-60#05; ib-wire.md 7.4 N2, C-03, Q-07.
test { id = "C09-060-05-N2", title = "A READ without its Middle response does not complete",
       covers = { "C9-60#05", "C-03", "Q-07" } }

local rc   = open_rc { mtu = 256, ack_timeout = 0 }
local data = pattern(3 * rc.mtu)

rc.dut:post_read { length = #data, va = 0x999000, rkey = 0x12345 }
expect { "RC_RDMA_READ_REQUEST", psn = rc.psn(0), reth = { dmalen = #data } }
send { "RC_RDMA_READ_RESPONSE_FIRST", psn = rc.psn(0), aeth = { syndrome = ACK, msn = 1 }, payload = data:sub(1, 256) }
send { "RC_RDMA_READ_RESPONSE_LAST",  psn = rc.psn(2), aeth = { syndrome = ACK, msn = 1 }, payload = data:sub(513) }

local again = maybe { "RC_RDMA_READ_REQUEST", psn = { rc.psn(0), rc.psn(1) } }
rc.dut:expect_no_completion { within = "500 ms" }
if again then
  local done = (again.psn - rc.psn(0)) * rc.mtu
  check("VA of the READ sent again", again.reth.va, 0x999000 + done)
  check("DMALen of the READ sent again", again.reth.dmalen, #data - done)
  rc:respond_read { psn = again.psn, data = data:sub(done + 1) }
else
  send { "RC_RDMA_READ_RESPONSE_MIDDLE", psn = rc.psn(1), payload = data:sub(257, 512) }
  send { "RC_RDMA_READ_RESPONSE_LAST",   psn = rc.psn(2), aeth = { syndrome = ACK, msn = 1 }, payload = data:sub(513) }
end
rc.dut:expect_completion { status = "success", data = data }
rc:close { flushed = 0 }
