-- The MSN counts messages of every kind, once each, however many packets they have.
-- IBTA C9-148; ib-wire.md 4.5, R-17.
test { id = "R-17-msn", title = "The MSN counts messages", covers = { "R-17", "C9-148" }, needs = { atomics = true } }

local rc = open_rc { mtu = 256 }
rc.dut:post_receive { count = 3 }
rc.dut:write_memory(0x4000, pattern(768))
local psn = rc:send_message { psn = rc.own_psn(0), data = pattern(600) }
rc:expect_ack { psn = psn - 1, msn = 1 }
psn = rc:write_message { psn = psn, data = pattern(1024) }
rc:expect_ack { psn = psn - 1, msn = 2 }
send { "RC_RDMA_READ_REQUEST", psn = psn, reth = { va = rc.remote_va + 0x4000, dmalen = 768 } }
rc:expect_read_response { psn = psn, data = pattern(768), msn = 3 }
psn = psn + 3
send { "RC_FETCH_ADD", psn = psn, atomiceth = { swapdt = 1 } }
expect { "RC_ATOMIC_ACKNOWLEDGE", psn = psn, aeth = { msn = 4 } }
psn = rc:write_message { psn = psn + 1, data = pattern(300), immediate = 1 }
rc:expect_ack { psn = psn - 1, msn = 5 }
psn = rc:send_message { psn = psn, data = "" }
rc:expect_ack { psn = psn - 1, msn = 6 }
rc.dut:expect_completion { receive = true, count = 3 }
rc:close()
