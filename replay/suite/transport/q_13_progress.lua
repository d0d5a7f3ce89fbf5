-- An acknowledge that brings something new gives back all retries.
-- ib-wire.md Q-13 (progress).
test { id = "Q-13-progress", title = "Progress gives back the retries", covers = { "Q-13" } }

local rc = open_rc { mtu = 256, ack_timeout = 14, retry_count = 1 }
for i = 0, 3 do
  rc.dut:post_send { data = pattern(20, i) }
  rc:expect_send { psn = rc.psn(i), data = pattern(20, i) }
  rc:expect_send { psn = rc.psn(i), data = pattern(20, i), within = "5 s" }
  rc:acknowledge { psn = rc.psn(i), msn = i + 1 }
  rc.dut:expect_completion { status = "success" }
end
rc:close { flushed = 0 }
