-- SEND with Invalidate: the completion names the R_Key, and the R_Key is of no use afterwards.
-- ib-wire.md 3.2, R-20.
test { id = "C-06-invalidate", title = "SEND with Invalidate invalidates the R_Key", covers = { "C-06", "R-20" },
       needs = { send_with_invalidate = true } }

local rc = open_rc { mtu = 256 }
rc.dut:post_receive()
rc:write_message { psn = rc.own_psn(0), data = pattern(8) }
rc:expect_ack { psn = rc.own_psn(0), msn = 1 }
rc:send_message { psn = rc.own_psn(1), data = pattern(20), invalidate = rc.remote_r_key }
local _, answer = expect_one_of {
  { "RC_ACKNOWLEDGE", psn = rc.own_psn(1), aeth = { ["syndrome.opcode"] = 0, msn = 2 } },
  { "RC_ACKNOWLEDGE", psn = rc.own_psn(1), aeth = { syndrome = NAK_REMOTE_ACCESS } },
}
if answer.aeth.syndrome == NAK_REMOTE_ACCESS then skip "the DUT does not let this kind of R_Key be invalidated" end
rc.dut:expect_completion { receive = true, data = pattern(20), invalidated = rc.remote_r_key }
rc:write_message { psn = rc.own_psn(2), data = pattern(8) }
rc:expect_nak { psn = rc.own_psn(2), msn = 2, syndrome = NAK_REMOTE_ACCESS }
rc:close()
