-- MAD-QP0, MAD-VL15: SMPs are taken on QP 0 and VL 15 only. mad.md 1.5, 9.1.
test { id = "MAD-qp0", title = "SMPs on QP 0 and VL 15 only", covers = { "MAD-QP0", "MAD-VL15" }, needs = { mads = true } }

sub("QP 1", function()
  mad.send { attribute = "NodeInfo", bth = { destqp = 1 } }
  mad.expect_no_answer { within = "100 ms" }
end)
for _, vl in ipairs { 0, 1, 14 } do
  sub("VL " .. vl, function()
    mad.send { attribute = "NodeInfo", lrh = { vl = vl } }
    mad.expect_no_answer { within = "100 ms" }
  end)
end
