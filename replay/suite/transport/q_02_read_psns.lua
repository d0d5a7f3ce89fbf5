-- A READ takes as many PSNs as its responses, one at least; its data lands in place whatever its length.
-- ib-wire.md Q-02, L-05, L-09, C-06.
test { id = "Q-02-read-psns", title = "READs of every length", covers = { "Q-02", "L-05", "L-09", "C-01" } }

local rc  = open_rc { mtu = 256 }
local psn = rc.psn(0)
for i, length in ipairs { 0, 1, 3, 255, 256, 257, 512, 513, 768, 2049 } do
  local data = pattern(length, i)
  rc.dut:post_read { length = length, va = 0x10000 * i, rkey = 0x77 }
  expect { "RC_RDMA_READ_REQUEST", psn = psn, reth = { va = 0x10000 * i, r_key = 0x77, dmalen = length }, payload_bytes = 0 }
  rc:respond_read { psn = psn, data = data, msn = i }
  rc.dut:expect_completion { data = data, bytes = length }
  psn = psn + math.max(1, (length + rc.mtu - 1) // rc.mtu)
end
rc:close { flushed = 0 }
