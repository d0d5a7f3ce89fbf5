-- SMP-HOPPTR, SMP-HOPCNT: a directed-route SMP whose hop pointer is beyond HopCount + 1, or whose hop count is beyond 63,
-- is discarded. C14-9:5; mad.md 2.2.
test { id = "SMP-hop-pointer", title = "Hop pointer and hop count out of range", covers = { "C14-9:5", "SMP-HOPPTR", "SMP-HOPCNT" },
       needs = { mads = true } }

for _, case in ipairs { { 3, 1 }, { 4, 1 }, { 255, 1 }, { 2, 0 } } do
  local pointer, count = case[1], case[2]
  sub(("pointer %d, count %d"):format(pointer, count), function()
    mad.send { class = "SubnDirectedRoute", attribute = "NodeInfo", mad = { hoppointer = pointer, hopcount = count } }
    mad.expect_no_answer { within = "200 ms" }
    mad.get { attribute = "NodeInfo" }
  end)
end
for _, case in ipairs { { 64, 64 }, { 65, 64 }, { 255, 255 } } do
  local pointer, count = case[1], case[2]
  sub(("pointer %d, count %d"):format(pointer, count), function()
    mad.send { class = "SubnDirectedRoute", attribute = "NodeInfo", mad = { hoppointer = pointer, hopcount = count } }
    mad.expect_no_answer { within = "200 ms" }
    mad.get { attribute = "NodeInfo" }
  end)
end
