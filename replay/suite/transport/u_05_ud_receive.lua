-- UD: a receive completes with the length of the message and 40 bytes for the GRH, behind which the data stands. PSNs do not
-- matter.
-- ib-wire.md U-03, U-05, C-06.
test { id = "U-05-ud-receive", title = "UD messages arrive behind room for a GRH", covers = { "U-03", "U-05", "C-06" } }

local rc = open_ud { mtu = 1024 }
rc.dut:post_receive { count = 6 }
for i, length in ipairs { 0, 1, 3, 100, 1000 } do
  send { "UD_SEND_ONLY", psn = rc.own_psn(5 - i), payload = pattern(length, i) }
  rc.dut:expect_completion { receive = true, bytes = length + 40, data = pattern(length, i) }
end
send { "UD_SEND_ONLY_WITH_IMMEDIATE", psn = rc.own_psn(9), immdt = { data = 0x01020304 }, payload = pattern(20) }
rc.dut:expect_completion { receive = true, bytes = 60, data = pattern(20), immediate = 0x01020304 }
quiet()
rc:close { flushed_receives = 0 }
