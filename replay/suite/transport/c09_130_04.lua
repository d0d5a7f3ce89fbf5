-- C09-130-04: nothing behind the request that met an RNR NAK is sent before the timer has run out either; then all goes on
-- in order. What stood before it is acknowledged by the NAK.
-- IBTA C9-130; ib-wire.md Q-11.
test { id = "C09-130-04", title = "What stands behind an RNR NAK waits, too", covers = { "C9-130", "Q-11", "Q-06" } }

local rc   = open_rc { ack_timeout = 0, rnr_retry = 7 }
local data = pattern(100)
local first, second, third = rc.dut:post_send { count = 3, data = data }
for i = 0, 2 do rc:expect_send { psn = rc.psn(i), data = data } end
local nak = rc:nak { psn = rc.psn(1), msn = 1, syndrome = RNR(29) }
rc.dut:expect_completion { of = first }
local again = expect { "RC_SEND_ONLY", psn = rc.psn(1), payload = data, within = "5 s" }
check("time until it is sent again, ms", again.time - nak.time, { min = rnr_timer_ms(29) })
rc:expect_send { psn = rc.psn(2), data = data }
rc:acknowledge { psn = rc.psn(2), msn = 3 }
rc.dut:expect_completion { of = second }
rc.dut:expect_completion { of = third }
rc:close { flushed = 0 }
