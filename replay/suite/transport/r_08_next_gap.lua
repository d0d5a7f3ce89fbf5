-- When what was missing has come, the next gap is answered with a NAK of its own.
-- ib-wire.md R-08.
test { id = "R-08-next-gap", title = "Every gap gets its NAK", covers = { "R-08" } }

local rc = open_rc { mtu = 256 }
for i = 0, 4, 2 do
  rc:write_message { psn = rc.own_psn(i + 1), data = pattern(20) }
  rc:expect_nak { psn = rc.own_psn(i), msn = i }
  rc:write_message { psn = rc.own_psn(i), data = pattern(20) }
  rc:expect_ack { psn = rc.own_psn(i), msn = i + 1 }
  rc:write_message { psn = rc.own_psn(i + 1), data = pattern(20) }
  rc:expect_ack { psn = rc.own_psn(i + 1), msn = i + 2 }
end
rc:close()
