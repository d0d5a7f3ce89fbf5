-- Pad bytes fill the payload up to a multiple of four; the pad count says how many, and they are zeros.
-- ib-wire.md F-09, F-10, F-11.
test { id = "Q-04-pad", title = "Pad of requests", covers = { "F-09", "F-10", "F-11" } }

local rc = open_rc { mtu = 256 }
for i, length in ipairs { 1, 2, 3, 4, 5, 6, 7, 8 } do
  rc.dut:post_send { data = pattern(length) }
  expect { "RC_SEND_ONLY", psn = rc.psn(i - 1), padcnt = -length & 3, payload = pattern(length) }
  rc:acknowledge { psn = rc.psn(i - 1), msn = i }
  rc.dut:expect_completion { status = "success" }
end
rc.dut:post_read { length = 5 }
expect { "RC_RDMA_READ_REQUEST", psn = rc.psn(8), padcnt = 0, payload_bytes = 0 }
rc:respond_read { psn = rc.psn(8), data = pattern(5), msn = 9 }
rc.dut:expect_completion { data = pattern(5) }
rc:close()
