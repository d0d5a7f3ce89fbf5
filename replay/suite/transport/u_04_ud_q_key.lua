-- UD: a packet with another Q_Key than the queue pair's is dropped without a word.
-- ib-wire.md U-04, R-19.
test { id = "U-04-ud-q-key", title = "UD drops packets with another Q_Key", covers = { "U-04", "R-19" } }

local rc = open_ud { mtu = 1024 }
rc.dut:post_receive()
send { "UD_SEND_ONLY", psn = rc.own_psn(0), deth = { q_key = rc.q_key ~ 1 }, payload = pattern(100, 1) }
rc.dut:expect_no_completion()
send { "UD_SEND_ONLY", psn = rc.own_psn(1), payload = pattern(100, 2) }
rc.dut:expect_completion { receive = true, data = pattern(100, 2) }
quiet()
rc:close { flushed_receives = 0 }
