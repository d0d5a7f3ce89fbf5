-- UD: every datagram is one packet with the Q_Key and queue pair posted; PSNs count up. A Q_Key with bit 31 set is
-- privileged: the queue pair's own is sent instead.
-- IBTA 10.2.5; ib-wire.md U-03, U-04.
test { id = "U-04-ud-requester", title = "UD datagrams and their Q_Key", covers = { "U-03", "U-04", "Q-01" } }

local rc = open_ud { mtu = 1024, q_key = 0x00112233 }
rc.dut:post_send { data = pattern(100), q_key = 0x00445566 }
expect { "UD_SEND_ONLY", psn = rc.psn(0), deth = { q_key = 0x00445566, srcqp = rc.qpn }, payload = pattern(100) }
rc.dut:expect_completion { status = "success" }
rc.dut:post_send { data = pattern(101), q_key = 0x80000001 }
expect { "UD_SEND_ONLY", psn = rc.psn(1), deth = { q_key = rc.q_key, srcqp = rc.qpn }, payload = pattern(101) }
rc.dut:expect_completion { status = "success" }
rc.dut:post_send { data = pattern(102), immediate = 0x01020304 }
expect { "UD_SEND_ONLY_WITH_IMMEDIATE", psn = rc.psn(2), immdt = { data = 0x01020304 }, payload = pattern(102) }
rc.dut:expect_completion { status = "success" }
rc:close { flushed = 0 }
