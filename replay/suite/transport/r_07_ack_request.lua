-- Whoever asks is answered, also in the middle of a message; the MSN tells that it is not complete. Nobody owes an answer to
-- a packet that does not ask, but the next one that does is acknowledged.
-- ib-wire.md R-07, Q-15, 4.5.
test { id = "R-07-ack-request", title = "A packet with AckReq is acknowledged", covers = { "R-07", "R-17", "Q-15" } }

sub("First", function()
  local rc   = open_rc { mtu = 256 }
  local data = pattern(2 * rc.mtu)
  rc.dut:post_receive()
  send { "RC_SEND_FIRST", psn = rc.own_psn(0), a = 1, payload = data:sub(1, 256) }
  rc:expect_ack { psn = rc.own_psn(0), msn = 0 }
  send { "RC_SEND_LAST", psn = rc.own_psn(1), payload = data:sub(257) }
  rc:expect_ack { psn = rc.own_psn(1), msn = 1 }
  rc.dut:expect_completion { receive = true, data = data }
  rc:close()
end)

sub("none, then one", function()
  local rc = open_rc { mtu = 256 }
  send { "RC_RDMA_WRITE_ONLY", psn = rc.own_psn(0), a = 0, payload = pattern(8) }
  maybe { "RC_ACKNOWLEDGE", psn = rc.own_psn(0), aeth = { ["syndrome.opcode"] = 0, msn = 1 } }
  send { "RC_RDMA_WRITE_ONLY", psn = rc.own_psn(1), a = 1, payload = pattern(8) }
  rc:expect_ack { psn = rc.own_psn(1), msn = 2 }
  rc:close()
end)
