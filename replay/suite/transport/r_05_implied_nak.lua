-- A response to a later request while a READ lacks its own tells that it was lost: the READ goes out again, without a timer.
-- ib-wire.md R-05, R-09.
test { id = "R-05-implied-nak", title = "A later response makes an unanswered READ go out again",
       covers = { "R-05", "R-09", "Q-06" },
       needs = { initiator_depth = 2 } }

sub("ACK of a later SEND", function()
  local rc   = open_rc { mtu = 256, ack_timeout = 0 }
  local data = pattern(300)
  rc.dut:post_read { length = #data }
  rc.dut:post_send { data = pattern(20) }
  expect { "RC_RDMA_READ_REQUEST", psn = rc.psn(0) }
  rc:expect_send { psn = rc.psn(2), data = pattern(20) }
  rc:acknowledge { psn = rc.psn(2), msn = 2 }
  expect { "RC_RDMA_READ_REQUEST", psn = rc.psn(0), reth = { dmalen = #data } }
  maybe { "RC_SEND_ONLY", psn = rc.psn(2), payload = pattern(20) }  -- with what stands behind it, or not
  rc.dut:expect_no_completion()
  rc:respond_read { psn = rc.psn(0), data = data, msn = 2 }
  rc.dut:expect_completion { data = data }
  rc:acknowledge { psn = rc.psn(2), msn = 2 }
  rc.dut:expect_completion()
  rc:close { flushed = 0 }
end)

sub("response to a later READ", function()
  local rc = open_rc { mtu = 256, ack_timeout = 0, initiator_depth = 2 }
  rc.dut:post_read { count = 2, length = 100 }
  expect { "RC_RDMA_READ_REQUEST", psn = rc.psn(0) }
  expect { "RC_RDMA_READ_REQUEST", psn = rc.psn(1) }
  rc:respond_read { psn = rc.psn(1), data = pattern(100, 2), msn = 2 }
  expect { "RC_RDMA_READ_REQUEST", psn = rc.psn(0), reth = { dmalen = 100 } }
  maybe { "RC_RDMA_READ_REQUEST", psn = rc.psn(1) }
  rc.dut:expect_no_completion()
  rc:respond_read { psn = rc.psn(0), data = pattern(100, 1), msn = 2 }
  rc:respond_read { psn = rc.psn(1), data = pattern(100, 2), msn = 2 }
  rc.dut:expect_completion { data = pattern(100, 1) }
  rc.dut:expect_completion { data = pattern(100, 2) }
  rc:close { flushed = 0 }
end)
