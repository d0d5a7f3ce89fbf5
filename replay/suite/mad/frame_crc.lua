-- TD-10-2-4-1-1, TD-10-3-1-1-1: a MAD whose VCRC or ICRC is wrong is dropped. CATC IBTrainer manual of 2002; mad.md 8.4.
test { id = "TD-10-2-4-1-1", title = "A MAD with a wrong CRC", covers = { "TD_10.2.4.1.1", "TD_10.3.1.1.1" }, needs = { mads = true } }

for _, case in ipairs { { "VCRC", "variant" }, { "ICRC", "invariant" } } do
  for bit = 0, 15, 5 do
    sub(case[1] .. ", bit " .. bit, function()
      local good = mad.get { attribute = "NodeInfo" }
      local sent = mad.sent(mad.send { attribute = "NodeInfo", tid = 0x77 })
      mad.expect { status = 0 }
      mad.send { attribute = "NodeInfo", tid = 0x77, [case[2]] = { crc = sent[case[2]].crc ~ (1 << bit) } }
      mad.expect_no_answer { within = "100 ms" }
    end)
  end
end
