-- An ACK carries the PSN of the packet it is for, when only one asks for it. When several ask, one ACK may serve for all; in
-- the end the last one is acknowledged, and no ACK goes back behind an earlier one.
-- ib-wire.md R-04, R-07.
test { id = "R-04-ack-psn", title = "ACKs carry the PSN of what they acknowledge", covers = { "R-04", "R-07", "R-17" } }

sub("one by one", function()
  local rc = open_rc { mtu = 256 }
  for i = 0, 3 do
    rc:write_message { psn = rc.own_psn(i), data = pattern(10) }
    rc:expect_ack { psn = rc.own_psn(i), msn = i + 1 }
  end
  quiet()
  rc:close()
end)

sub("the last of five packets", function()
  local rc = open_rc { mtu = 256 }
  rc:write_message { psn = rc.own_psn(0), data = pattern(5 * rc.mtu) }
  rc:expect_ack { psn = rc.own_psn(4), msn = 1 }
  quiet()
  rc:close()
end)

sub("many at once", function()
  local rc = open_rc { mtu = 256 }
  local wanted = {}
  for i = 0, 7 do
    rc:write_message { psn = rc.own_psn(i), data = pattern(10) }
    wanted[i + 1] = rc.own_psn(i)
  end
  local acked = -1
  while acked < 7 do
    local ack = expect { "RC_ACKNOWLEDGE", psn = wanted, aeth = { ["syndrome.opcode"] = 0 } }
    check("PSN of the ACK behind T", ack.psn - rc.own_psn(0), { min = acked + 1 })
    acked = ack.psn - rc.own_psn(0)
  end
  quiet()
  rc:close()
end)
