-- An ACK for a PSN that was never sent acknowledges nothing.
-- ib-wire.md R-04.
test { id = "R-04-ack-never-sent", title = "An ACK of what was never sent is ignored", covers = { "R-04", "C-01" } }

for _, ahead in ipairs { 1, 5, 0x7ffff0 } do
  sub(ahead .. " ahead", function()
    local rc = open_rc { mtu = 256 }
    rc.dut:post_send { data = pattern(20) }
    rc:expect_send { psn = rc.psn(0), data = pattern(20) }
    rc:acknowledge { psn = rc.psn(ahead), msn = 1 }
    rc.dut:expect_no_completion { within = "200 ms" }
    rc:acknowledge { psn = rc.psn(0), msn = 1 }
    rc.dut:expect_completion { status = "success" }
    rc:close { flushed = 0 }
  end)
end
