-- MAD-BADVER, MAD-BADMETHOD, MAD-BADATTR for class Perf: unknown versions, methods and attributes are not answered, or with their
-- status code. mad.md 1.3, 9.2.
test { id = "PM-header", title = "Unknown versions, methods, attributes of class Perf", covers = { "MAD-BADVER", "MAD-BADMETHOD", "MAD-BADATTR" },
       needs = { mads = true, lid = true } }

local function refused(name, code, options)
  sub(name, function()
    options.class = "Perf"
    options.attribute = options.attribute or "ClassPortInfo"
    mad.maybe { to = mad.send(options), status = code, echo = false, within = "200 ms" }
    mad.get { class = "Perf", attribute = "ClassPortInfo" }
  end)
end
refused("base version 2", 1, { mad = { baseversion = 2 } })
refused("class version 2", 1, { mad = { classversion = 2 } })
refused("method 0x0b", 2, { method = 0x0b })
refused("method GetTable", 2, { method = "GetTable" })
refused("attribute 0x00aa", 3, { attribute = 0x00aa })
refused("Set of attribute 0x00aa", 3, { attribute = 0x00aa, method = "Set" })
