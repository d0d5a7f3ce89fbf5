-- N3: a response is shorter or longer than it must be. The READ must not succeed. A DUT that goes on waiting is stopped by
-- its timer, so that every DUT comes to an error.
-- IBTA C9-60#05; ib-wire.md 7.4 N3, L-01, L-05.
test { id = "C09-060-05-N3", title = "A READ response of the wrong length is no success",
       covers = { "C9-60#05", "L-01", "L-05" } }

local function story(first, middle, last)
  local rc   = open_rc { mtu = 256, ack_timeout = 16, retry_count = 1 }
  local data = pattern(3 * rc.mtu)
  allow { retransmission = true }
  rc.dut:post_read { length = #data }
  expect { "RC_RDMA_READ_REQUEST", psn = rc.psn(0), reth = { dmalen = #data } }
  send { "RC_RDMA_READ_RESPONSE_FIRST",  psn = rc.psn(0), aeth = { syndrome = ACK, msn = 1 }, payload = data:sub(1, first) }
  send { "RC_RDMA_READ_RESPONSE_MIDDLE", psn = rc.psn(1), payload = data:sub(257, 256 + middle) }
  send { "RC_RDMA_READ_RESPONSE_LAST",   psn = rc.psn(2), aeth = { syndrome = ACK, msn = 1 }, payload = pattern(last, 3) }
  local c = rc.dut:expect_completion { status = any, within = "5 s" }
  assert(c.status ~= "success", "the READ succeeds with a response of the wrong length")
end

sub("Middle of P-4", function() story(256, 252, 256) end)
sub("First of P-4",  function() story(252, 256, 256) end)
sub("Last of P-4",   function() story(256, 256, 252) end)
sub("Last of P+4",   function() story(256, 256, 260) end)
