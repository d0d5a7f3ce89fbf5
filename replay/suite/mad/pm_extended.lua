-- PortCountersExtended count what PortCounters count, in 64 bits, and are cleared by their own Set. mad.md 5.3.
test { id = "PM-extended", title = "PortCountersExtended", covers = { "5.3" }, needs = { mads = true, lid = true } }

local node = mad.node()
local port = node.type == "switch" and node.local_port or 1
local function counters(attribute, table, options)
  options = options or {}
  options.class, options.attribute = "Perf", attribute
  options[table] = options[table] or {}
  options[table].portselect = port
  return options
end

local function extended() return mad.get(counters("PortCountersExtended", "portcounters_ext", {})).portcounters_ext end
local function plain() return mad.get(counters("PortCounters", "portcounters")).portcounters end
local probe = mad.get(counters("PortCountersExtended", "portcounters_ext", { status = any }))
if probe.status ~= 0 then not_applicable("no PortCountersExtended: status code " .. probe.status) end

sub("as PortCounters", function()
  -- MADs that ask for the one are counted when the other is read: only what both grow by can be compared.
  local a, x = plain(), extended()
  for _ = 1, 20 do mad.get { class = "Perf", attribute = "ClassPortInfo" } end
  local b, y = plain(), extended()
  for _, name in ipairs { "portrcvpkts", "portxmitpkts", "portrcvdata", "portxmitdata" } do
    if b[name] ~= 0xffffffff then check(name .. " more", y[name] - x[name], b[name] - a[name]) end
  end
end)
sub("PortSelect", function() check("PortSelect", extended().portselect, port) end)
sub("cleared", function()
  for _ = 1, 20 do mad.get { class = "Perf", attribute = "ClassPortInfo" } end
  local before = extended()
  mad.set(counters("PortCountersExtended", "portcounters_ext", { portcounters_ext = { counterselect = 0x00ff } }))
  local now = extended()
  check("portrcvpkts", now.portrcvpkts, { max = before.portrcvpkts - 1 })
  check("portxmitdata", now.portxmitdata, { max = before.portxmitdata - 1 })
end)
