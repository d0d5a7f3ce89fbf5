-- An opcode that RC does not define is refused with Invalid Request, or dropped. It is never acknowledged, and never executed.
-- ib-wire.md F-07 (hfi1 refuses, Soft-RoCE drops).
test { id = "F-07-undefined-opcode", title = "Undefined opcodes are not acknowledged", covers = { "F-07" } }

for _, opcode in ipairs { 0x15, 0x18, 0x1b, 0x1e, 0x1f } do
  sub(string.format("0x%02x", opcode), function()
    local rc = open_rc { mtu = 256 }
    rc.dut:post_receive()
    rc:write_message { psn = rc.own_psn(0), data = pattern(8) }
    rc:expect_ack { psn = rc.own_psn(0), msn = 1 }
    send { opcode, psn = rc.own_psn(1), a = 1, payload = pattern(16) }
    if maybe { "RC_ACKNOWLEDGE", psn = rc.own_psn(1), aeth = { syndrome = NAK_INVALID_REQUEST, msn = 1 } } then
      rc.dut:expect_completion { receive = true, status = "wr_flush_err" }
    else
      quiet()
      rc:send_message { psn = rc.own_psn(1), data = pattern(40) }
      rc:expect_ack { psn = rc.own_psn(1), msn = 2 }
      rc.dut:expect_completion { receive = true, data = pattern(40) }
    end
    rc:close()
  end)
end
