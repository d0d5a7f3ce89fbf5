-- Counters of PortCounters stay at their highest value. mad.md section 5.
test { id = "PM-counters-end", title = "PortCounters stay at their highest value", covers = { "5" }, needs = { mads = true, lid = true } }

local node = mad.node()
local port = node.type == "switch" and node.local_port or 1
local function counters(attribute, table, options)
  options = options or {}
  options.class, options.attribute = "Perf", attribute
  options[table] = options[table] or {}
  options[table].portselect = port
  return options
end

local function read() return mad.get(counters("PortCounters", "portcounters")).portcounters end
mad.set(counters("PortCounters", "portcounters",
                 { portcounters = { counterselect = 0xf000, portxmitdata = 0xffffff80, portrcvdata = 0xffffff80,
                                    portxmitpkts = 0xfffffffe, portrcvpkts = 0xfffffffe } }))
for _ = 1, 5 do mad.get { class = "Perf", attribute = "ClassPortInfo" } end
local now = read()
for _, name in ipairs { "portxmitdata", "portrcvdata", "portxmitpkts", "portrcvpkts" } do
  sub(name, function() check(name, now[name], 0xffffffff) end)
end
mad.set(counters("PortCounters", "portcounters", { portcounters = { counterselect = 0xf000 } }))
