-- Packets of a message come one after the other, and nothing comes between them. What breaks this is refused with Invalid
-- Request.
-- ib-wire.md Q-04, Q-05, 4.4.
test { id = "Q-04-order-responder", title = "Wrong sequences of opcodes are refused",
       covers = { "Q-04", "Q-05", "R-10" } }

local function refused(packets)
  local rc = open_rc { mtu = 256 }
  rc.dut:post_receive { count = 2 }
  for i, p in ipairs(packets) do
    p.psn = rc.own_psn(i - 1)
    if i < #packets then p.a = 0 end
    send(p)
  end
  rc:expect_nak { psn = rc.own_psn(#packets - 1), msn = 0, syndrome = NAK_INVALID_REQUEST }
  rc.dut:expect_state "error"
  quiet()
  local first, second = rc.dut:expect_completion { receive = true, status = any, count = 2 }
  assert(first.status ~= "success" and second.status ~= "success", "a broken message is received")
  rc:close()
end

local full = pattern(256)
local function send_first() return { "RC_SEND_FIRST", payload = full } end
local function write_first() return { "RC_RDMA_WRITE_FIRST", reth = { dmalen = 768 }, payload = full } end

sub("SEND Middle alone",               function() refused { { "RC_SEND_MIDDLE", payload = full } } end)
sub("SEND Last alone",                 function() refused { { "RC_SEND_LAST", payload = full } } end)
sub("WRITE Middle alone",              function() refused { { "RC_RDMA_WRITE_MIDDLE", payload = full } } end)
sub("WRITE Last alone",                function() refused { { "RC_RDMA_WRITE_LAST", payload = full } } end)
sub("SEND First, SEND Only",           function() refused { send_first(), { "RC_SEND_ONLY", payload = full } } end)
sub("SEND First, SEND First",          function() refused { send_first(), send_first() } end)
sub("SEND First, WRITE Middle",        function() refused { send_first(), { "RC_RDMA_WRITE_MIDDLE", payload = full } } end)
sub("SEND First, WRITE Only",          function() refused { send_first(), { "RC_RDMA_WRITE_ONLY", payload = full } } end)
sub("WRITE First, SEND Last",          function() refused { write_first(), { "RC_SEND_LAST", payload = full } } end)
sub("WRITE First, WRITE Only",         function() refused { write_first(), { "RC_RDMA_WRITE_ONLY", payload = full } } end)
sub("SEND First, READ",                function() refused { send_first(), { "RC_RDMA_READ_REQUEST", reth = { dmalen = 8 } } } end)
sub("SEND First, Middle, WRITE First", function() refused { send_first(), { "RC_SEND_MIDDLE", payload = full }, write_first() } end)
