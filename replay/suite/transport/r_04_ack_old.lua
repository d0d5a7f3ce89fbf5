-- An ACK for a PSN before the oldest outstanding one tells nothing new.
-- ib-wire.md R-04.
test { id = "R-04-ack-old", title = "An old ACK acknowledges nothing new", covers = { "R-04", "C-01" } }

local rc = open_rc { mtu = 256, dut_psn = 1 }
rc.dut:post_send { data = pattern(600) }
rc:expect_send { psn = rc.psn(0), data = pattern(600) }
rc:acknowledge { psn = rc.psn(-1), msn = 0 }
rc:acknowledge { psn = rc.psn(-5), msn = 0 }
rc:nak { psn = rc.psn(-2), msn = 0, syndrome = NAK_REMOTE_ACCESS }
rc.dut:expect_no_completion { within = "200 ms" }
rc:acknowledge { psn = rc.psn(2), msn = 1 }
rc.dut:expect_completion { status = "success" }
rc:close { flushed = 0 }
