-- A SEND that finds no receive buffer posted is answered with an RNR NAK: its PSN, at least the time the queue pair was told,
-- nothing executed. When a buffer is there, the same SEND works.
-- ib-wire.md R-11, table 4.3.
test { id = "R-11-rnr", title = "A SEND without a receive buffer meets an RNR NAK", covers = { "R-11", "R-17" } }

for _, code in ipairs { 1, 14, 26 } do
  sub("minimum code " .. code, function()
    local rc   = open_rc { mtu = 256, min_rnr_timer = code }
    local data = pattern(100)
    rc:send_message { psn = rc.own_psn(0), data = data }
    local nak = expect { "RC_ACKNOWLEDGE", psn = rc.own_psn(0), aeth = { ["syndrome.opcode"] = 1, msn = 0 } }
    check("time the NAK asks for, ms", rnr_timer_ms(nak.aeth.syndrome & 31), { min = rnr_timer_ms(code) })
    quiet()
    rc.dut:post_receive()
    rc.dut:expect_no_completion()
    rc:send_message { psn = rc.own_psn(0), data = data }
    rc:expect_ack { psn = rc.own_psn(0), msn = 1 }
    rc.dut:expect_completion { receive = true, data = data }
    rc:close { flushed_receives = 0 }
  end)
end

sub("SEND of three packets", function()
  local rc   = open_rc { mtu = 256 }
  local data = pattern(3 * rc.mtu)
  rc:send_message { psn = rc.own_psn(0), data = data }
  expect { "RC_ACKNOWLEDGE", psn = rc.own_psn(0), aeth = { ["syndrome.opcode"] = 1, msn = 0 } }
  -- Middle and Last stand behind a gap now, of which some tell.
  maybe { "RC_ACKNOWLEDGE", psn = rc.own_psn(0), aeth = { syndrome = NAK_SEQUENCE, msn = 0 } }
  rc.dut:post_receive()
  rc:send_message { psn = rc.own_psn(0), data = data }
  rc:expect_ack { psn = rc.own_psn(2), msn = 1 }
  rc.dut:expect_completion { receive = true, data = data }
  rc:close()
end)
