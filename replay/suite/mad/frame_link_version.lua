-- TD-10-2-4-1-3: a packet of an unknown link version is dropped. CATC IBTrainer manual of 2002; mad.md 8.4.
test { id = "TD-10-2-4-1-3", title = "A MAD of an unknown link version", covers = { "TD_10.2.4.1.3", "TD_10.3.1.1.3" }, needs = { mads = true } }

for version = 1, 15 do
  sub("LVer " .. version, function()
    mad.send { attribute = "NodeInfo", lrh = { lver = version } }
    mad.expect_no_answer { within = "100 ms" }
  end)
end
