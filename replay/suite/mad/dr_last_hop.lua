-- C14-9:3, C14-9:4: at the end of its route an SMP is answered, whether the hop pointer is HopCount or HopCount + 1.
-- mad.md 2.2.
test { id = "SMP-last-hop", title = "The end of a directed route", covers = { "C14-9:3", "C14-9:4" }, needs = { mads = true, wire = "memory" } }

for _, pointer in ipairs { 1, 2 } do
  sub("pointer " .. pointer, function()
    local answer = mad.get { class = "SubnDirectedRoute", attribute = "NodeInfo", mad = { hoppointer = pointer, hopcount = 1 } }
    check("hop pointer of the answer", answer.mad.hoppointer, 1)
    check("hop count of the answer", answer.mad.hopcount, 1)
  end)
end
