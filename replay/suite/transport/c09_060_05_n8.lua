-- N8: the responses to READ 2 come before those to READ 1. Neither READ completes; when both are answered in order, both do.
-- IBTA C9-60#05; ib-wire.md 7.4 N8, C-02, R-05.
test { id = "C09-060-05-N8", title = "READs complete in the order they were posted",
       covers = { "C9-60#05", "C-02", "R-01" },
       needs = { initiator_depth = 2 } }

local rc = open_rc { mtu = 256, ack_timeout = 0, initiator_depth = 2 }
local one, two = pattern(2 * rc.mtu, 1), pattern(2 * rc.mtu, 2)
local first = rc.dut:post_read { length = #one, va = 0x10000 }
local second = rc.dut:post_read { length = #two, va = 0x20000 }
expect { "RC_RDMA_READ_REQUEST", psn = rc.psn(0), reth = { va = 0x10000 } }
expect { "RC_RDMA_READ_REQUEST", psn = rc.psn(2), reth = { va = 0x20000 } }
allow { retransmission = true }  -- a response that is missing may be asked for again

rc:respond_read { psn = rc.psn(2), data = two, msn = 2 }
rc.dut:expect_no_completion { within = "500 ms" }

rc:respond_read { psn = rc.psn(0), data = one, msn = 2 }
rc.dut:expect_completion { of = first, data = one }
rc:respond_read { psn = rc.psn(2), data = two, msn = 2 }
rc.dut:expect_completion { of = second, data = two }
rc:close { flushed = 0 }
