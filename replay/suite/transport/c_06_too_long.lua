-- A SEND longer than its receive buffer is refused with Invalid Request; the receive fails, and nothing is cut off silently.
-- ib-wire.md 4.4, C-06.
test { id = "C-06-too-long", title = "A SEND longer than its buffer is refused", covers = { "C-06", "R-10" } }

for _, length in ipairs { 200, 600 } do
  sub(length .. " bytes into 100", function()
    local rc = open_rc { mtu = 256 }
    rc.dut:post_receive { length = 100 }
    if length <= 256 then
      rc:send_message { psn = rc.own_psn(0), data = pattern(length) }
    else
      send { "RC_SEND_FIRST", psn = rc.own_psn(0), payload = pattern(256) }
    end
    rc:expect_nak { psn = rc.own_psn(0), msn = 0, syndrome = NAK_INVALID_REQUEST }
    local c = rc.dut:expect_completion { receive = true, status = any }
    assert(c.status ~= "success", "a message that does not fit is received")
    rc.dut:expect_state "error"
    rc:close()
  end)
end
