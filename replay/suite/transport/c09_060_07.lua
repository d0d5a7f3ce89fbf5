-- C09-060-07: a FetchAdd completes only with its ATOMIC Acknowledge; the next one stays open.
-- IBTA C9-60#07; ib-wire.md 6.5 C-01, Q-03.
test { id = "C09-060-07", title = "A FetchAdd completes with its ATOMIC Acknowledge",
       covers = { "C9-60#07", "C-01", "Q-03" },
       needs = { atomics = true, initiator_depth = 2 } }

local rc = open_rc { ack_timeout = 0, initiator_depth = 2 }
local before = 0x0102030405060708

rc.dut:post_fetch_add { count = 2, va = 0x999000, rkey = 0x12345, add = 0x1122334455667788 }
expect { "RC_FETCH_ADD", psn = rc.psn(0), atomiceth = { va = 0x999000, r_key = 0x12345, swapdt = 0x1122334455667788 } }
expect { "RC_FETCH_ADD", psn = rc.psn(1) }
rc.dut:expect_no_completion { within = "200 ms" }

send { "RC_ATOMIC_ACKNOWLEDGE", psn = rc.psn(0), aeth = { syndrome = ACK, msn = 1 }, atomicacketh = { origremdt = before } }
rc.dut:expect_completion { status = "success", original = before }
rc.dut:expect_no_completion { within = "1 s" }
rc:close { flushed = 1 }
