-- CDI-TX-01: a transmitter that hears nothing sends Reset every 2 s, for ever, each with the next number. cdi-probe.md 3.3 row
-- T2, 2.6, 3.6.
test { id = "CDI-TX-01", title = "Reset until somebody answers", covers = { "CDI-S01", "CDI-S02", "CDI-N01", "CDI-N02", "CDI-F07" },
       needs = { cdi = "tx" } }

local rx = open_cdi_rx {}
local first = rx:begin()
check("number of the first message seen", first.number, { min = 1 })
if first.number == 1 then
  check("version of the first Reset", first.cdi.version_num .. "." .. first.cdi.major_version_num, "1.0")
  check("bytes of the first Reset", first.bytes, 252)
else
  note("the transmitter has sent " .. first.number .. " messages before: its first Reset was not seen")
end
-- One that has given up a connection comes 1 s before the next, all others 2 s.
local last = rx:expect { "Reset", version = first.version, number = first.number + 1 & 0xffff, within = "3 s" }
for _ = 1, sampled() and 2 or 6 do
  last = rx:expect { "Reset", at = "2 s", version = first.version, number = last.number + 1 & 0xffff, bytes = first.bytes,
                     cdi = { requires_ack = 1, senders_control_dest_port = last.source_port } }
end
