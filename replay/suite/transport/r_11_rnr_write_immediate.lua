-- WRITE with Immediate needs a receive buffer for the immediate data; the RNR NAK is for its last packet.
-- ib-wire.md R-11.
test { id = "R-11-rnr-write-immediate", title = "WRITE with Immediate meets an RNR NAK", covers = { "R-11", "C-06" } }

sub("Only", function()
  local rc   = open_rc { mtu = 256 }
  local data = pattern(100)
  rc:write_message { psn = rc.own_psn(0), data = data, immediate = 0x12345678 }
  expect { "RC_ACKNOWLEDGE", psn = rc.own_psn(0), aeth = { ["syndrome.opcode"] = 1, msn = 0 } }
  rc.dut:post_receive()
  rc:write_message { psn = rc.own_psn(0), data = data, immediate = 0x12345678 }
  rc:expect_ack { psn = rc.own_psn(0), msn = 1 }
  rc.dut:expect_completion { receive = true, bytes = #data, immediate = 0x12345678 }
  rc:close()
end)

sub("Last", function()
  local rc   = open_rc { mtu = 256 }
  local data = pattern(2 * rc.mtu)
  rc:write_message { psn = rc.own_psn(0), data = data, immediate = 0x12345678 }
  expect { "RC_ACKNOWLEDGE", psn = rc.own_psn(1), aeth = { ["syndrome.opcode"] = 1, msn = 0 } }
  rc.dut:post_receive()
  send { "RC_RDMA_WRITE_LAST_WITH_IMMEDIATE", psn = rc.own_psn(1), immdt = { data = 0x12345678 }, payload = data:sub(257) }
  rc:expect_ack { psn = rc.own_psn(1), msn = 1 }
  rc.dut:expect_completion { receive = true, bytes = #data, immediate = 0x12345678 }
  assert(rc.dut:memory(0, #data) == data, "the data is not in memory")
  rc:close()
end)
