-- UC WRITE: the total is what the RETH tells, or the message is dropped. Nobody is told of a wrong R_Key either.
-- ib-wire.md U-02, R-19.
test { id = "U-02-uc-write", title = "UC WRITEs of the wrong length or R_Key are dropped", covers = { "U-02", "R-19" } }

local function story(spoil)
  local rc   = open_uc { mtu = 256 }
  local data = pattern(600)
  rc.dut:post_receive { count = 3 }
  local packets = {
    { "UC_RDMA_WRITE_FIRST", psn = rc.own_psn(0), reth = { dmalen = 600 }, payload = data:sub(1, 256) },
    { "UC_RDMA_WRITE_MIDDLE", psn = rc.own_psn(1), payload = data:sub(257, 512) },
    { "UC_RDMA_WRITE_LAST_WITH_IMMEDIATE", psn = rc.own_psn(2), immdt = { data = 7 }, payload = data:sub(513) },
  }
  spoil(rc, packets)
  for _, p in ipairs(packets) do send(p) end
  rc.dut:expect_no_completion()
  rc:write_message { psn = rc.own_psn(3), data = data, immediate = 8 }
  rc.dut:expect_completion { receive = true, bytes = 600, immediate = 8 }
  assert(rc.dut:memory(0, 600) == data, "the good WRITE is not in memory")
  quiet()
  rc:close()
end

sub("less than told", function() story(function(_, p) p[3].payload = pattern(60) end) end)
sub("more than told", function() story(function(_, p) p[3].payload = pattern(120) end) end)
sub("wrong R_Key",    function() story(function(rc, p) p[1].reth.r_key = rc.remote_r_key ~ 0xffff00ff end) end)
