-- C09-130-03: an RNR retry count of 7 means without end.
-- ib-wire.md Q-12.
test { id = "C09-130-03", title = "RNR retry count 7 never gives up", covers = { "C9-130", "Q-12" } }

local rc   = open_rc { ack_timeout = 0, rnr_retry = 7 }
local data = pattern(100)
rc.dut:post_send { data = data }
for _ = 1, 20 do
  rc:expect_send { psn = rc.psn(0), data = data }
  rc:nak { psn = rc.psn(0), msn = 0, syndrome = RNR(12) }
end
rc:expect_send { psn = rc.psn(0), data = data }
rc:acknowledge { psn = rc.psn(0), msn = 1 }
rc.dut:expect_completion { status = "success" }
rc:close { flushed = 0 }
