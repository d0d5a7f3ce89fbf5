-- C09-130-02: RNR retries are counted. When they are used up, the request fails with rnr_retry_exc_err and nothing more is
-- sent; those behind it are flushed.
-- IBTA C9-130; ib-wire.md Q-12.
test { id = "C09-130-02", title = "RNR retries end with rnr_retry_exc_err", covers = { "C9-130", "Q-12", "C-04" } }

for _, count in ipairs { 0, 1, 3 } do
  sub("count " .. count, function()
    local rc   = open_rc { ack_timeout = 0, rnr_retry = count }
    local data = pattern(100)
    rc.dut:post_send { data = data }
    for _ = 0, count do
      rc:expect_send { psn = rc.psn(0), data = data }
      rc:nak { psn = rc.psn(0), msn = 0, syndrome = RNR(12) }
    end
    rc.dut:expect_completion { status = "rnr_retry_exc_err" }
    quiet { within = "200 ms" }
    rc.dut:expect_state "error"
    rc:close { flushed = 0 }
  end)
end
