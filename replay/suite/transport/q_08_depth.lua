-- No more READs and atomics are outstanding than the initiator depth; with the answer to one the next goes out.
-- ib-wire.md Q-08.
test { id = "Q-08-depth", title = "Outstanding READs keep to the initiator depth", covers = { "Q-08" } }

for _, depth in ipairs { 1, 2, 4 } do
  sub("depth " .. depth, function()
    local rc = open_rc { mtu = 256, initiator_depth = depth }
    rc.dut:post_read { count = depth + 2, length = 600 }
    for i = 0, depth - 1 do expect { "RC_RDMA_READ_REQUEST", psn = rc.psn(3 * i) } end
    quiet()
    for i = 0, depth + 1 do
      rc:respond_read { psn = rc.psn(3 * i), data = pattern(600, i), msn = i + 1 }
      rc.dut:expect_completion { data = pattern(600, i) }
      if i < 2 then expect { "RC_RDMA_READ_REQUEST", psn = rc.psn(3 * (depth + i)) } end
    end
    rc:close { flushed = 0 }
  end)
end
