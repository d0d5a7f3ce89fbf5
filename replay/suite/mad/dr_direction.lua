-- SMP-DBIT: a request goes out with D 0. One with D 1 is none, and is discarded. mad.md 2.2, 9.3.
test { id = "SMP-direction", title = "A request with D 1", covers = { "SMP-DBIT" }, needs = { mads = true } }

for _, method in ipairs { "Get", "Set" } do
  sub(method, function()
    mad.send { class = "SubnDirectedRoute", attribute = "NodeInfo", method = method, mad = { d = 1 } }
    mad.expect_no_answer { within = "200 ms" }
    mad.get { attribute = "NodeInfo" }
  end)
end
