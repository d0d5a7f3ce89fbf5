-- READ and WRITE of no bytes touch nothing, so that neither R_Key nor address is looked at. Each takes a PSN and counts as a
-- message, as a SEND of no bytes does.
-- IBTA C9-88; ib-wire.md L-09.
test { id = "L-09-zero-length", title = "Messages of no bytes", covers = { "L-09", "C9-88", "R-17" } }

sub("SEND", function()
  local rc = open_rc {}
  rc.dut:post_receive()
  rc:send_message { psn = rc.own_psn(0), data = "" }
  rc:expect_ack { psn = rc.own_psn(0), msn = 1 }
  rc.dut:expect_completion { receive = true, bytes = 0 }
  rc:close { flushed_receives = 0 }
end)

for _, case in ipairs { "valid R_Key", "invalid R_Key" } do
  sub("WRITE, " .. case, function()
    local rc = open_rc {}
    local key = case == "valid R_Key" and rc.remote_r_key or rc.remote_r_key ~ 0xffff00ff
    rc:write_message { psn = rc.own_psn(0), data = "", va = 0, rkey = key }
    rc:expect_ack { psn = rc.own_psn(0), msn = 1 }
    rc:close()
  end)
  sub("READ, " .. case, function()
    local rc = open_rc {}
    local key = case == "valid R_Key" and rc.remote_r_key or rc.remote_r_key ~ 0xffff00ff
    send { "RC_RDMA_READ_REQUEST", psn = rc.own_psn(0), reth = { va = 0, r_key = key, dmalen = 0 } }
    rc:expect_read_response { psn = rc.own_psn(0), data = "", msn = 1 }
    rc:write_message { psn = rc.own_psn(1), data = pattern(8) }
    rc:expect_ack { psn = rc.own_psn(1), msn = 2 }
    rc:close()
  end)
end
