-- CDI-TX-02: an Ack of another number or command than that of the last message is ignored, and the time of the next Reset
-- stays. cdi-probe.md 3.3 row T27.
test { id = "CDI-TX-02", title = "Acks that name another message", covers = { "CDI-A05", "CDI-S02" }, needs = { cdi = "tx" } }

local rx = open_cdi_rx {}
local before = rx:begin()
local reset = rx:expect { "Reset", within = "3 s" }
local wrong = {
  { "number + 5", function() return { frame = reset.frame, command = "Reset", number = reset.number + 5 & 0xffff } end },
  { "the number before", function() return { frame = reset.frame, command = "Reset", number = before.number } end },
  { "Ping", function() return { frame = reset.frame, command = "Ping", number = reset.number } end },
  { "ProtocolVersion", function() return { frame = reset.frame, command = "ProtocolVersion", number = reset.number } end },
}
for _, case in ipairs(wrong) do
  sub(case[1], function()
    rx:wait("1 s")
    rx:send { "Ack", of = case[2]() }
    before, reset = reset, rx:expect { "Reset", at = "2 s", since = reset }
  end)
end
