-- A MAD to a LID that is not the port's is not answered by it. mad.md 1.5; TD_10.10.1.1.1 of 8.4.
test { id = "MAD-lid", title = "A MAD to another LID", covers = { "1.5" }, needs = { mads = true, lid = true } }

local node = mad.node()
if not node.on_link then not_applicable("others answer to their LIDs") end
local lmc = mad.get { attribute = "PortInfo" }.portinfo.lmc
local covered = 1 << lmc
for _, lid in ipairs { node.lid - 1, node.lid + covered, 0xbfff } do
  if lid > 0 then
    sub("LID " .. lid, function()
      mad.send { class = "SubnLID", attribute = "NodeInfo", lid = lid }
      mad.expect_no_answer { within = "100 ms" }
    end)
  end
end
sub("its own", function()
  for lid = node.lid, node.lid + covered - 1 do mad.get { class = "SubnLID", attribute = "NodeInfo", lid = lid } end
end)
