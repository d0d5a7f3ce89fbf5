-- The bytes of a WRITE are where its RETH tells, all of them, and nothing beside.
-- ib-wire.md R-20, L-04.
test { id = "C-06-write-placement", title = "WRITEs of every length are in their place", covers = { "C-06", "L-04" } }

local rc    = open_rc { mtu = 256 }
local psn   = rc.own_psn(0)
local empty = string.rep("\xee", 4096)
local at    = 1001
for i, length in ipairs { 1, 2, 3, 4, 255, 256, 257, 512, 768, 2049 } do
  rc.dut:write_memory(0, empty)
  psn = rc:write_message { psn = psn, data = pattern(length, i), va = rc.remote_va + at }
  rc:expect_ack { psn = psn - 1, msn = i }
  local now_there = rc.dut:memory(0, 4096)
  assert(now_there:sub(at + 1, at + length) == pattern(length, i), length .. " bytes are not in their place")
  assert(now_there:sub(1, at) == empty:sub(1, at), "bytes before the WRITE have changed")
  assert(now_there:sub(at + length + 1) == empty:sub(at + length + 1), "bytes behind the WRITE have changed")
end
rc:close()
