-- PortCounters: the port asked for is the port answered; packets and words of data are counted: a MAD takes 72 words, so that the
-- words grow by at least 72 a packet, and by no more than an MTU. mad.md 5, 5.2.
test { id = "PM-counters-count", title = "PortCounters count", covers = { "5.2" }, needs = { mads = true, lid = true } }

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
local times = 20
local before = read()
for _ = 1, times do mad.get { class = "Perf", attribute = "ClassPortInfo" } end
local after = read()

sub("PortSelect", function() check("PortSelect", after.portselect, port) end)
for _, way in ipairs { "rcv", "xmit" } do
  sub(way, function()
    local packets, words = "port" .. way .. "pkts", "port" .. way .. "data"
    if before[packets] == 0xffffffff or before[words] == 0xffffffff then skip("the counter has reached its end") end
    local more = after[packets] - before[packets]
    check(packets .. " more", more, { min = times })
    if after[words] ~= 0xffffffff then
      check(words .. " more", after[words] - before[words], { min = times * 72, max = more * 1050 })
      if more == times + 1 then check(words .. " more, of MADs alone", after[words] - before[words], more * 72) end
    end
  end)
end
