-- An ACK that is damaged, of another version or partition or for another queue pair completes nothing.
-- ib-wire.md F-01, F-06, F-13, R-19.
test { id = "R-19-bad-acks", title = "Bad ACKs complete nothing", covers = { "F-01", "F-06", "F-13", "R-19" } }

local cases = {
  { "ICRC wrong",         function(_, p) p.icrc_xor = 0x00000080 end },
  { "TVer 3",             function(_, p) p.tver = 3 end },
  { "another P_Key",      function(rc, p) p.p_key = rc.p_key ~ 0x0010 end },
  { "unknown queue pair", function(rc, p) p.to = rc.qpn ~ 0x800000 end },
  { "without AETH",       function(_, p) p.headers, p.aeth = {}, nil end },
}
for _, case in ipairs(cases) do
  sub(case[1], function()
    local rc = open_rc { mtu = 256 }
    rc.dut:post_send { data = pattern(20) }
    rc:expect_send { psn = rc.psn(0), data = pattern(20) }
    local bad = { "RC_ACKNOWLEDGE", psn = rc.psn(0), aeth = { syndrome = ACK, msn = 1 } }
    case[2](rc, bad)
    send(bad)
    rc.dut:expect_no_completion { within = "200 ms" }
    rc:acknowledge { psn = rc.psn(0), msn = 1 }
    rc.dut:expect_completion { status = "success" }
    rc:close { flushed = 0 }
  end)
end
