-- C14-024-05: GUIDInfo. Entry 0 of block 0 cannot be changed; the others can, up to GUIDCap; entries beyond it are ignored
-- and read 0, in all blocks 0 to 31. CTS class C14_024_05; mad.md 3.4.
test { id = "C14-024-05", title = "GUIDInfo", covers = { "C14-024#05", "MAD-RONOSET", "MAD-SETECHO" }, needs = { mads = true } }

local cap = mad.get { attribute = "PortInfo" }.portinfo.guidcap
if cap == 0 then not_applicable("GUIDCap is 0") end
local before = {}
for block = 0, 31 do before[block] = mad.get { attribute = "GUIDInfo", modifier = block, status = { 0, 7 } } end

sub("entries beyond GUIDCap read 0", function()
  for block = 0, 31 do
    if before[block].status == 0 then
      for i = 0, 7 do
        if 8 * block + i >= cap then check("entry " .. 8 * block + i, before[block].guidinfo.guid[i + 1], 0) end
      end
    end
  end
end)

sub("blocks up to GUIDCap are there", function()
  for block = 0, (cap - 1) // 8 do check("status code of block " .. block, before[block].status, 0) end
end)

sub("write and read back", function()
  local blocks = math.min(32, (cap + 7) // 8 + 1)  -- and one beyond
  for block = 0, blocks - 1 do
    local wanted = {}
    for i = 1, 8 do wanted[i] = 0x0002c9ff00000000 | block << 8 | i end
    mad.set { attribute = "GUIDInfo", modifier = block, guidinfo = { guid = wanted }, status = { 0, 7 } }
  end
  for block = 0, blocks - 1 do
    local now = mad.get { attribute = "GUIDInfo", modifier = block, status = { 0, 7 } }
    for i = 0, now.status == 0 and 7 or -1 do
      local entry, is = 8 * block + i, now.guidinfo.guid[i + 1]
      if entry == 0 then
        check("entry 0", is, before[0].guidinfo.guid[1])
      elseif entry < cap then
        check("entry " .. entry, is, 0x0002c9ff00000000 | block << 8 | i + 1)
      else
        check("entry " .. entry .. ", beyond GUIDCap", is, 0)
      end
    end
  end
end)

for block = 0, (cap - 1) // 8 do mad.set { attribute = "GUIDInfo", modifier = block, data = before[block].data, status = any } end
