-- N6: the First response carries a NAK. Only an Acknowledge may, so that the READ must not succeed. A DUT that waits for
-- something better is stopped by its timer.
-- IBTA C9-60#05; ib-wire.md 7.4 N6, R-03.
test { id = "C09-060-05-N6", title = "A READ response with a NAK syndrome is no success",
       covers = { "C9-60#05", "R-03" } }

for _, syndrome in ipairs { NAK_SEQUENCE, NAK_REMOTE_ACCESS, RNR(1) } do
  sub(string.format("syndrome 0x%02x", syndrome), function()
    local rc   = open_rc { mtu = 256, ack_timeout = 16, retry_count = 1 }
    local data = pattern(2 * rc.mtu)
    allow { retransmission = true }
    rc.dut:post_read { length = #data }
    expect { "RC_RDMA_READ_REQUEST", psn = rc.psn(0) }
    send { "RC_RDMA_READ_RESPONSE_FIRST", psn = rc.psn(0), aeth = { syndrome = syndrome, msn = 1 }, payload = data:sub(1, 256) }
    send { "RC_RDMA_READ_RESPONSE_LAST",  psn = rc.psn(1), aeth = { syndrome = ACK, msn = 1 }, payload = data:sub(257) }
    local c = rc.dut:expect_completion { status = any, within = "10 s" }
    assert(c.status ~= "success", "the READ succeeds although its First response is a NAK")
  end)
end
