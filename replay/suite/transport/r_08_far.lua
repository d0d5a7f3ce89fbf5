-- Ahead or behind is a matter of 24 bits: what is up to 2^23-1 ahead is a gap, also across the wrap.
-- ib-wire.md 6.0, R-08.
test { id = "R-08-far", title = "A gap across the wrap and a very long one", covers = { "R-08" } }

for _, ahead in ipairs { 1, 3, 0x1000, 0x7fffff } do
  sub(ahead .. " ahead", function()
    local rc = open_rc { mtu = 256, tester_psn = 0xfffffe }
    rc:write_message { psn = rc.own_psn(ahead), data = pattern(20) }
    rc:expect_nak { psn = rc.own_psn(0), msn = 0 }
    rc:write_message { psn = rc.own_psn(0), data = pattern(20) }
    rc:expect_ack { psn = rc.own_psn(0), msn = 1 }
    rc:close()
  end)
end
