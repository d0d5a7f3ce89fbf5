// A switch, or a channel adapter, that answers management datagrams as the specification says: subnet management on
// QP 0, performance management on QP 1. The tester is at the other end of the link of its port 1. In memory, with the
// clock of whoever calls it. Its mutants break one rule each (mad_mutant.h). mad.md sections 1 to 5 and 9.4.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "dissect/field.h"
#include "replay/mad_frame.h"
#include "replay/mad_mutant.h"

namespace rdmascope::replay {

struct MadModelOptions {
  bool is_switch = true;
  std::uint8_t ports = 8;  // of a switch, without its port 0; a channel adapter has 2
  std::uint16_t lid = 2, tester_lid = 1;
  std::uint16_t partition_enforcement_cap = 0;  // of a switch: P_Keys of each external port
  Mutant mutant = 0;                            // of mad_mutants
};

class MadModel {
 public:
  using Send = std::function<void(std::span<const std::uint8_t> frame)>;

  MadModel(const MadModelOptions& options, Send send);

  // A frame arrives from the tester.
  void frame(std::span<const std::uint8_t> bytes, std::int64_t now_ns);

 private:
  static constexpr std::size_t attribute_bytes = 64;
  static constexpr std::uint8_t tester_port = 1;
  using Attribute = std::array<std::uint8_t, attribute_bytes>;

  struct Port {
    Attribute info{};                           // PortInfo
    std::vector<std::uint64_t> guids;           // GUIDInfo
    std::vector<std::uint16_t> p_keys;          // P_KeyTable
    std::vector<Attribute> sl_to_vl;            // by input port
    std::array<Attribute, 4> vl_arbitration{};  // by part
    std::array<std::uint64_t, 17> counters{};   // in the order of mad_model_pm.cc
    std::array<std::uint64_t, 8> extended{};
  };

  // Codes of invalid fields, bits 4:2 of the status; `dropped`: there is no answer.
  enum class Code : std::uint8_t { ok = 0, version = 1, method = 2, attribute = 3, value = 7, dropped = 0xff };

  // One request while it is answered.
  struct Request {
    std::uint8_t mgmt_class, method;
    std::uint16_t attribute;
    std::uint32_t modifier;
    std::span<std::uint8_t> data;  // of the answer, as it came in
    bool m_key_fits;
    bool is_set() const;
  };

  template <dissect::Name name>
  bool is() const {
    return mutant_ == mad_mutant<name>();
  }

  // mad_model.cc
  bool takes(std::span<const std::uint8_t> bytes, MadOfFrame& in) const;
  bool walk_route(MadBytes& mad, const MadAddress& address);  // false: it was sent on, or dropped
  void send_on(const MadBytes& mad, std::uint8_t port);
  bool begin_answer(MadBytes& mad) const;
  void answer(MadBytes mad, const MadAddress& address, std::int64_t now_ns);
  Code judge_header(const MadBytes& mad) const;
  bool m_key_opens(const MadBytes& mad, std::int64_t now_ns, bool& fits);

  // mad_model_sma.cc
  void furnish();
  Code subnet_attribute(Request& request);
  Code node_description(Request& request);
  Code node_info(Request& request);
  Code switch_info(Request& request);
  Code guid_info(Request& request);
  Code port_info(Request& request);
  Code set_port_info(Port& port, std::uint8_t number, std::span<const std::uint8_t> wanted);
  Code p_key_table(Request& request);
  Code sl_to_vl(Request& request);
  Code vl_arbitration(Request& request);
  Code linear_table(Request& request);
  Code multicast_table(Request& request);
  Code sm_info(Request& request);
  Code led_info(Request& request);
  Port* port_of(std::uint32_t number);  // by a modifier; nullptr: none
  Port& own_port() { return ports_[is_switch_ ? 0 : tester_port]; }
  const Port& own_port() const { return ports_[is_switch_ ? 0 : tester_port]; }

  // mad_model_pm.cc
  Code performance_attribute(Request& request);
  Code class_port_info(Request& request);
  Code port_counters(Request& request);
  Code port_counters_extended(Request& request);
  std::uint8_t first_port() const { return is_switch_ ? 0 : 1; }
  void count(bool received);

  bool is_switch_;
  Mutant mutant_;
  Send send_;
  std::uint16_t tester_lid_;
  std::uint32_t psn_ = 0;
  Attribute node_info_{}, node_description_{}, switch_info_{}, sm_info_{}, led_info_{};
  std::vector<Port> ports_;  // by number
  std::vector<std::uint8_t> linear_;
  std::map<std::uint32_t, Attribute> multicast_;  // by modifier
  std::array<std::uint8_t, 72> class_port_info_{};
  std::optional<std::int64_t> lease_ends_ns_;
};

}  // namespace rdmascope::replay
