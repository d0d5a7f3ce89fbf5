-- READ and WRITE need no receive buffer; atomics neither, as R-16-fetch-add and R-16-cmp-swap show, which post none.
-- ib-wire.md R-11.
test { id = "R-11-no-rnr", title = "READ and WRITE need no receive buffer", covers = { "R-11" } }

local rc = open_rc { mtu = 256 }
rc:write_message { psn = rc.own_psn(0), data = pattern(600) }
rc:expect_ack { psn = rc.own_psn(2), msn = 1 }
send { "RC_RDMA_READ_REQUEST", psn = rc.own_psn(3), reth = { dmalen = 600 } }
rc:expect_read_response { psn = rc.own_psn(3), data = pattern(600), msn = 2 }
rc:close()
