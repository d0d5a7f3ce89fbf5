-- The packets of a WRITE carry what its RETH tells, not less, not more; nothing is written outside of it.
-- ib-wire.md L-04.
test { id = "L-04-write-length", title = "A WRITE of another length than told is refused", covers = { "L-04", "R-10" } }

local function refused(told, packets)
  local rc = open_rc { mtu = 256 }
  rc.dut:write_memory(0, string.rep("\0", 1024))
  for i, p in ipairs(packets) do
    p.psn, p.a = rc.own_psn(i - 1), 0
    if i == 1 then p.reth = { dmalen = told } end
    send(p)
  end
  rc:expect_nak { psn = rc.own_psn(#packets - 1), msn = 0, syndrome = NAK_INVALID_REQUEST }
  rc.dut:expect_state "error"
  assert(rc.dut:memory(told, 1024 - told) == string.rep("\0", 1024 - told), "the WRITE went beyond its length")
  rc:close()
end

sub("Only, less",  function() refused(200, { { "RC_RDMA_WRITE_ONLY", payload = pattern(100) } }) end)
sub("Only, more",  function() refused(100, { { "RC_RDMA_WRITE_ONLY", payload = pattern(200) } }) end)
sub("Last, less", function()
  refused(600, { { "RC_RDMA_WRITE_FIRST", payload = pattern(256) }, { "RC_RDMA_WRITE_MIDDLE", payload = pattern(256) },
                 { "RC_RDMA_WRITE_LAST", payload = pattern(80) } })
end)
sub("Last, more", function()
  refused(600, { { "RC_RDMA_WRITE_FIRST", payload = pattern(256) }, { "RC_RDMA_WRITE_MIDDLE", payload = pattern(256) },
                 { "RC_RDMA_WRITE_LAST", payload = pattern(96) } })
end)
