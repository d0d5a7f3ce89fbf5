-- What is damaged, of another version or partition, for another queue pair or too short is dropped: no answer, nothing done.
-- The good packet with the same PSN works.
-- ib-wire.md R-19, F-01, F-06, F-08, F-13.
test { id = "R-19-silence", title = "Bad packets are dropped without an answer",
       covers = { "R-19", "F-01", "F-06", "F-08", "F-13" } }

local cases = {
  { "ICRC wrong in its first byte", function(_, p) p.icrc_xor = 0x01000000 end },
  { "ICRC wrong in its last bit",   function(_, p) p.icrc_xor = 0x00000001 end },
  { "TVer 1",                       function(_, p) p.tver = 1 end },
  { "another P_Key",                function(rc, p) p.p_key = rc.p_key ~ 0x0001 end },
  { "unknown queue pair",           function(rc, p) p.to = rc.qpn ~ 0x800000 end },
  { "no ICRC",                      function(_, p) p.cut = 4 end },
  { "half of it",                   function(_, p) p.cut = 30 end },
}
for _, case in ipairs(cases) do
  sub(case[1], function()
    local rc = open_rc { mtu = 256 }
    rc.dut:post_receive()
    rc:write_message { psn = rc.own_psn(0), data = pattern(8) }
    rc:expect_ack { psn = rc.own_psn(0), msn = 1 }
    local bad = { "RC_SEND_ONLY", psn = rc.own_psn(1), payload = pattern(40, 1) }
    case[2](rc, bad)
    send(bad)
    quiet()
    rc.dut:expect_no_completion()
    rc:send_message { psn = rc.own_psn(1), data = pattern(40, 2) }
    rc:expect_ack { psn = rc.own_psn(1), msn = 2 }
    rc.dut:expect_completion { receive = true, data = pattern(40, 2) }
    rc:close { flushed_receives = 0 }
  end)
end

-- The first packet of all is the wrong one: it must not count as what the connection is like.
for _, case in ipairs {
  { "another P_Key, first of all", "RC_SEND_ONLY", 0x0001 },
  { "another service, first of all", "UC_SEND_ONLY", 0 },
} do
  sub(case[1], function()
    local rc = open_rc { mtu = 256 }
    rc.dut:post_receive()
    send { case[2], psn = rc.own_psn(0), p_key = rc.p_key ~ case[3], payload = pattern(40, 1) }
    quiet()
    rc:send_message { psn = rc.own_psn(0), data = pattern(40, 2) }
    rc:expect_ack { psn = rc.own_psn(0), msn = 1 }
    rc.dut:expect_completion { receive = true, data = pattern(40, 2) }
    rc:close()
  end)
end

sub("WRITE that ends before its RETH", function()
  local rc = open_rc { mtu = 256 }
  send { "RC_RDMA_WRITE_ONLY", psn = rc.own_psn(0), headers = {}, payload = "12345678" }
  quiet()
  rc:write_message { psn = rc.own_psn(0), data = pattern(40) }
  rc:expect_ack { psn = rc.own_psn(0), msn = 1 }
  rc:close()
end)

sub("a packet of another service", function()
  local rc = open_rc { mtu = 256 }
  rc.dut:post_receive()
  rc:write_message { psn = rc.own_psn(0), data = pattern(8) }
  rc:expect_ack { psn = rc.own_psn(0), msn = 1 }
  send { "UC_SEND_ONLY", psn = rc.own_psn(1), payload = pattern(40, 1) }
  quiet()
  rc:send_message { psn = rc.own_psn(1), data = pattern(40, 2) }
  rc:expect_ack { psn = rc.own_psn(1), msn = 2 }
  rc.dut:expect_completion { receive = true, data = pattern(40, 2) }
  rc:close()
end)
