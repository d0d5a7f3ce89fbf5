// A packet as one JSON object on one line. The schema is in docs/json.md and stays stable:
//   {"frame":{...},"<header>":{"<field>":value,...},...}
// A header that occurs again gets "#2", "#3" behind its name, so no key repeats. Values by type, never by size:
// numbers are numbers; fields wider than 53 bits, addresses, bytes and times are strings; flags are true or false;
// fields that may occur several times are arrays. A value with a name has it beside it as "<field>_name".
#pragma once

#include "dissect/packet.h"
#include "dissect/text.h"

namespace rdmascope::dissect {

struct JsonOptions {
  bool bytes = false;  // payload and other unstructured bytes as hex, too; otherwise only their length
};

void put_json(Text& out, const Packet& packet, const JsonOptions& options);

}  // namespace rdmascope::dissect
