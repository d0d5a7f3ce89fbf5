-- A READ that comes again, as it was or for its rest, is answered again. The MSN does not count it.
-- ib-wire.md R-14.
test { id = "R-14-duplicate-read", title = "A READ that comes again is answered again", covers = { "R-14", "R-17" } }

local function read_once()
  local rc   = open_rc { mtu = 256 }
  local data = pattern(4 * rc.mtu)
  rc.dut:write_memory(0, data)
  send { "RC_RDMA_READ_REQUEST", psn = rc.own_psn(0), reth = { dmalen = #data } }
  rc:expect_read_response { psn = rc.own_psn(0), data = data, msn = 1 }
  return rc, data
end

local function go_on(rc)
  rc:write_message { psn = rc.own_psn(4), data = pattern(8) }
  rc:expect_ack { psn = rc.own_psn(4), msn = 2 }
  rc:close()
end

sub("all of it", function()
  local rc, data = read_once()
  send { "RC_RDMA_READ_REQUEST", psn = rc.own_psn(0), reth = { dmalen = #data } }
  rc:expect_read_response { psn = rc.own_psn(0), data = data, msn = 1 }
  go_on(rc)
end)

for skipped = 1, 3 do
  sub("without the first " .. skipped, function()
    local rc, data = read_once()
    local bytes = skipped * rc.mtu
    send { "RC_RDMA_READ_REQUEST", psn = rc.own_psn(skipped),
           reth = { va = rc.remote_va + bytes, dmalen = #data - bytes } }
    rc:expect_read_response { psn = rc.own_psn(skipped), data = data:sub(bytes + 1), msn = 1 }
    go_on(rc)
  end)
end
