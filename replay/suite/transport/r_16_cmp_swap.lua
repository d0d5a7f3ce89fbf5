-- CmpSwap returns what was there and swaps only if that equals the value to compare with.
-- ib-wire.md R-16.
test { id = "R-16-cmp-swap", title = "CmpSwap compares and swaps",
       covers = { "R-16", "R-17" }, needs = { atomics = true } }

local function story(before, compare, swap, after)
  local rc = open_rc {}
  rc.dut:write_memory(8, string.pack("<I8", before))
  send { "RC_CMP_SWAP", psn = rc.own_psn(0), atomiceth = { va = rc.remote_va + 8, cmpdt = compare, swapdt = swap } }
  expect { "RC_ATOMIC_ACKNOWLEDGE", psn = rc.own_psn(0), aeth = { ["syndrome.opcode"] = 0, msn = 1 },
           atomicacketh = { origremdt = before } }
  check("memory", string.unpack("<I8", rc.dut:memory(8, 8)), after)
  rc:close()
end

sub("equal",           function() story(0x0102030405060708, 0x0102030405060708, 99, 99) end)
sub("not equal",       function() story(0x0102030405060708, 0x0102030405060709, 99, 0x0102030405060708) end)
sub("high half alone", function() story(0x0100000000000000, 0x0200000000000000, 99, 0x0100000000000000) end)
