-- CDI-TX-13: what follows an Ack of ProtocolVersion has the version that both agree on: that of the Ack, or the own one where
-- the Ack's is higher by its first two numbers. Seen in the Reset that comes when nobody is Connected within 3 s.
-- cdi-probe.md 3.6, 3.3 rows T7, T10 and T13.
test { id = "CDI-TX-13", title = "The version agreed on", covers = { "CDI-V01", "CDI-V02" }, needs = { cdi = "tx" } }

local rx = open_cdi_rx {}
for _, v in ipairs { { 2, 1, 4 }, { 2, 2, 5 }, { 2, 3, 5 }, { 2, 3, 9 }, { 3, 0, 0 } } do
  local version = v[1] .. "." .. v[2] .. "." .. v[3]
  sub(version, function()
    local reset = rx:begin()
    rx:send { "Ack", of = reset }
    local pv = rx:expect { "ProtocolVersion", within = "100 ms", bytes = 248 }
    local own = pv.cdi
    local lower = v[1] < own.version_num or v[1] == own.version_num and v[2] <= own.major_version_num
    rx:send { "Ack", of = pv, version = version }
    rx:expect { "Reset", at = "3 s", version = lower and version or pv.version, bytes = 248 }
  end)
end
