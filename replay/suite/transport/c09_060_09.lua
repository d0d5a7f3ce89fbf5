-- C09-060-09: a CmpSwap completes only with its ATOMIC Acknowledge; the next one stays open.
-- IBTA C9-60 (the public test cites #07 here, too); ib-wire.md 6.5 C-01, Q-03.
test { id = "C09-060-09", title = "A CmpSwap completes with its ATOMIC Acknowledge",
       covers = { "C9-60#07", "C-01", "Q-03" },
       needs = { atomics = true, initiator_depth = 2 } }

local rc = open_rc { ack_timeout = 0, initiator_depth = 2 }
local before = 0x0807060504030201

rc.dut:post_compare_swap { count = 2, va = 0x999008, rkey = 0x12345, compare = 17, swap = 42 }
expect { "RC_CMP_SWAP", psn = rc.psn(0), atomiceth = { va = 0x999008, r_key = 0x12345, swapdt = 42, cmpdt = 17 } }
expect { "RC_CMP_SWAP", psn = rc.psn(1), atomiceth = { swapdt = 42, cmpdt = 17 } }
rc.dut:expect_no_completion { within = "200 ms" }

send { "RC_ATOMIC_ACKNOWLEDGE", psn = rc.psn(0), aeth = { syndrome = ACK, msn = 1 }, atomicacketh = { origremdt = before } }
rc.dut:expect_completion { status = "success", original = before }
rc.dut:expect_no_completion { within = "1 s" }
rc:close { flushed = 1 }
