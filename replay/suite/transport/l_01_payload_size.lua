-- First and Middle carry exactly a path MTU; nothing carries more. What does not keep to this is refused with Invalid Request
-- and not executed.
-- ib-wire.md L-01, L-02, L-03.
test { id = "L-01-payload-size", title = "Packets of the wrong size are refused",
       covers = { "L-01", "L-02", "L-03", "R-10" } }

-- Plays packets; the last one must be refused. None asks for an ACK, so that nothing else comes.
local function refused(packets)
  local rc = open_rc { mtu = 256 }
  rc.dut:post_receive()
  for i, p in ipairs(packets) do
    p.psn, p.a = rc.own_psn(i - 1), 0
    send(p)
  end
  rc:expect_nak { psn = rc.own_psn(#packets - 1), msn = 0, syndrome = NAK_INVALID_REQUEST }
  rc.dut:expect_state "error"
  local c = rc.dut:expect_completion { receive = true, status = any }
  assert(c.status ~= "success", "a message with a packet of the wrong size is received")
  rc:close()
end

sub("SEND First of P-4",   function() refused { { "RC_SEND_FIRST", payload = pattern(252) } } end)
sub("SEND First of P+4",   function() refused { { "RC_SEND_FIRST", payload = pattern(260) } } end)
sub("SEND Middle of P-4",  function()
  refused { { "RC_SEND_FIRST", payload = pattern(256) }, { "RC_SEND_MIDDLE", payload = pattern(252) } }
end)
sub("SEND Last of P+4",    function()
  refused { { "RC_SEND_FIRST", payload = pattern(256) }, { "RC_SEND_LAST", payload = pattern(260) } }
end)
sub("SEND Only of P+4",    function() refused { { "RC_SEND_ONLY", payload = pattern(260) } } end)
sub("WRITE First of P-4",  function() refused { { "RC_RDMA_WRITE_FIRST", reth = { dmalen = 512 }, payload = pattern(252) } } end)
sub("WRITE Middle of P+4", function()
  refused { { "RC_RDMA_WRITE_FIRST", reth = { dmalen = 768 }, payload = pattern(256) },
            { "RC_RDMA_WRITE_MIDDLE", payload = pattern(260) } }
end)
sub("WRITE Only of P+4",   function() refused { { "RC_RDMA_WRITE_ONLY", payload = pattern(260) } } end)
