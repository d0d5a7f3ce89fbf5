// Fields by the names people type: "infiniband.bth.psn", the shared names "ip.addr" and "udp.port", whole headers
// ("infiniband.bth": its bytes), and protocols that have several headers ("infiniband").
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dissect/field.h"
#include "dissect/packet.h"
#include "dissect/text.h"

namespace rdmascope::dissect {

struct FieldRef {
  const Header* header;
  const Field* field;  // nullptr: the header itself
};

// All fields that go by this name; empty: there is none. Several for a shared name or a protocol.
std::vector<FieldRef> find_fields(std::string_view name);

// What a packet has of these, as text: the first value, the last one, or all with `between` between them.
enum class Occurrence : char { first = 'f', last = 'l', all = 'a' };
void put_values(Text& out, const Packet& packet, const std::vector<FieldRef>& fields, Occurrence which, char between);

// "infiniband.bth.psn"
std::string full_name(const Header& header, const Field& field);

// The second name of a field, empty: it has none. "ip.addr"; an alias with a dot is a whole name itself, and a header
// may share all names of its fields ("infiniband.trap.lidaddr" of each trap).
std::string shared_name(const Header& header, const Field& field);

// Every name there is, sorted: headers, fields, shared names. Made once.
const std::vector<std::string>& all_field_names();

// The name that is fewest typing errors away, or empty when none is near. A word without dots may also be the last part
// of the name: "pns" is near infiniband.bth.psn.
std::string nearest_field_name(std::string_view name);

}  // namespace rdmascope::dissect
