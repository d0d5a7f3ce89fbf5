-- N7: a plain ACK instead of the responses. A READ is acknowledged by its data and nothing else; the DUT may ask again.
-- IBTA C9-60#05; ib-wire.md 7.4 N7, R-05.
test { id = "C09-060-05-N7", title = "A READ does not complete on a plain ACK", covers = { "C9-60#05", "R-05" } }

-- Soft-RoCE is said to take the ACK of a READ of one packet (ib-wire.md R-05), so that both lengths have a verdict.
for _, packets in ipairs { 1, 3 } do
  sub(packets .. " packets", function()
    local rc   = open_rc { mtu = 256, ack_timeout = 0 }
    local data = pattern(packets * rc.mtu)
    allow { retransmission = true }
    rc.dut:post_read { length = #data }
    expect { "RC_RDMA_READ_REQUEST", psn = rc.psn(0), reth = { dmalen = #data } }
    rc:acknowledge { psn = rc.psn(packets - 1), msn = 1 }
    rc.dut:expect_no_completion { within = "500 ms" }
    rc:respond_read { psn = rc.psn(0), data = data }
    rc.dut:expect_completion { status = "success", data = data }
    rc:close { flushed = 0 }
  end)
end
