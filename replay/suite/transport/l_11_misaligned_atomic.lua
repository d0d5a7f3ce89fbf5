-- An atomic at an address that 8 does not divide is refused with Invalid Request and not executed.
-- ib-wire.md L-11.
test { id = "L-11-misaligned-atomic", title = "Misaligned atomics are refused",
       covers = { "L-11" }, needs = { atomics = true } }

for _, opcode in ipairs { "RC_FETCH_ADD", "RC_CMP_SWAP" } do
  for _, offset in ipairs { 1, 4 } do
    sub(opcode .. " at " .. offset, function()
      local rc = open_rc {}
      rc.dut:write_memory(0, string.rep("\0", 16))
      send { opcode, psn = rc.own_psn(0), a = 1, atomiceth = { va = rc.remote_va + offset, swapdt = 1 } }
      rc:expect_nak { psn = rc.own_psn(0), msn = 0, syndrome = NAK_INVALID_REQUEST }
      rc.dut:expect_state "error"
      assert(rc.dut:memory(0, 16) == string.rep("\0", 16), "the atomic was executed")
      rc:close()
    end)
  end
end
