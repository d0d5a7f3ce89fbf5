-- When the acknowledge timer runs out, everything from the oldest packet that is not acknowledged is sent again, with the same
-- content.
-- ib-wire.md Q-06, Q-13.
test { id = "Q-06-timeout", title = "After a timeout the oldest unacknowledged packet is first",
       covers = { "Q-06", "Q-13" } }

sub("nothing acknowledged", function()
  local rc = open_rc { mtu = 256, ack_timeout = 14 }
  rc.dut:post_send { data = pattern(600) }
  rc.dut:post_write { data = pattern(300) }
  for _ = 1, 2 do
    rc:expect_send { psn = rc.psn(0), data = pattern(600), within = "5 s" }
    rc:expect_write { psn = rc.psn(3), data = pattern(300), within = "5 s" }
  end
  rc:acknowledge { psn = rc.psn(4), msn = 2 }
  rc.dut:expect_completion { count = 2 }
  rc:close { flushed = 0 }
end)

sub("a part acknowledged", function()
  local rc   = open_rc { mtu = 256, ack_timeout = 14 }
  local data = pattern(768)
  rc.dut:post_send { data = data }
  rc:expect_send { psn = rc.psn(0), data = data }
  rc:acknowledge { psn = rc.psn(0), msn = 0 }
  expect { "RC_SEND_MIDDLE", psn = rc.psn(1), payload = data:sub(257, 512), within = "5 s" }
  expect { "RC_SEND_LAST",   psn = rc.psn(2), payload = data:sub(513), within = "5 s" }
  rc:acknowledge { psn = rc.psn(2), msn = 1 }
  rc.dut:expect_completion { status = "success" }
  rc:close { flushed = 0 }
end)
