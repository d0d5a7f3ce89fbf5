-- An atomic with a wrong R_Key or outside the memory region is refused with Remote Access Error.
-- ib-wire.md R-20.
test { id = "R-20-access-atomic", title = "Atomics with a wrong R_Key or range are refused",
       covers = { "R-20" }, needs = { atomics = true } }

for _, opcode in ipairs { "RC_FETCH_ADD", "RC_CMP_SWAP" } do
  for _, where in ipairs { "unknown R_Key", "behind the region" } do
    sub(opcode .. ", " .. where, function()
      local rc = open_rc {}
      local target = where == "unknown R_Key" and { r_key = rc.remote_r_key ~ 0xffff00ff }
                     or { va = rc.remote_va + rc.remote_bytes + 0x10000 }
      target.swapdt = 1
      send { opcode, psn = rc.own_psn(0), a = 1, atomiceth = target }
      rc:expect_nak { psn = rc.own_psn(0), msn = 0, syndrome = NAK_REMOTE_ACCESS }
      rc.dut:expect_state "error"
      rc:close()
    end)
  end
end
