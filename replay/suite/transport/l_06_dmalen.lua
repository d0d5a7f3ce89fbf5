-- A length of more than 2^31 is refused, as invalid or as outside the region.
-- IBTA C9-94; ib-wire.md L-06.
test { id = "L-06-dmalen", title = "A DMALen over 2^31 is refused", covers = { "L-06", "C9-94" } }

local refusal = { NAK_INVALID_REQUEST, NAK_REMOTE_ACCESS }

sub("READ", function()
  local rc = open_rc { mtu = 256 }
  send { "RC_RDMA_READ_REQUEST", psn = rc.own_psn(0), reth = { dmalen = 0x80000001 } }
  rc:expect_nak { psn = rc.own_psn(0), msn = 0, syndrome = refusal }
  rc.dut:expect_state "error"
  rc:close()
end)
sub("WRITE", function()
  local rc = open_rc { mtu = 256 }
  send { "RC_RDMA_WRITE_FIRST", psn = rc.own_psn(0), reth = { dmalen = 0x80000001 }, payload = pattern(256) }
  rc:expect_nak { psn = rc.own_psn(0), msn = 0, syndrome = refusal }
  rc.dut:expect_state "error"
  rc:close()
end)
