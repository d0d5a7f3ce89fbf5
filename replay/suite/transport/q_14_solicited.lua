-- SE is set on the last packet of a solicited SEND or WRITE with Immediate, and nowhere else.
-- ib-wire.md Q-14.
test { id = "Q-14-solicited", title = "Only the last packet of a message is solicited", covers = { "Q-14" } }

local rc = open_rc { mtu = 256 }
rc.dut:post_send { data = pattern(768), solicited = true }
expect { "RC_SEND_FIRST",  psn = rc.psn(0), se = 0 }
expect { "RC_SEND_MIDDLE", psn = rc.psn(1), se = 0 }
expect { "RC_SEND_LAST",   psn = rc.psn(2), se = 1 }
rc.dut:post_send { data = pattern(8), solicited = true }
expect { "RC_SEND_ONLY",   psn = rc.psn(3), se = 1 }
rc.dut:post_send { data = pattern(8) }
expect { "RC_SEND_ONLY",   psn = rc.psn(4), se = 0 }
rc.dut:post_write { data = pattern(512), immediate = 5, solicited = true }
expect { "RC_RDMA_WRITE_FIRST",               psn = rc.psn(5), se = 0 }
expect { "RC_RDMA_WRITE_LAST_WITH_IMMEDIATE", psn = rc.psn(6), se = 1 }
rc:acknowledge { psn = rc.psn(6), msn = 4 }
rc.dut:expect_completion { count = 4 }
rc:close { flushed = 0 }
