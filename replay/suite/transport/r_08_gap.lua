-- A packet ahead of what is expected is discarded and answered with one NAK that names what is expected. What follows is
-- discarded without a word until that comes.
-- ib-wire.md R-08, 4.4.
test { id = "R-08-gap", title = "A gap is answered with exactly one NAK", covers = { "R-08", "R-17" } }

sub("SEND", function()
  local rc = open_rc { mtu = 256 }
  rc.dut:post_receive { count = 3 }
  rc:send_message { psn = rc.own_psn(0), data = pattern(20, 0) }
  rc:expect_ack { psn = rc.own_psn(0), msn = 1 }
  rc.dut:expect_completion { receive = true, data = pattern(20, 0) }

  rc:send_message { psn = rc.own_psn(2), data = pattern(20, 2) }  -- T+1 is missing
  rc:expect_nak { psn = rc.own_psn(1), msn = 1 }
  rc:send_message { psn = rc.own_psn(3), data = pattern(20, 3) }
  rc:send_message { psn = rc.own_psn(2), data = pattern(20, 2) }
  quiet()
  rc.dut:expect_no_completion()

  rc:send_message { psn = rc.own_psn(1), data = pattern(20, 1) }
  rc:expect_ack { psn = rc.own_psn(1), msn = 2 }
  rc:send_message { psn = rc.own_psn(2), data = pattern(20, 2) }
  rc:expect_ack { psn = rc.own_psn(2), msn = 3 }
  rc.dut:expect_completion { receive = true, data = pattern(20, 1) }
  rc.dut:expect_completion { receive = true, data = pattern(20, 2) }
  rc:close { flushed_receives = 0 }
end)

sub("inside a WRITE", function()
  local rc   = open_rc { mtu = 256 }
  local data = pattern(3 * rc.mtu)
  rc.dut:write_memory(0, string.rep("\0", #data))
  send { "RC_RDMA_WRITE_FIRST",  psn = rc.own_psn(0), reth = { dmalen = #data }, payload = data:sub(1, 256) }
  send { "RC_RDMA_WRITE_LAST",   psn = rc.own_psn(2), payload = data:sub(513) }
  rc:expect_nak { psn = rc.own_psn(1), msn = 0 }
  assert(rc.dut:memory(256, 512) == string.rep("\0", 512), "data of a packet behind the gap was written")
  send { "RC_RDMA_WRITE_MIDDLE", psn = rc.own_psn(1), payload = data:sub(257, 512) }
  send { "RC_RDMA_WRITE_LAST",   psn = rc.own_psn(2), payload = data:sub(513) }
  rc:expect_ack { psn = rc.own_psn(2), msn = 1 }
  assert(rc.dut:memory(0, #data) == data, "the WRITE did not arrive")
  rc:close()
end)

sub("READ", function()
  local rc   = open_rc { mtu = 256 }
  local data = pattern(512)
  rc.dut:write_memory(0, data)
  send { "RC_RDMA_READ_REQUEST", psn = rc.own_psn(1), reth = { dmalen = #data } }
  rc:expect_nak { psn = rc.own_psn(0), msn = 0 }
  quiet()
  send { "RC_RDMA_READ_REQUEST", psn = rc.own_psn(0), reth = { dmalen = #data } }
  rc:expect_read_response { psn = rc.own_psn(0), data = data, msn = 1 }
  rc:close()
end)
