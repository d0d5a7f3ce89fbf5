-- Retries are counted: after the last the request fails with retry_exc_err, those behind it are flushed, and nothing is sent
-- any more.
-- ib-wire.md Q-13, C-01, C-04.
test { id = "Q-13-retries-end", title = "Retries end with retry_exc_err", covers = { "Q-13", "C-01", "C-04" } }

for _, count in ipairs { 0, 1, 3 } do
  sub("count " .. count, function()
    local rc = open_rc { mtu = 256, ack_timeout = 14, retry_count = count }
    local first, second = rc.dut:post_send { count = 2, data = pattern(20) }
    for _ = 0, count do
      rc:expect_send { psn = rc.psn(0), data = pattern(20), within = "5 s" }
      rc:expect_send { psn = rc.psn(1), data = pattern(20), within = "5 s" }
    end
    rc.dut:expect_completion { of = first, status = "retry_exc_err", within = "5 s" }
    rc.dut:expect_completion { of = second, status = "wr_flush_err" }
    rc.dut:expect_state "error"
    quiet { within = "1 s" }
    rc:close { flushed = 0 }
  end)
end
