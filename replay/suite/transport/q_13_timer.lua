-- The timer runs at least as long as asked for: 4.096 us * 2^n. How much longer is the DUT's choice, within limits.
-- ib-wire.md Q-13, 6.0. A busy or emulated host sees a packet milliseconds late, which makes the next wait look short: over
-- three of them that cancels out, but for 5 %. One alone must not be anywhere near too short.
test { id = "Q-13-timer", title = "A retransmission does not come before the timeout", covers = { "Q-13" } }

for _, code in ipairs { 12, 14, 16 } do
  for _, work in ipairs { "SEND", "READ" } do
    sub(work .. ", code " .. code, function()
      local rc = open_rc { mtu = 256, ack_timeout = code }
      local request = { work == "SEND" and "RC_SEND_ONLY" or "RC_RDMA_READ_REQUEST", psn = rc.psn(0), within = "10 s" }
      if work == "SEND" then rc.dut:post_send { data = pattern(20) } else rc.dut:post_read { length = 20 } end
      local first  = expect(request)
      local before = first
      for _ = 1, 3 do
        local again = expect(request)
        check("time between, ms", again.time - before.time, { min = ack_timeout_ms(code) / 2 })
        before = again
      end
      check("time of three, ms", before.time - first.time, { min = 3 * 0.95 * ack_timeout_ms(code) })
      if work == "SEND" then
        rc:acknowledge { psn = rc.psn(0), msn = 1 }
      else
        rc:respond_read { psn = rc.psn(0), data = pattern(20) }
      end
      rc.dut:expect_completion { status = "success" }
      rc:close { flushed = 0 }
    end)
  end
end
