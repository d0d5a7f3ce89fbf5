-- PortCounters: a Set writes the counters that CounterSelect names, and leaves the others. mad.md section 5, 5.2.
test { id = "PM-counters-set", title = "Set of PortCounters writes what CounterSelect names", covers = { "5", "5.2" }, needs = { mads = true, lid = true } }

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
local function write(select, values)
  values.counterselect = select
  mad.set(counters("PortCounters", "portcounters", { portcounters = values }))
end
-- Bit of CounterSelect, name, largest value.
local errors = { { 0, "symbolerrorcounter", 0xffff }, { 1, "linkerrorrecoverycounter", 0xff }, { 2, "linkdownedcounter", 0xff },
                 { 3, "portrcverrors", 0xffff }, { 4, "portrcvremotephysicalerrors", 0xffff }, { 5, "portrcvswitchrelayerrors", 0xffff },
                 { 6, "portxmitdiscards", 0xffff }, { 7, "portxmitconstrainterrors", 0xff }, { 8, "portrcvconstrainterrors", 0xff },
                 { 9, "locallinkintegrityerrors", 0xf }, { 10, "excessivebufferoverrunerrors", 0xf } }

sub("cleared", function()
  write(0x07ff, {})
  local now = read()
  for _, e in ipairs(errors) do check(e[2], now[e[2]], 0) end
end)
sub("one by one", function()
  for _, e in ipairs(errors) do
    write(1 << e[1], { symbolerrorcounter = 3, linkerrorrecoverycounter = 3, linkdownedcounter = 3, portrcverrors = 3,
                       portrcvremotephysicalerrors = 3, portrcvswitchrelayerrors = 3, portxmitdiscards = 3, portxmitconstrainterrors = 3,
                       portrcvconstrainterrors = 3, locallinkintegrityerrors = 3, excessivebufferoverrunerrors = 3 })
    local now = read()
    for _, other in ipairs(errors) do check(other[2], now[other[2]], other == e and 3 or 0) end
    write(1 << e[1], {})
  end
end)
sub("the highest value", function()
  for _, e in ipairs(errors) do
    write(1 << e[1], { [e[2]] = e[3] })
    check(e[2], read()[e[2]], e[3])
    write(1 << e[1], {})
  end
end)
sub("data and packets", function()
  write(0xf000, {})
  local now = read()
  for _, name in ipairs { "portxmitdata", "portrcvdata" } do check(name, now[name], { max = 100000 }) end
  for _, name in ipairs { "portxmitpkts", "portrcvpkts" } do check(name, now[name], { max = 1000 }) end
end)
