-- CDI-TX-12: an Ack that would be right but for its checksum or length is ignored. cdi-probe.md 2.4, 2.7.
test { id = "CDI-TX-12", title = "Damaged Acks", covers = { "CDI-F01", "CDI-F02" }, needs = { cdi = "tx" } }

local rx = open_cdi_rx {}
rx:begin()
local reset = rx:expect { "Reset", within = "3 s" }
local damages = {
  { "checksum", { checksum_xor = 1 } }, { "checksum of the other byte order", { checksum_xor = 0xff00 } },
  { "one byte short", { cut = 1 } }, { "two bytes long", { cut = 251 } }, { "one byte more", { extend = 1 } },
}
for _, damage in ipairs(damages) do
  sub(damage[1], function()
    local ack = damage[2]
    ack[1], ack.of = "Ack", reset
    rx:send(ack)
    reset = rx:expect { "Reset", at = "2 s", since = reset }
  end)
end
