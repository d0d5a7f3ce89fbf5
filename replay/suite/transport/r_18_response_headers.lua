-- Responses ask for nothing: SE and AckReq are 0; they go to the requester's queue pair with the P_Key of the connection.
-- ib-wire.md R-18.
test { id = "R-18-response-headers", title = "BTH of responses", covers = { "R-18" } }

local rc = open_rc { mtu = 256 }
local function plain(opcode, psn)
  expect { opcode, psn = psn, se = 0, a = 0, tver = 0, destqp = rc.tester_qpn, p_key = rc.p_key }
end
rc.dut:post_receive()
send { "RC_SEND_ONLY", psn = rc.own_psn(0), se = 1, payload = pattern(5) }
plain("RC_ACKNOWLEDGE", rc.own_psn(0))
rc.dut:expect_completion { receive = true, data = pattern(5) }
send { "RC_RDMA_READ_REQUEST", psn = rc.own_psn(1), reth = { dmalen = 600 } }
plain("RC_RDMA_READ_RESPONSE_FIRST", rc.own_psn(1))
plain("RC_RDMA_READ_RESPONSE_MIDDLE", rc.own_psn(2))
plain("RC_RDMA_READ_RESPONSE_LAST", rc.own_psn(3))
rc:write_message { psn = rc.own_psn(5), data = pattern(5) }
plain("RC_ACKNOWLEDGE", rc.own_psn(4))  -- the NAK for the gap
rc:close()
