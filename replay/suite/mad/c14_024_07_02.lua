-- C14-024-07-02: P_KeyTable where external ports of a switch have none. Every Set and every Get is answered with status
-- code 7, for all block numbers and all ports. CTS class C14_024_07_02, v1c14-024.1.1#07.01 to #07.03; mad.md section 8.
--
-- "Status == 7" is the code in bits 4:2 (0x001C); D of a directed route is no part of it (8.2). PartitionEnforcementCap
-- other than 0 is no failure: the device then has tables (8.3).
test { id = "C14-024-07-02", title = "P_KeyTable of external ports that have none", covers = { "v1c14-024.1.1#07.01", "v1c14-024.1.1#07.02", "v1c14-024.1.1#07.03", "v1c14-027#01" },
       needs = { mads = "switch" } }

local cap = mad.get { attribute = "SwitchInfo" }.switchinfo.partitionenforcementcap
if cap ~= 0 then not_applicable("PartitionEnforcementCap is " .. cap .. ": external ports have tables of so many P_Keys") end
local ports = mad.get { attribute = "NodeInfo" }.nodeinfo.numports

-- Every block, or some of them; every port, and not port 0, which has a table.
local blocks = {}
if sampled() then
  blocks = { 0, 1, 2, 31, 32, 1023, 2047 }
else
  for block = 0, 2047 do table.insert(blocks, block) end
end
local keys = ("\xff\xff" .. ("\0"):rep(62))  -- what a Set would write; the test names none

-- Number i of the loop: blocks outside, ports inside, Set before Get.
local function at(i)
  local block = blocks[i // (2 * ports) + 1]
  local port = i // 2 % ports + 1
  return port << 16 | block, i % 2 == 0 and "Set" or "Get", port, block
end

local ported, other_bits = 0, 0
mad.pipeline {
  count = #blocks * ports * 2,
  request = function(i)
    local modifier, method = at(i)
    return { attribute = "P_KeyTable", modifier = modifier, method = method, data = method == "Set" and keys or nil,
             status = any, echo = false }
  end,
  answer = function(i, r)
    local modifier, method, port, block = at(i)
    local function same(what, got, wanted)
      if got ~= wanted then
        fail(("%s of block %d of port %d: %s: expected 0x%04x, got 0x%04x"):format(method, block, port, what, wanted, got))
      end
    end
    same("method", r.method, 0x81)
    same("attribute ID", r.attribute, 0x0016)
    same("attribute modifier, bits 15:0", r.modifier & 0xffff, block)
    if r.status == 3 then
      fail(("%s of block %d of port %d: status code 3 (no such attribute) instead of 7"):format(method, block, port))
    end
    same("status code", r.status, 7)
    if r.modifier ~= modifier then ported = ported + 1 end
    if r.status_word ~= 0x001c then other_bits = other_bits + 1 end
  end,
}
note((sampled() and "sampled: blocks 0, 1, 2, 31, 32, 1023 and 2047" or "all 2048 blocks") .. " of ports 1 to " .. ports ..
     ", Set and Get: " .. #blocks * ports * 2 .. " exchanges")
if ported > 0 then note("warning: " .. ported .. " answers carry another port in bits 31:16 of the attribute modifier") end
if other_bits > 0 then note("warning: " .. other_bits .. " answers have bits of the status set besides code 7") end
