-- As many atomics as the responder has resources are remembered: each is answered again with what it got.
-- ib-wire.md R-15.
test { id = "R-15-remembered", title = "Outstanding atomics are all remembered", covers = { "R-15" },
       needs = { atomics = true, responder_resources = 4 } }

local rc = open_rc { mtu = 256, responder_resources = 4 }
if rc.responder_resources < 4 then skip "the DUT grants fewer than 4 responder resources" end
rc.dut:write_memory(0, string.pack("<I8", 10))
for _ = 1, 2 do
  for i = 0, 3 do send { "RC_FETCH_ADD", psn = rc.own_psn(i), atomiceth = { swapdt = 1 } } end
  for i = 0, 3 do expect { "RC_ATOMIC_ACKNOWLEDGE", psn = rc.own_psn(i), atomicacketh = { origremdt = 10 + i } } end
end
check("memory", string.unpack("<I8", rc.dut:memory(0, 8)), 14)
rc:close()
