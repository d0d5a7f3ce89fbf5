-- UC: the DUT's SENDs and WRITEs take PSNs one after the other and complete when they are sent; nobody acknowledges.
-- ib-wire.md Q-01, U-01.
test { id = "U-03-uc-requester", title = "UC SENDs and WRITEs complete when they are sent",
       covers = { "Q-01", "L-01", "L-04" } }

local rc   = open_uc { mtu = 256, dut_psn = 0xfffffe }
local data = pattern(600)
rc.dut:post_send { data = data }
local psn = rc:expect_send { psn = rc.psn(0), data = data }
rc.dut:expect_completion { status = "success" }
rc.dut:post_write { data = data, va = 0x1000, rkey = 0x22 }
psn = rc:expect_write { psn = psn, data = data, va = 0x1000, rkey = 0x22 }
rc.dut:expect_completion { status = "success" }
rc.dut:post_send { data = pattern(3), immediate = 0x01020304 }
rc:expect_send { psn = psn, data = pattern(3), immediate = 0x01020304 }
rc.dut:expect_completion { status = "success" }
quiet()
rc:close { flushed = 0 }
