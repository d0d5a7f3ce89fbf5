-- Every request packet takes the PSN behind the last, across the wrap; READs take one per response, atomics one.
-- ib-wire.md Q-01, Q-02, Q-03.
test { id = "Q-01-psn", title = "PSNs of requests count up",
       covers = { "Q-01", "Q-02", "Q-03" }, needs = { initiator_depth = 2, atomics = true } }

for _, start in ipairs { 0, 0xffffff, 0xfffffd, 0x7fffff } do
  sub(string.format("S = 0x%06x", start), function()
    local rc = open_rc { mtu = 256, initiator_depth = 2, dut_psn = start }
    rc.dut:post_send { data = pattern(10) }
    rc:expect_send { psn = rc.psn(0), data = pattern(10) }
    rc.dut:post_write { data = pattern(600) }
    rc:expect_write { psn = rc.psn(1), data = pattern(600) }
    rc.dut:post_read { length = 600 }
    expect { "RC_RDMA_READ_REQUEST", psn = rc.psn(4), reth = { dmalen = 600 } }
    rc.dut:post_fetch_add { add = 1 }
    expect { "RC_FETCH_ADD", psn = rc.psn(7) }
    rc.dut:post_send { data = pattern(10) }
    rc:expect_send { psn = rc.psn(8), data = pattern(10) }

    rc:acknowledge { psn = rc.psn(3), msn = 2 }
    rc.dut:expect_completion { count = 2 }
    rc:respond_read { psn = rc.psn(4), data = pattern(600), msn = 3 }
    rc.dut:expect_completion { data = pattern(600) }
    send { "RC_ATOMIC_ACKNOWLEDGE", psn = rc.psn(7), aeth = { syndrome = ACK, msn = 4 }, atomicacketh = { origremdt = 6 } }
    rc.dut:expect_completion { original = 6 }
    rc:acknowledge { psn = rc.psn(8), msn = 5 }
    rc.dut:expect_completion()
    rc:close { flushed = 0 }
  end)
end
