-- C09-130-01: after an RNR NAK the request is not sent again before the timer of the NAK has run out. Its message was not
-- completed, so that the NAK's MSN is 0 (the public text says 1, and 492.52 ms for code 31; the table has 491.52).
-- IBTA C9-130; ib-wire.md table 4.3, Q-11.
test { id = "C09-130-01", title = "An RNR NAK delays the request by the time it tells", covers = { "C9-130", "Q-11" } }

for _, code in ipairs { 1, 10, 14, 18, 22, 26, 29, 31, 0 } do
  sub("code " .. code, function()
    local rc   = open_rc { ack_timeout = 0, rnr_retry = 7 }
    local data = pattern(100)
    rc.dut:post_send { data = data }
    rc:expect_send { psn = rc.psn(0), data = data }
    local nak   = rc:nak { psn = rc.psn(0), msn = 0, syndrome = RNR(code) }
    local again = expect { "RC_SEND_ONLY", psn = rc.psn(0), payload = data, within = "5 s" }
    check("time until it is sent again, ms", again.time - nak.time, { min = rnr_timer_ms(code) })
    rc:acknowledge { psn = rc.psn(0), msn = 1 }
    rc.dut:expect_completion { status = "success" }
    rc:close { flushed = 0 }
  end)
end
