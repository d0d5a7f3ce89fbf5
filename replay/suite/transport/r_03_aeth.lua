-- AETH stands on First, Last and Only and says ACK; Middle has none.
-- ib-wire.md R-03.
test { id = "R-03-aeth", title = "AETH in READ responses", covers = { "R-03" } }

local rc   = open_rc { mtu = 256 }
local data = pattern(4 * rc.mtu)
rc.dut:write_memory(0, data)
local ack = { ["syndrome.opcode"] = 0, msn = 1 }
send { "RC_RDMA_READ_REQUEST", psn = rc.own_psn(0), reth = { dmalen = #data } }
expect { "RC_RDMA_READ_RESPONSE_FIRST",  psn = rc.own_psn(0), aeth = ack,  payload_bytes = 256 }
expect { "RC_RDMA_READ_RESPONSE_MIDDLE", psn = rc.own_psn(1), aeth = none, payload_bytes = 256 }
expect { "RC_RDMA_READ_RESPONSE_MIDDLE", psn = rc.own_psn(2), aeth = none, payload_bytes = 256 }
expect { "RC_RDMA_READ_RESPONSE_LAST",   psn = rc.own_psn(3), aeth = ack,  payload_bytes = 256 }
send { "RC_RDMA_READ_REQUEST", psn = rc.own_psn(4), reth = { dmalen = 8 } }
expect { "RC_RDMA_READ_RESPONSE_ONLY", psn = rc.own_psn(4), aeth = { ["syndrome.opcode"] = 0, msn = 2 }, payload_bytes = 8 }
rc:close()
