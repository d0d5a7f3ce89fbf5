-- A wrong R_Key or a range outside the memory region is refused with Remote Access Error, and nothing is written.
-- ib-wire.md R-20, R-10.
test { id = "R-20-access", title = "Wrong R_Key and range are refused", covers = { "R-20", "R-10" } }

local function refused(rc, request)
  local before = rc.dut:memory(0, 512) .. rc.dut:memory(rc.remote_bytes - 512, 512)
  send(request)
  rc:expect_nak { psn = rc.own_psn(0), msn = 0, syndrome = NAK_REMOTE_ACCESS }
  rc.dut:expect_state "error"
  assert(rc.dut:memory(0, 512) .. rc.dut:memory(rc.remote_bytes - 512, 512) == before, "the memory has changed")
  quiet()
  rc:close()
end

local ranges = {
  { "before the region",   function(rc) return { va = rc.remote_va - 0x10000 } end },
  { "behind the region",   function(rc) return { va = rc.remote_va + rc.remote_bytes + 0x10000 } end },
  { "across its end",      function(rc) return { va = rc.remote_va + rc.remote_bytes - 64 } end },
  { "across its start",    function(rc) return { va = rc.remote_va - 4 } end },
  { "address that wraps",  function() return { va = -64 } end },
  { "unknown R_Key",       function(rc) return { r_key = rc.remote_r_key ~ 0xffff00ff } end },
}
for _, range in ipairs(ranges) do
  sub("WRITE, " .. range[1], function()
    local rc = open_rc { mtu = 256 }
    local reth = range[2](rc)
    reth.dmalen = 128
    refused(rc, { "RC_RDMA_WRITE_ONLY", psn = rc.own_psn(0), reth = reth, payload = pattern(128) })
  end)
  sub("READ, " .. range[1], function()
    local rc = open_rc { mtu = 256 }
    local reth = range[2](rc)
    reth.dmalen = 128
    refused(rc, { "RC_RDMA_READ_REQUEST", psn = rc.own_psn(0), reth = reth })
  end)
end
