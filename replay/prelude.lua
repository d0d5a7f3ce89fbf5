-- Functions of connections that are made of other functions: whole messages instead of packets. They run in the script's
-- sandbox; what they do is reported at the line that called them. Returns the functions by name, and their options.

local methods, known = {}, {}

-- `options` that begin with ! must be given.
local function method(name, options, run)
  local is_known, required, names = {}, {}, {}
  for _, option in ipairs(options) do
    local must = option:sub(1, 1) == "!"
    local plain = must and option:sub(2) or option
    is_known[plain] = true
    table.insert(names, plain)
    if must then table.insert(required, plain) end
  end
  known[name] = names
  methods[name] = function(rc, given)
    given = given or {}
    for key in pairs(given) do
      if not is_known[key] then error(name .. " has no option " .. tostring(key), 2) end
    end
    for _, option in ipairs(required) do
      if given[option] == nil then error(name .. ": " .. option .. " is missing", 2) end
    end
    return run(rc, given)
  end
end

local function packets_of(bytes, mtu)
  return math.max(1, (bytes + mtu - 1) // mtu)
end

-- "FIRST", "MIDDLE", "LAST" or "ONLY" for packet i of n.
local function place(i, n)
  if n == 1 then return "ONLY" end
  return i == 1 and "FIRST" or i == n and "LAST" or "MIDDLE"
end

local services = { SEND = "SEND", WRITE = "RDMA_WRITE" }

-- Answers a READ with all its response packets.
method("respond_read", { "!psn", "!data", "msn", "syndrome" }, function(rc, o)
  local n = packets_of(#o.data, rc.mtu)
  for i = 1, n do
    local where = place(i, n)
    rc:send { "RC_RDMA_READ_RESPONSE_" .. where, psn = o.psn + (i - 1),
              aeth = where ~= "MIDDLE" and { syndrome = o.syndrome or ACK, msn = o.msn or 1 } or nil,
              payload = o.data:sub((i - 1) * rc.mtu + 1, i * rc.mtu) }
  end
end)

method("acknowledge", { "!psn", "msn", "syndrome" }, function(rc, o)
  return rc:send { "RC_ACKNOWLEDGE", psn = o.psn, aeth = { syndrome = o.syndrome or ACK, msn = o.msn or 1 } }
end)

method("nak", { "!psn", "msn", "syndrome" }, function(rc, o)
  return rc:send { "RC_ACKNOWLEDGE", psn = o.psn, aeth = { syndrome = o.syndrome or NAK_SEQUENCE, msn = o.msn or 0 } }
end)

local function opcode(rc, kind, where, o)
  local ends = where == "LAST" or where == "ONLY"
  return rc.service .. "_" .. services[kind] .. "_" .. where ..
         (ends and o.immediate and "_WITH_IMMEDIATE" or ends and o.invalidate and "_WITH_INVALIDATE" or "")
end

-- A whole SEND or WRITE from the tester. Returns one PSN past the last.
local function send_message(kind)
  return function(rc, o)
    local data = o.data or ""
    local n = packets_of(#data, rc.mtu)
    for i = 1, n do
      local where = place(i, n)
      local ends, begins = i == n, i == 1
      rc:send { opcode(rc, kind, where, o), psn = o.psn + (i - 1), payload = data:sub((i - 1) * rc.mtu + 1, i * rc.mtu),
                reth = kind == "WRITE" and begins and
                       { va = o.va or rc.remote_va, r_key = o.rkey or rc.remote_r_key, dmalen = #data } or nil,
                immdt = ends and o.immediate and { data = o.immediate } or nil,
                ieth = ends and o.invalidate and { r_key = o.invalidate } or nil }
    end
    return o.psn + n
  end
end
method("send_message", { "!psn", "data", "immediate", "invalidate" }, send_message("SEND"))
method("write_message", { "!psn", "data", "va", "rkey", "immediate" }, send_message("WRITE"))

-- A whole SEND or WRITE from the DUT, packet by packet. Returns one PSN past the last.
local function expect_message(kind)
  return function(rc, o)
    local data = o.data or ""
    local n = packets_of(#data, rc.mtu)
    for i = 1, n do
      local ends, begins = i == n, i == 1
      local reth = nil
      if kind == "WRITE" and begins then reth = { va = o.va, r_key = o.rkey, dmalen = #data } end
      rc:expect { opcode(rc, kind, place(i, n), o), psn = o.psn + (i - 1), reth = reth,
                  payload = data:sub((i - 1) * rc.mtu + 1, i * rc.mtu),
                  immdt = ends and o.immediate and { data = o.immediate } or nil,
                  ieth = ends and o.invalidate and { r_key = o.invalidate } or nil, within = o.within }
    end
    return o.psn + n
  end
end
method("expect_send", { "!psn", "data", "immediate", "invalidate", "within" }, expect_message("SEND"))
method("expect_write", { "!psn", "data", "va", "rkey", "immediate", "within" }, expect_message("WRITE"))

-- All responses to a READ that the tester sent.
method("expect_read_response", { "!psn", "!data", "msn", "within" }, function(rc, o)
  local n = packets_of(#o.data, rc.mtu)
  for i = 1, n do
    local where = place(i, n)
    rc:expect { "RC_RDMA_READ_RESPONSE_" .. where, psn = o.psn + (i - 1),
                aeth = where ~= "MIDDLE" and { ["syndrome.opcode"] = 0, msn = o.msn } or nil,
                payload = o.data:sub((i - 1) * rc.mtu + 1, i * rc.mtu), within = o.within }
  end
end)

method("expect_ack", { "!psn", "msn", "within" }, function(rc, o)
  return rc:expect { "RC_ACKNOWLEDGE", psn = o.psn, aeth = { ["syndrome.opcode"] = 0, msn = o.msn }, within = o.within }
end)

method("expect_nak", { "!psn", "msn", "syndrome", "within" }, function(rc, o)
  return rc:expect { "RC_ACKNOWLEDGE", psn = o.psn, aeth = { syndrome = o.syndrome or NAK_SEQUENCE, msn = o.msn },
                     within = o.within }
end)

return methods, known
