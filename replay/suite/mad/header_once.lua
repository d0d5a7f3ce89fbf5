-- MAD-UNSOL: one answer for each request, also when many are under way. mad.md 9.2.
test { id = "MAD-once", title = "One answer for each request", covers = { "MAD-UNSOL" }, needs = { mads = true } }

local seen = 0
mad.pipeline {
  count = 100,
  request = function(i) return { attribute = i % 2 == 0 and "NodeInfo" or "NodeDescription", tries = 1 } end,
  answer = function() seen = seen + 1 end,
}
check("answers", seen, 100)
wait("50 ms")
