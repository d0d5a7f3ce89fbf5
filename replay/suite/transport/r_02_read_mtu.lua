-- READ responses at the larger path MTUs.
-- ib-wire.md L-01, L-05.
test { id = "R-02-read-mtu", title = "READ responses at path MTU 2048 and 4096", covers = { "R-02", "L-01", "L-05" },
       needs = { mtu = 4096 } }

for _, mtu in ipairs { 2048, 4096 } do
  sub("MTU " .. mtu, function()
    local rc   = open_rc { mtu = mtu }
    local data = pattern(2 * mtu + 1)
    rc.dut:write_memory(0, data)
    send { "RC_RDMA_READ_REQUEST", psn = rc.own_psn(0), reth = { dmalen = #data } }
    rc:expect_read_response { psn = rc.own_psn(0), data = data, msn = 1 }
    rc:close()
  end)
end
