-- What is outstanding when a connection ends completes, with wr_flush_err: sends and receives, each once.
-- ib-wire.md C-04.
test { id = "C-04-flush", title = "Everything outstanding is flushed at the end", covers = { "C-04" } }

local rc = open_rc { mtu = 256 }
rc.dut:post_receive { count = 3 }
rc.dut:post_send { count = 2, data = pattern(20) }
rc.dut:post_write { data = pattern(20) }
rc.dut:post_read { length = 20 }
rc:expect_send { psn = rc.psn(0), data = pattern(20) }
rc:expect_send { psn = rc.psn(1), data = pattern(20) }
rc:expect_write { psn = rc.psn(2), data = pattern(20) }
expect { "RC_RDMA_READ_REQUEST", psn = rc.psn(3) }
rc:acknowledge { psn = rc.psn(0), msn = 1 }
rc.dut:expect_completion { status = "success" }
rc:close { flushed = 3, flushed_receives = 3 }
