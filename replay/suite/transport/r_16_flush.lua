-- FLUSH is answered with an empty READ response Only.
-- ib-wire.md R-16; mailing list of the RDMA FLUSH patches.
test { id = "R-16-flush", title = "FLUSH is answered with an empty READ response",
       covers = { "R-16", "R-17" }, needs = { flush = true } }

local rc = open_rc { mtu = 256 }
rc:write_message { psn = rc.own_psn(0), data = pattern(64) }
rc:expect_ack { psn = rc.own_psn(0), msn = 1 }
send { "RC_FLUSH", psn = rc.own_psn(1), feth = { plt = 1, sel = 0 }, reth = { dmalen = 64 } }
expect { "RC_RDMA_READ_RESPONSE_ONLY", psn = rc.own_psn(1), aeth = { ["syndrome.opcode"] = 0, msn = 2 }, payload_bytes = 0 }
rc:close()
