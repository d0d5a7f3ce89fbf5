// What the rules about management datagrams share.
#pragma once

#include <fmt/format.h>

#include <string_view>

#include "check/rules/all.h"
#include "check/rules/judge.h"
#include "dissect/mad_attributes.h"

namespace rdmascope::check {

using dissect::MadGroup;

// Its layout is the one of the tables, and it is seen for the first time.
inline bool to_judge(const MadContext& c) { return c.mad.get<"baseversion">() == 1 && !c.facts.captured_again; }

inline MadGroup group_of(const MadContext& c) { return c.mad_class ? c.mad_class->group : MadGroup::other; }

// Whose question is in the capture, and which takes the way that it asked for.
inline bool is_answer(const MadContext& c) {
  return c.facts.kind == MadFacts::Kind::response && c.facts.question && !c.facts.route_differs;
}
inline bool is_success(const MadContext& c) {
  return is_answer(c) && c.status() == 0 && c.method() == dissect::mad_get_resp;
}

// In mad_header.cc. Vendors' classes have all methods; of an attribute only what is known not to take a method.
bool is_method_of(MadGroup group, std::uint8_t code);
bool takes_method(MadGroup group, std::uint16_t attribute, std::uint8_t method);

// An SMP that is whole, and so its attribute.
inline bool is_smp(const MadContext& c) { return c.subn() && c.whole(); }
template <class H>
dissect::View<H> smp_attribute(const MadContext& c) {
  return dissect::View<H>(c.bytes + dissect::smp_data_at);
}

inline std::string_view attribute_name(const MadContext& c) {
  return c.attribute ? c.attribute->name : std::string_view("an attribute nobody knows");
}
inline std::string_view method_name(std::uint8_t method) {
  const std::string_view known = dissect::name_of(dissect::mad_methods, method);
  return known.empty() ? "a method nobody knows" : known;
}

inline constexpr std::uint16_t mad_class_port_info = 0x01, mad_notice = 0x02, smp_node_description = 0x10,
                               smp_node_info = 0x11, smp_switch_info = 0x12, smp_guid_info = 0x14, smp_port_info = 0x15,
                               smp_p_key_table = 0x16, smp_sl_to_vl = 0x17, smp_vl_arbitration = 0x18,
                               smp_linear_table = 0x19, smp_random_table = 0x1a, smp_multicast_table = 0x1b,
                               smp_sm_info = 0x20, smp_vendor_diag = 0x30;

}  // namespace rdmascope::check
