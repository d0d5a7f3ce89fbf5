-- A UD message larger than any port's MTU is not sent, not even in part.
-- IBTA C10-93.1.1; ib-wire.md L-10.
test { id = "L-10-ud-oversize", title = "A UD message larger than the MTU is not sent",
       covers = { "L-10", "C10-93.1.1" } }

local rc = open_ud { mtu = 1024 }
rc.dut:post_send { data = pattern(4097) }
quiet()
rc.dut:expect_completion { status = any }
rc.dut:post_send { data = pattern(100) }
expect { "UD_SEND_ONLY", payload = pattern(100) }
rc.dut:expect_completion { status = "success" }
rc:close()
