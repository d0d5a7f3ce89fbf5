-- C09-027: acknowledges are strongly ordered. All responses to a READ or atomic leave before the ACK of any later request.
-- IBTA C9-27; ib-wire.md 6.4 R-01.
test { id = "C09-027", title = "No ACK overtakes the responses to an earlier READ or atomic",
       covers = { "C9-27", "R-01", "R-02" } }

sub("READ, then SEND", function()
  local rc   = open_rc { mtu = 256 }
  local data = pattern(3 * rc.mtu)
  rc.dut:write_memory(0, data)
  rc.dut:post_receive()
  send { "RC_RDMA_READ_REQUEST", psn = rc.own_psn(0), reth = { dmalen = #data } }
  send { "RC_SEND_ONLY", psn = rc.own_psn(3), payload = pattern(64) }
  rc:expect_read_response { psn = rc.own_psn(0), data = data }
  rc:expect_ack { psn = rc.own_psn(3), msn = 2 }
  rc.dut:expect_completion { receive = true, data = pattern(64) }
  rc:close { flushed_receives = 0 }
end)

sub("READ, then WRITE", function()
  local rc   = open_rc { mtu = 256 }
  local data = pattern(5 * rc.mtu)
  rc.dut:write_memory(0, data)
  send { "RC_RDMA_READ_REQUEST", psn = rc.own_psn(0), reth = { dmalen = #data } }
  send { "RC_RDMA_WRITE_ONLY", psn = rc.own_psn(5), reth = { va = rc.remote_va + 0x2000 }, payload = pattern(64) }
  rc:expect_read_response { psn = rc.own_psn(0), data = data }
  rc:expect_ack { psn = rc.own_psn(5), msn = 2 }
  rc:close()
end)

sub("READ, READ, then SEND", function()
  local rc   = open_rc { mtu = 256, responder_resources = 4 }
  local data = pattern(2 * rc.mtu)
  rc.dut:write_memory(0, data)
  rc.dut:post_receive()
  send { "RC_RDMA_READ_REQUEST", psn = rc.own_psn(0), reth = { dmalen = #data } }
  send { "RC_RDMA_READ_REQUEST", psn = rc.own_psn(2), reth = { dmalen = #data } }
  send { "RC_SEND_ONLY", psn = rc.own_psn(4), payload = pattern(64) }
  rc:expect_read_response { psn = rc.own_psn(0), data = data }
  rc:expect_read_response { psn = rc.own_psn(2), data = data }
  rc:expect_ack { psn = rc.own_psn(4), msn = 3 }
  rc.dut:expect_completion { receive = true }
  rc:close()
end)
