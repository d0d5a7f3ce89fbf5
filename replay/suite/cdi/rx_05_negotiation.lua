-- CDI-RX-05: the version of the Ack of ProtocolVersion is the transmitter's, or the receiver's own where the transmitter's is
-- higher by its first two numbers. cdi-probe.md 3.6.
test { id = "CDI-RX-05", title = "The version agreed on", covers = { "CDI-A08", "CDI-V01" }, needs = { cdi = "rx" } }

for _, v in ipairs { { 1, 0, 5 }, { 2, 1, 4 }, { 2, 2, 6 }, { 2, 9, 9 }, { 3, 0, 0 } } do
  local version = v[1] .. "." .. v[2] .. "." .. v[3]
  sub(version, function()
    local tx = open_cdi_tx {}
    tx:allow { "Reset", number = 1, cdi = { requires_ack = 0 } }
    local own = tx:expect { "Ack", of = tx:send { "Reset" } }
    local lower = v[1] < own.cdi.version_num or v[1] == own.cdi.version_num and v[2] <= own.cdi.major_version_num
    local agreed = lower and version or own.version
    tx:expect { "Ack", of = tx:send { "ProtocolVersion", version = version }, version = agreed,
                bytes = agreed == "1.0.5" and 257 or 253 }
  end)
end
