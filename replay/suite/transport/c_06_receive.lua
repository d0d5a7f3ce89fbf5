-- A receive completes once, with the length and the bytes of the message, in the order the messages came.
-- ib-wire.md C-06.
test { id = "C-06-receive", title = "SENDs of every length arrive", covers = { "C-06", "L-01", "L-02", "L-03" } }

local rc  = open_rc { mtu = 256 }
local psn = rc.own_psn(0)
local lengths = { 1, 2, 3, 4, 5, 255, 256, 257, 512, 513, 1024, 3000 }
rc.dut:post_receive { count = #lengths + 1 }
for i, length in ipairs(lengths) do
  psn = rc:send_message { psn = psn, data = pattern(length, i) }
  rc:expect_ack { psn = psn - 1, msn = i }
  rc.dut:expect_completion { receive = true, bytes = length, data = pattern(length, i) }
end
rc.dut:expect_no_completion()
rc:close { flushed_receives = 1 }
