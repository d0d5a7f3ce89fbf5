-- ATOMIC WRITE stores 8 bytes and is answered with an empty READ response Only; again when it comes again, not stored again.
-- ib-wire.md R-15, R-16, L-08.
test { id = "R-16-atomic-write", title = "ATOMIC WRITE stores 8 bytes",
       covers = { "R-15", "R-16", "L-08" }, needs = { atomic_write = true } }

local rc = open_rc { mtu = 256 }
for i = 1, 2 do
  send { "RC_ATOMIC_WRITE", psn = rc.own_psn(0), reth = { dmalen = 8 }, payload = "12345678" }
  expect { "RC_RDMA_READ_RESPONSE_ONLY", psn = rc.own_psn(0), aeth = { ["syndrome.opcode"] = 0, msn = 1 }, payload_bytes = 0 }
  assert(rc.dut:memory(0, 8) == (i == 1 and "12345678" or "abcdefgh"), "not what must be in memory")
  rc.dut:write_memory(0, "abcdefgh")
end
rc:close()
