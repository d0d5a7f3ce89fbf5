-- BTH of requests: transport version 0, the connection's P_Key and queue pair, reserved bits 0, a good ICRC.
-- ib-wire.md F-01, F-06, F-12, F-13.
test { id = "Q-04-request-headers", title = "BTH of requests", covers = { "F-01", "F-06", "F-12", "F-13" } }

local rc = open_rc { mtu = 256 }
rc.dut:post_send { data = pattern(10) }
expect { "RC_SEND_ONLY", psn = rc.psn(0), tver = 0, p_key = rc.p_key, destqp = rc.tester_qpn, fecn = 0, becn = 0,
         reserved6 = 0, reserved7 = 0, se = 0 }
rc:acknowledge { psn = rc.psn(0), msn = 1 }
rc.dut:expect_completion { status = "success" }
rc:close()
