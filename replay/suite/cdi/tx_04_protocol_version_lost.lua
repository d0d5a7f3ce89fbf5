-- CDI-TX-04: ProtocolVersion without an Ack is sent again every 500 ms, 40 times in all, and then Reset of version 1.0.P. SDKs
-- before 2.4.1 send it 2 or 5 times. cdi-probe.md 3.3 rows T5 and T6, 3.2.
test { id = "CDI-TX-04", title = "ProtocolVersion without an Ack", covers = { "CDI-S05" }, needs = { cdi = "tx" } }

local rx = open_cdi_rx {}
rx:send { "Ack", of = rx:begin() }
local last = rx:expect { "ProtocolVersion", within = "100 ms" }
local times, probe = 1, last.cdi.probe_version_num
while true do
  last = rx:expect { "ProtocolVersion", "Reset", at = "500 ms", number = last.number + 1 & 0xffff }
  if last.command == "Reset" then break end
  times = times + 1
  if times > 60 then fail("ProtocolVersion was sent more than 60 times") end
end
check("how often ProtocolVersion was sent", times, probe >= 5 and 40 or { 2, 5 })
check("bytes of the Reset", last.bytes, 252)
