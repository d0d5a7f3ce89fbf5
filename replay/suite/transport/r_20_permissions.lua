-- What the queue pair does not permit is refused with Invalid Request.
-- ib-wire.md R-20.
test { id = "R-20-permissions", title = "Operations that are not enabled are refused", covers = { "R-20", "R-10" } }

local function refused(rc, request)
  rc.dut:write_memory(0, string.rep("\0", 8))
  send(request)
  rc:expect_nak { psn = rc.own_psn(0), msn = 0, syndrome = NAK_INVALID_REQUEST }
  rc.dut:expect_state "error"
  assert(rc.dut:memory(0, 8) == string.rep("\0", 8), "the memory has changed")
  quiet()
  rc:close()
end

sub("WRITE", function()
  local rc = open_rc { remote_write = false, remote_atomic = false }
  refused(rc, { "RC_RDMA_WRITE_ONLY", psn = rc.own_psn(0), payload = pattern(8) })
end)
sub("READ", function()
  local rc = open_rc { remote_read = false }
  refused(rc, { "RC_RDMA_READ_REQUEST", psn = rc.own_psn(0), reth = { dmalen = 8 } })
end)
sub("FetchAdd", function()
  local rc = open_rc { remote_atomic = false }
  refused(rc, { "RC_FETCH_ADD", psn = rc.own_psn(0), a = 1, atomiceth = { swapdt = 1 } })
end)
