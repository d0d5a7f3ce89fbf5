-- A READ that was answered in part goes out again after a timeout, for all of it or for the rest: then PSN, address and length
-- move together, and the answers to the rest complete it.
-- ib-wire.md Q-07, C-03.
test { id = "Q-07-read-retry", title = "A READ sent again asks for what is missing",
       covers = { "Q-07", "C-03", "Q-13" } }

for _, lost in ipairs { 0, 1, 2, 3 } do
  sub(lost .. " responses arrived", function()
    local rc   = open_rc { mtu = 256, ack_timeout = 14 }
    local data = pattern(4 * rc.mtu - 10)
    rc.dut:post_read { length = #data, va = 0x999000, rkey = 0x12345 }
    expect { "RC_RDMA_READ_REQUEST", psn = rc.psn(0), reth = { va = 0x999000, dmalen = #data } }
    for i = 0, lost - 1 do
      local first = i == 0
      send { first and "RC_RDMA_READ_RESPONSE_FIRST" or "RC_RDMA_READ_RESPONSE_MIDDLE", psn = rc.psn(i),
             aeth = first and { syndrome = ACK, msn = 1 } or nil, payload = data:sub(i * 256 + 1, (i + 1) * 256) }
    end
    local again = expect { "RC_RDMA_READ_REQUEST", psn = { rc.psn(0), rc.psn(lost) }, within = "5 s" }
    local done  = (again.psn - rc.psn(0)) * rc.mtu
    check("VA", again.reth.va, 0x999000 + done)
    check("R_Key", again.reth.r_key, 0x12345)
    check("DMALen", again.reth.dmalen, #data - done)
    rc:respond_read { psn = again.psn, data = data:sub(done + 1) }
    rc.dut:expect_completion { data = data }
    rc:close { flushed = 0 }
  end)
end
