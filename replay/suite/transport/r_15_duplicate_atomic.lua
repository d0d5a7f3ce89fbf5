-- An atomic that comes again is answered with the same original value and not executed again.
-- ib-wire.md R-15.
test { id = "R-15-duplicate-atomic", title = "An atomic that comes again is answered, not executed",
       covers = { "R-15", "R-16", "R-17" },
       needs = { atomics = true } }

local function story(opcode, operands, before, after)
  local rc = open_rc { mtu = 256 }
  rc.dut:write_memory(0, string.pack("<I8", before))
  local answer = { "RC_ATOMIC_ACKNOWLEDGE", psn = rc.own_psn(0), aeth = { ["syndrome.opcode"] = 0, msn = 1 },
                   atomicacketh = { origremdt = before } }
  for _ = 1, 3 do
    send { opcode, psn = rc.own_psn(0), a = 1, atomiceth = operands }
    expect(answer)
    check("memory", string.unpack("<I8", rc.dut:memory(0, 8)), after)
  end
  rc:write_message { psn = rc.own_psn(1), data = pattern(8) }
  rc:expect_ack { psn = rc.own_psn(1), msn = 2 }
  rc:close()
end

sub("FetchAdd", function() story("RC_FETCH_ADD", { swapdt = 5 }, 100, 105) end)
sub("CmpSwap",  function() story("RC_CMP_SWAP", { cmpdt = 100, swapdt = 7 }, 100, 7) end)
