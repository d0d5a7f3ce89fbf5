-- The PSNs of READ responses wrap with those of the requester; the next request comes behind them.
-- ib-wire.md R-02, 6.0.
test { id = "R-02-read-wrap", title = "READ responses whose PSNs wrap", covers = { "R-02", "R-01" } }

local rc   = open_rc { mtu = 256, tester_psn = 0xfffffe }
local data = pattern(4 * rc.mtu)
rc.dut:write_memory(0, data)
send { "RC_RDMA_READ_REQUEST", psn = 0xfffffe, reth = { dmalen = #data } }
expect { "RC_RDMA_READ_RESPONSE_FIRST",  psn = 0xfffffe, payload = data:sub(1, 256) }
expect { "RC_RDMA_READ_RESPONSE_MIDDLE", psn = 0xffffff, payload = data:sub(257, 512) }
expect { "RC_RDMA_READ_RESPONSE_MIDDLE", psn = 0x000000, payload = data:sub(513, 768) }
expect { "RC_RDMA_READ_RESPONSE_LAST",   psn = 0x000001, payload = data:sub(769) }
rc:write_message { psn = rc.own_psn(4), data = pattern(16) }
rc:expect_ack { psn = 0x000002, msn = 2 }
rc:close()
