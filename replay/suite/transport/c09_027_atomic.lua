-- C09-027 for atomics: the ATOMIC Acknowledge leaves before the ACK of a later request.
-- IBTA C9-27; ib-wire.md 6.4 R-01.
test { id = "C09-027-atomic", title = "No ACK overtakes an ATOMIC Acknowledge", covers = { "C9-27", "R-01", "R-16" },
       needs = { atomics = true } }

local rc = open_rc { mtu = 256 }
rc.dut:write_memory(0, string.pack("<I8", 5))
rc.dut:post_receive()
send { "RC_FETCH_ADD", psn = rc.own_psn(0), atomiceth = { swapdt = 1 } }
send { "RC_SEND_ONLY", psn = rc.own_psn(1), payload = pattern(64) }
expect { "RC_ATOMIC_ACKNOWLEDGE", psn = rc.own_psn(0), atomicacketh = { origremdt = 5 } }
rc:expect_ack { psn = rc.own_psn(1), msn = 2 }
rc.dut:expect_completion { receive = true, data = pattern(64) }
rc:close { flushed_receives = 0 }
