-- Many requests at once, READs and WRITEs mixed: answers come in the order of their PSNs, and everything is executed in
-- order, so that a READ sees the WRITE before it.
-- ib-wire.md R-01, R-04.
test { id = "R-01-pipeline", title = "Requests are executed and answered in order",
       covers = { "R-01", "R-02", "R-04" } }

local rc = open_rc { mtu = 256, responder_resources = 4 }
for i = 0, 2 do
  rc:write_message { psn = rc.own_psn(3 * i), data = pattern(300, i) }                          -- two packets
  send { "RC_RDMA_READ_REQUEST", psn = rc.own_psn(3 * i + 2), reth = { dmalen = 100 } }  -- one
end
for i = 0, 2 do
  -- The READ's response acknowledges the WRITE, too.
  maybe { "RC_ACKNOWLEDGE", psn = rc.own_psn(3 * i + 1), aeth = { ["syndrome.opcode"] = 0 } }
  expect { "RC_RDMA_READ_RESPONSE_ONLY", psn = rc.own_psn(3 * i + 2), payload = pattern(300, i):sub(1, 100) }
end
quiet()
rc:close()
