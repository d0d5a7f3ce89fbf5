-- C14-9:2: only a switch sends directed-route SMPs on; a channel adapter discards what is not at its end. mad.md 2.2.
test { id = "SMP-ca-forward", title = "A channel adapter sends nothing on", covers = { "C14-9:2" }, needs = { mads = "ca" } }

for hops = 1, 2 do
  sub(hops .. " hops beyond it", function()
    local route = { table.unpack(mad.node().route) }
    for _ = 1, hops do table.insert(route, mad.node().local_port) end
    mad.send { class = "SubnDirectedRoute", attribute = "NodeInfo", route = route }
    mad.expect_no_answer { within = "200 ms" }
    mad.get { attribute = "NodeInfo" }
  end)
end
