-- READ responses whose kind does not fit their place: First, Middle, Last and Only stand where they belong, or the READ does
-- not succeed. A DUT that waits is stopped by its timer.
-- ib-wire.md L-05.
test { id = "L-05-response-position", title = "READ responses out of place are no success",
       covers = { "L-05", "R-03" } }

local function story(kinds)
  local rc   = open_rc { mtu = 256, ack_timeout = 16, retry_count = 1 }
  local data = pattern(3 * rc.mtu)
  allow { retransmission = true }
  rc.dut:post_read { length = #data }
  expect { "RC_RDMA_READ_REQUEST", psn = rc.psn(0) }
  for i, kind in ipairs(kinds) do
    send { "RC_RDMA_READ_RESPONSE_" .. kind, psn = rc.psn(i - 1), payload = data:sub((i - 1) * 256 + 1, i * 256),
           aeth = kind ~= "MIDDLE" and { syndrome = ACK, msn = 1 } or nil }
  end
  local c = rc.dut:expect_completion { status = any, within = "10 s" }
  assert(c.status ~= "success", "the READ succeeds")
end

sub("Last in the middle", function() story { "FIRST", "LAST" } end)
sub("Only at first",      function() story { "ONLY" } end)
sub("no Last",            function() story { "FIRST", "MIDDLE", "MIDDLE" } end)
