-- Whoever wants a completion asks for it: the last packet of a signaled message has AckReq, or its completion never comes.
-- ib-wire.md Q-15.
test { id = "Q-15-ack-request", title = "The last packet asks for an acknowledge", covers = { "Q-15" } }

local rc = open_rc { mtu = 256 }
rc.dut:post_send { data = pattern(8) }
expect { "RC_SEND_ONLY", psn = rc.psn(0), a = 1 }
rc.dut:post_write { data = pattern(768) }
expect { "RC_RDMA_WRITE_FIRST",  psn = rc.psn(1) }
expect { "RC_RDMA_WRITE_MIDDLE", psn = rc.psn(2) }
expect { "RC_RDMA_WRITE_LAST",   psn = rc.psn(3), a = 1 }
rc:acknowledge { psn = rc.psn(3), msn = 2 }
rc.dut:expect_completion { count = 2 }
rc:close { flushed = 0 }
