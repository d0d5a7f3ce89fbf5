-- READ, WRITE and atomics need no receive buffer.
-- ib-wire.md R-11.
test { id = "R-11-no-rnr", title = "READ, WRITE and atomics need no receive buffer", covers = { "R-11" } }

sub("READ and WRITE", function()
  local rc = open_rc { mtu = 256 }
  rc:write_message { psn = rc.own_psn(0), data = pattern(600) }
  rc:expect_ack { psn = rc.own_psn(2), msn = 1 }
  send { "RC_RDMA_READ_REQUEST", psn = rc.own_psn(3), reth = { dmalen = 600 } }
  rc:expect_read_response { psn = rc.own_psn(3), data = pattern(600), msn = 2 }
  rc:close()
end)

sub("FetchAdd", function()
  local rc = open_rc { mtu = 256 }
  if rc.responder_resources == 0 then skip "the DUT grants no responder resources" end
  rc.dut:write_memory(0, string.pack("<I8", 7))
  send { "RC_FETCH_ADD", psn = rc.own_psn(0), atomiceth = { swapdt = 1 } }
  expect { "RC_ATOMIC_ACKNOWLEDGE", psn = rc.own_psn(0), atomicacketh = { origremdt = 7 } }
  rc:close()
end)
