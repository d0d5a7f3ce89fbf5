-- TD-17-1-2-1-1: the basic answer to a directed-route Get(NodeInfo). Assertions v1c14-008 to v1c14-011, as in the CATC
-- IBTrainer manual of 2002; rules SMP-DBIT, SMP-ECHODR, SMP-RETPATH, SMP-HOPLAST of mad.md 9.3. What LRH, BTH and DETH
-- must be like is looked at where the wire shows them.
test { id = "TD-17-1-2-1-1", title = "Basic directed-route answer", needs = { mads = true },
       covers = { "v1c14-008", "v1c14-009", "v1c14-010", "v1c14-011", "SMP-DBIT", "SMP-ECHODR", "SMP-RETPATH", "SMP-HOPLAST", "MAD-VL15" } }

local node = mad.node()
local request = mad.send { class = "SubnDirectedRoute", attribute = "NodeInfo" }
local asked = mad.sent(request)
local answer = mad.expect { to = request, status = 0 }

sub("header", function()
  check("base version", answer.mad.baseversion, 1)
  check("class version", answer.mad.classversion, 1)
  check("class", answer.mad.mgmtclass, 0x81)
  check("D", answer.mad.d, 1)
  check("bits 14:8 of the status", answer.status_word & 0x7f00, 0)
  check("transaction ID", answer.tid, request.tid)
  check("attribute ID", answer.attribute, 0x0011)
  check("attribute modifier", answer.modifier, 0)
end)

sub("route", function()
  local hops = asked.mad.hopcount
  check("hop count", answer.mad.hopcount, hops)
  check("DrSLID", answer.smpdirected.drslid, asked.smpdirected.drslid)
  check("DrDLID", answer.smpdirected.drdlid, asked.smpdirected.drdlid)
  assert(answer.smppaths.initialpath == asked.smppaths.initialpath, "the initial path of the answer is another one")
  -- A host interface moves the hop pointer of what arrives to 0 (C14-13:3).
  if hops > 0 then check("hop pointer", answer.mad.hoppointer, node.on_link and hops or 0) end
end)

sub("arrival port", function()
  if asked.mad.hopcount == 0 then skip("the tester's own node: nothing arrives at a port") end
  check("entry HopCount of the return path", answer.smppaths.returnpath:byte(asked.mad.hopcount + 1), answer.nodeinfo.localportnum)
end)

sub("packet", function()
  if not node.on_link then skip("the wire shows no LRH and BTH") end
  check("VL", answer.lrh.vl, 15)
  check("LVer", answer.lrh.lver, 0)
  check("SL", answer.lrh.sl, 0)
  check("LNH", answer.lrh.lnh, 2)
  check("DLID", answer.lrh.dlid, 0xffff)
  check("PktLen", answer.lrh.pktlen, 72)
  check("opcode", answer.bth.opcode, 0x64)
  check("PadCnt", answer.bth.padcnt, 0)
  check("TVer", answer.bth.tver, 0)
  check("destination QP", answer.bth.destqp, 0)
  check("source QP", answer.deth.srcqp, 0)
end)
