-- SENDs and WRITEs of every length: First and Middle are full, Last has the rest, Only is for what fits into one packet;
-- messages are not mixed. Pad and length fields are held against the rules by themselves.
-- ib-wire.md Q-04, L-01 to L-04, F-09, F-11.
test { id = "Q-04-messages", title = "SENDs and WRITEs of every length",
       covers = { "Q-04", "L-01", "L-02", "L-03", "L-04", "F-09", "F-10", "F-11" } }

local lengths = { 0, 1, 2, 3, 4, 5, 255, 256, 257, 511, 512, 513, 1024, 2047 }

sub("SEND", function()
  local rc  = open_rc { mtu = 256 }
  local psn = rc.psn(0)
  for i, length in ipairs(lengths) do
    rc.dut:post_send { data = pattern(length, i) }
    psn = rc:expect_send { psn = psn, data = pattern(length, i) }
    rc:acknowledge { psn = psn - 1, msn = i }
    rc.dut:expect_completion { status = "success" }
  end
  rc:close { flushed = 0 }
end)

sub("WRITE", function()
  local rc  = open_rc { mtu = 256 }
  local psn = rc.psn(0)
  for i, length in ipairs(lengths) do
    rc.dut:post_write { data = pattern(length, i), va = 0x123456789abc, rkey = 0xfedc0000 + i }
    psn = rc:expect_write { psn = psn, data = pattern(length, i), va = 0x123456789abc, rkey = 0xfedc0000 + i }
    rc:acknowledge { psn = psn - 1, msn = i }
    rc.dut:expect_completion { status = "success" }
  end
  rc:close { flushed = 0 }
end)

sub("MTU 1024", function()
  local rc = open_rc { mtu = 1024 }
  rc.dut:post_send { data = pattern(3000) }
  rc:expect_send { psn = rc.psn(0), data = pattern(3000) }
  rc:acknowledge { psn = rc.psn(2), msn = 1 }
  rc.dut:expect_completion { status = "success" }
  rc:close { flushed = 0 }
end)
