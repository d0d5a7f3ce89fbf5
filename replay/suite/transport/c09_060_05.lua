-- C09-060-05: a READ completes only after its Last response; the next READ stays open.
-- IBTA C9-60#05; ib-wire.md 7.2. PSNs below are relative to the DUT's first PSN.
test { id = "C09-060-05", title = "A READ completes after its Last response", covers = { "C9-60#05", "C-01", "Q-02" },
       needs = { initiator_depth = 2 } }

local function story(rc, msn)
  local data = pattern(3 * rc.mtu)
  local first, middle, last = data:sub(1, rc.mtu), data:sub(rc.mtu + 1, 2 * rc.mtu), data:sub(2 * rc.mtu + 1)

  rc.dut:post_read { count = 2, length = #data, va = 0x999000, rkey = 0x12345 }
  expect { "RC_RDMA_READ_REQUEST", psn = rc.psn(0), reth = { va = 0x999000, r_key = 0x12345, dmalen = #data } }
  expect { "RC_RDMA_READ_REQUEST", psn = rc.psn(3), reth = { dmalen = #data } }  -- a READ takes one PSN per response

  send { "RC_RDMA_READ_RESPONSE_FIRST",  psn = rc.psn(0), aeth = { syndrome = ACK, msn = msn }, payload = first }
  send { "RC_RDMA_READ_RESPONSE_MIDDLE", psn = rc.psn(1), payload = middle }
  rc.dut:expect_no_completion { within = "100 ms" }
  send { "RC_RDMA_READ_RESPONSE_LAST",   psn = rc.psn(2), aeth = { syndrome = ACK, msn = msn }, payload = last }

  rc.dut:expect_completion { status = "success", data = data }
  rc.dut:expect_no_completion { within = "1 s" }
  rc:close { flushed = 1 }
end

sub("one message at a time", function() story(open_rc { mtu = 256, ack_timeout = 0, initiator_depth = 2 }, 1) end)
-- Responses may tell of later messages that are complete already (ib-wire.md 4.5): only the PSN counts.
sub("MSN of both", function() story(open_rc { mtu = 256, ack_timeout = 0, initiator_depth = 2 }, 2) end)
sub("PSNs wrap", function()
  story(open_rc { mtu = 256, ack_timeout = 0, initiator_depth = 2, dut_psn = 0xfffffe }, 1)
end)
sub("MTU 1024", function() story(open_rc { mtu = 1024, ack_timeout = 0, initiator_depth = 2 }, 1) end)
