-- The responses to a READ: their number, PSNs, kinds and sizes follow from its length. First, Last and Only have an AETH of
-- type ACK, Middle has none. The bytes are those of the memory.
-- ib-wire.md R-02, R-03, L-01, L-05, L-09.
test { id = "R-02-read-lengths", title = "READ responses of every length",
       covers = { "R-02", "R-03", "L-01", "L-05", "L-09" } }

local function story(rc, length)
  local data = pattern(math.max(length, 1))
  rc.dut:write_memory(4, data)
  send { "RC_RDMA_READ_REQUEST", psn = rc.own_psn(0), reth = { va = rc.remote_va + 4, dmalen = length } }
  rc:expect_read_response { psn = rc.own_psn(0), data = data:sub(1, length), msn = 1 }
  quiet()
  rc:close()
end

for _, length in ipairs { 0, 1, 2, 3, 255, 256, 257, 511, 512, 513, 768, 2048 } do
  sub(length .. " bytes", function() story(open_rc { mtu = 256 }, length) end)
end
for _, mtu in ipairs { 512, 1024 } do
  sub("MTU " .. mtu, function() story(open_rc { mtu = mtu }, 3 * mtu - 1) end)
end
