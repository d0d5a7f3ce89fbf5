-- MAD-QP1, MAD-QKEY, MAD-PKEY: other MADs are taken on QP 1 with its Q_Key 0x80010000, and with a P_Key that the port has.
-- mad.md 1.5, 9.1.
test { id = "MAD-qp1", title = "Performance MADs on QP 1 with the right keys", covers = { "MAD-QP1", "MAD-QKEY", "MAD-PKEY" },
       needs = { mads = true, lid = true } }

local function dropped(name, options)
  sub(name, function()
    options.class, options.attribute = "Perf", "ClassPortInfo"
    mad.send(options)
    mad.expect_no_answer { within = "100 ms" }
    mad.get { class = "Perf", attribute = "ClassPortInfo" }
  end)
end
dropped("QP 0", { bth = { destqp = 0 } })
for _, key in ipairs { 0, 0x80010001, 0x00010000 } do dropped(("Q_Key 0x%08x"):format(key), { deth = { q_key = key } }) end
dropped("P_Key 0x9234", { bth = { p_key = 0x9234 } })

sub("the answer", function()
  local answer = mad.get { class = "Perf", attribute = "ClassPortInfo" }
  if not mad.node().on_link then skip("the wire shows no LRH and DETH") end
  check("Q_Key", answer.deth.q_key, 0x80010000)
  check("source QP", answer.deth.srcqp, 1)
  check("destination QP", answer.bth.destqp, 1)
  assert(answer.lrh.vl ~= 15, "answered on VL 15")
end)
