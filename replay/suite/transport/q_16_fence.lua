-- A fenced request waits until earlier READs and atomics are answered.
-- ib-wire.md Q-16 (10.8.3.3).
test { id = "Q-16-fence", title = "A fenced request waits for earlier READs", covers = { "Q-16" } }

sub("SEND behind a READ", function()
  local rc = open_rc { mtu = 256 }
  rc.dut:post_read { length = 512 }
  rc.dut:post_send { data = pattern(20), fence = true }
  expect { "RC_RDMA_READ_REQUEST", psn = rc.psn(0) }
  quiet()
  rc:respond_read { psn = rc.psn(0), data = pattern(512), msn = 1 }
  rc:expect_send { psn = rc.psn(2), data = pattern(20) }
  rc:acknowledge { psn = rc.psn(2), msn = 2 }
  rc.dut:expect_completion { count = 2 }
  rc:close { flushed = 0 }
end)

sub("SEND behind a SEND", function()  -- nothing to wait for
  local rc = open_rc { mtu = 256 }
  rc.dut:post_send { data = pattern(20) }
  rc.dut:post_send { data = pattern(21), fence = true }
  rc:expect_send { psn = rc.psn(0), data = pattern(20) }
  rc:expect_send { psn = rc.psn(1), data = pattern(21) }
  rc:acknowledge { psn = rc.psn(1), msn = 2 }
  rc.dut:expect_completion { count = 2 }
  rc:close { flushed = 0 }
end)
