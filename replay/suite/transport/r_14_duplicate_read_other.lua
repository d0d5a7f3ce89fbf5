-- A duplicate READ that asks for bytes the original did not ask for is dropped without a word. Which parts of the original
-- may be asked for is the responder's choice and not looked at here.
-- ib-wire.md R-14.
test { id = "R-14-duplicate-read-other", title = "A duplicate READ of another range is not answered",
       covers = { "R-14" } }

local function story(skipped, va, length)
  local rc   = open_rc { mtu = 256 }
  local data = pattern(4 * rc.mtu)
  rc.dut:write_memory(0, data)
  send { "RC_RDMA_READ_REQUEST", psn = rc.own_psn(0), reth = { dmalen = 3 * rc.mtu } }
  rc:expect_read_response { psn = rc.own_psn(0), data = data:sub(1, 3 * rc.mtu), msn = 1 }
  send { "RC_RDMA_READ_REQUEST", psn = rc.own_psn(skipped), reth = { va = rc.remote_va + va, dmalen = length } }
  quiet()
  rc:write_message { psn = rc.own_psn(3), data = pattern(8) }
  rc:expect_ack { psn = rc.own_psn(3), msn = 2 }
  rc:close()
end

sub("longer",              function() story(0, 0, 1024) end)
sub("rest beyond the end", function() story(1, 256, 768) end)
sub("another address",     function() story(0, 0x2000, 256) end)
