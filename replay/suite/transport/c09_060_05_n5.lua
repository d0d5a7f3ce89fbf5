-- N5: the Last response goes to another queue pair, has another P_Key or an unknown transport version. Ignored.
-- IBTA C9-60#05; ib-wire.md 7.4 N5, F-06, F-13, R-19.
test { id = "C09-060-05-N5", title = "A READ response that is not for this connection counts for nothing",
       covers = { "C9-60#05", "F-06", "F-13", "R-19" } }

local function story(spoil)
  local rc   = open_rc { mtu = 256, ack_timeout = 0 }
  local data = pattern(2 * rc.mtu)
  rc.dut:post_read { length = #data }
  expect { "RC_RDMA_READ_REQUEST", psn = rc.psn(0) }
  send { "RC_RDMA_READ_RESPONSE_FIRST", psn = rc.psn(0), aeth = { syndrome = ACK, msn = 1 }, payload = data:sub(1, 256) }
  local bad = { "RC_RDMA_READ_RESPONSE_LAST", psn = rc.psn(1), aeth = { syndrome = ACK, msn = 1 }, payload = pattern(256, 9) }
  spoil(rc, bad)
  send(bad)
  rc.dut:expect_no_completion { within = "500 ms" }
  send { "RC_RDMA_READ_RESPONSE_LAST", psn = rc.psn(1), aeth = { syndrome = ACK, msn = 1 }, payload = data:sub(257) }
  rc.dut:expect_completion { status = "success", data = data }
  rc:close { flushed = 0 }
end

sub("unknown queue pair", function() story(function(rc, p) p.to = rc.qpn ~ 0x800000 end) end)
sub("another P_Key",      function() story(function(rc, p) p.p_key = rc.p_key ~ 0x0001 end) end)
sub("TVer 1",             function() story(function(_, p) p.tver = 1 end) end)
