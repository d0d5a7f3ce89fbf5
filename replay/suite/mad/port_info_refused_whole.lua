-- MAD-BADVALUE: when a Set of PortInfo is refused for one value, the others are not stored either. mad.md 9.2.
test { id = "SMP-port-info-refused", title = "A refused Set of PortInfo stores nothing", covers = { "MAD-BADVALUE" }, needs = { mads = true } }

local before = mad.get { attribute = "PortInfo" }
local p = before.portinfo
local answer = mad.set { attribute = "PortInfo", data = before.data, status = any,
                         portinfo = { portstate = 2, portphysicalstate = 0, mastersmlid = p.mastersmlid ~ 0x20 } }
if answer.status == 0 then not_applicable("it was not refused; C14-024-06-illegal is about that") end
local now = mad.get { attribute = "PortInfo" }.portinfo
if now.mastersmlid ~= p.mastersmlid then
  mad.set { attribute = "PortInfo", data = before.data, portinfo = { portstate = 0, portphysicalstate = 0 } }
end
check("MasterSMLID", now.mastersmlid, p.mastersmlid)
