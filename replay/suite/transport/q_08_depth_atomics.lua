-- Atomics count as READs do.
-- ib-wire.md Q-08.
test { id = "Q-08-depth-atomics", title = "Outstanding atomics keep to the initiator depth",
       covers = { "Q-08", "Q-03" }, needs = { atomics = true } }

local rc = open_rc { initiator_depth = 1 }
rc.dut:post_fetch_add { add = 1 }
rc.dut:post_compare_swap { compare = 2, swap = 3 }
expect { "RC_FETCH_ADD", psn = rc.psn(0), atomiceth = { swapdt = 1 } }
quiet()
send { "RC_ATOMIC_ACKNOWLEDGE", psn = rc.psn(0), aeth = { syndrome = ACK, msn = 1 }, atomicacketh = { origremdt = 8 } }
expect { "RC_CMP_SWAP", psn = rc.psn(1), atomiceth = { cmpdt = 2, swapdt = 3 } }
send { "RC_ATOMIC_ACKNOWLEDGE", psn = rc.psn(1), aeth = { syndrome = ACK, msn = 2 }, atomicacketh = { origremdt = 9 } }
rc.dut:expect_completion { original = 8 }
rc.dut:expect_completion { original = 9 }
rc:close { flushed = 0 }
