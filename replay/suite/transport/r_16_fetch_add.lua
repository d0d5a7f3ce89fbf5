-- FetchAdd returns what was there and adds modulo 2^64, in the byte order of the DUT's machine (little-endian here).
-- ib-wire.md R-16.
test { id = "R-16-fetch-add", title = "FetchAdd adds", covers = { "R-16", "R-17" }, needs = { atomics = true } }

for _, case in ipairs { { "small", 5, 3 }, { "nothing", 77, 0 }, { "carry", 0x00000000ffffffff, 1 }, { "wrap", -1, 2 },
                        { "minus one", 1000, -1 }, { "every byte", 0x0102030405060708, 0x1020304050607080 } } do
  sub(case[1], function()
    local rc = open_rc {}
    local before, add = case[2], case[3]
    rc.dut:write_memory(16, string.pack("<i8", before))
    send { "RC_FETCH_ADD", psn = rc.own_psn(0), atomiceth = { va = rc.remote_va + 16, swapdt = add } }
    local answer = expect { "RC_ATOMIC_ACKNOWLEDGE", psn = rc.own_psn(0), aeth = { ["syndrome.opcode"] = 0, msn = 1 } }
    check("original value", answer.atomicacketh.origremdt, before)
    check("sum in memory", string.unpack("<i8", rc.dut:memory(16, 8)), before + add)
    rc:close()
  end)
end
