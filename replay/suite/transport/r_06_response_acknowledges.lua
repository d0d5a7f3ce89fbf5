-- The response to a READ or atomic acknowledges the SENDs and WRITEs before it, so that nothing of them is sent again.
-- ib-wire.md R-06.
test { id = "R-06-response-acknowledges", title = "A response acknowledges what was sent before",
       covers = { "R-06", "C-02" } }

local rc = open_rc { mtu = 256, ack_timeout = 17 }
local first  = rc.dut:post_send { data = pattern(20) }
local second = rc.dut:post_write { data = pattern(300) }
local third  = rc.dut:post_read { length = 600 }
rc:expect_send { psn = rc.psn(0), data = pattern(20) }
rc:expect_write { psn = rc.psn(1), data = pattern(300) }
expect { "RC_RDMA_READ_REQUEST", psn = rc.psn(3) }
rc:respond_read { psn = rc.psn(3), data = pattern(600), msn = 3 }
rc.dut:expect_completion { of = first }
rc.dut:expect_completion { of = second }
rc.dut:expect_completion { of = third, data = pattern(600) }
quiet { within = "1200 ms" }
rc:close { flushed = 0 }
