-- A packet up to 2^23 behind is a duplicate, however old: acknowledged, not executed.
-- ib-wire.md 6.0, R-12.
test { id = "R-12-old-duplicate", title = "Very old packets are duplicates", covers = { "R-12" } }

for _, behind in ipairs { 1, 100, 0x7fffff } do
  sub(behind .. " behind", function()
    local rc = open_rc { mtu = 256, tester_psn = 3 }
    rc:write_message { psn = rc.own_psn(0), data = pattern(20, 1) }
    rc:expect_ack { psn = rc.own_psn(0), msn = 1 }
    rc:write_message { psn = rc.own_psn(1 - behind), data = pattern(20, 2) }
    maybe { "RC_ACKNOWLEDGE", psn = rc.own_psn(0), aeth = { ["syndrome.opcode"] = 0, msn = 1 } }
    assert(rc.dut:memory(0, 20) == pattern(20, 1), "an old packet was executed")
    rc:write_message { psn = rc.own_psn(1), data = pattern(20, 3) }
    rc:expect_ack { psn = rc.own_psn(1), msn = 2 }
    rc:close()
  end)
end
