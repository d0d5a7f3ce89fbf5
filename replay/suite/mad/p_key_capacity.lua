-- SMP-PKBLK: P_KeyTable blocks of port 0 of a switch, and of a channel adapter, end at PartitionCap: a block that begins at or
-- beyond it is refused with status code 7, Set and Get alike. mad.md 3.6, 9.3; assertion v1c14-024.1.1#07.03.
test { id = "SMP-p-key-capacity", title = "P_KeyTable blocks beyond PartitionCap", covers = { "SMP-PKBLK", "v1c14-024.1.1#07.03" },
       needs = { mads = true } }

local cap = mad.get { attribute = "NodeInfo" }.nodeinfo.partitioncap
local blocks = (cap + 31) // 32
for block = 0, blocks - 1 do
  sub("block " .. block, function() mad.get { attribute = "P_KeyTable", modifier = block } end)
end
local last = sampled() and blocks + 8 or 2047
for _, method in ipairs { "get", "set" } do
  sub(method .. " beyond", function()
    mad.pipeline {
      count = last - blocks + 2,
      request = function(i)
        local block = i <= last - blocks and blocks + i or 2047
        return { attribute = "P_KeyTable", modifier = block, status = 7, method = method }
      end,
    }
    note("blocks " .. blocks .. " to " .. last)
  end)
end
