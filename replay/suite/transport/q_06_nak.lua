-- After a sequence NAK everything from its PSN on is sent again, in order, with the same content; what stands before it is
-- acknowledged by the NAK. No timer is needed.
-- ib-wire.md Q-06, Q-10, R-09.
test { id = "Q-06-nak", title = "A sequence NAK makes the DUT resume at its PSN",
       covers = { "Q-06", "Q-10", "R-09", "C-01" } }

local function message(rc, from, data)
  local kinds = { "RC_SEND_FIRST", "RC_SEND_MIDDLE", "RC_SEND_MIDDLE", "RC_SEND_LAST" }
  for i = from, 3 do
    expect { kinds[i + 1], psn = rc.psn(i), payload = data:sub(i * 256 + 1, (i + 1) * 256) }
  end
end

for from = 0, 3 do
  sub("inside a SEND, S+" .. from, function()
    local rc   = open_rc { mtu = 256, ack_timeout = 0 }
    local data = pattern(4 * rc.mtu)
    rc.dut:post_send { data = data }
    message(rc, 0, data)
    rc:nak { psn = rc.psn(from), msn = 0 }
    message(rc, from, data)
    quiet()
    rc:acknowledge { psn = rc.psn(3), msn = 1 }
    rc.dut:expect_completion { status = "success" }
    rc:close { flushed = 0 }
  end)
end

sub("between WRITEs", function()
  local rc = open_rc { mtu = 256, ack_timeout = 0 }
  local posted = {}
  for i = 0, 3 do
    posted[i] = rc.dut:post_write { data = pattern(50, i) }
    rc:expect_write { psn = rc.psn(i), data = pattern(50, i) }
  end
  rc:nak { psn = rc.psn(2), msn = 2 }
  rc.dut:expect_completion { of = posted[0] }
  rc.dut:expect_completion { of = posted[1] }
  rc:expect_write { psn = rc.psn(2), data = pattern(50, 2) }
  rc:expect_write { psn = rc.psn(3), data = pattern(50, 3) }
  rc.dut:expect_no_completion()
  rc:acknowledge { psn = rc.psn(3), msn = 4 }
  rc.dut:expect_completion { of = posted[2] }
  rc.dut:expect_completion { of = posted[3] }
  rc:close { flushed = 0 }
end)

sub("PSNs wrap", function()
  local rc   = open_rc { mtu = 256, ack_timeout = 0, dut_psn = 0xfffffe }
  local data = pattern(4 * rc.mtu)
  rc.dut:post_send { data = data }
  message(rc, 0, data)
  rc:nak { psn = rc.psn(1), msn = 0 }
  message(rc, 1, data)
  rc:acknowledge { psn = rc.psn(3), msn = 1 }
  rc.dut:expect_completion { status = "success" }
  rc:close { flushed = 0 }
end)
