// What the tester and its model need to know of attributes beyond the tables of `dissect`: names, where the data stand,
// which ports a modifier means.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dissect/field.h"
#include "replay/mad_frame.h"

namespace rdmascope::replay {

inline constexpr std::uint16_t attribute_class_port_info = 0x0001, attribute_node_description = 0x0010,
                               attribute_node_info = 0x0011, attribute_switch_info = 0x0012,
                               attribute_guid_info = 0x0014, attribute_port_info = 0x0015,
                               attribute_p_key_table = 0x0016, attribute_sl_to_vl = 0x0017,
                               attribute_vl_arbitration = 0x0018, attribute_linear_table = 0x0019,
                               attribute_random_table = 0x001a, attribute_multicast_table = 0x001b,
                               attribute_sm_info = 0x0020, attribute_led_info = 0x0031,
                               attribute_port_info_extended = 0x0033;
inline constexpr std::uint16_t attribute_port_counters = 0x0012, attribute_port_counters_extended = 0x001d;

// Names of the attributes of a class, as in `dissect`.
std::vector<dissect::ValueName> attribute_names(std::uint8_t mgmt_class);
std::string attribute_text(std::span<const std::uint8_t> mad);  // "P_KeyTable", or "0x00aa"

// The attribute of a whole MAD: what stands behind the headers of its class, without what is unused behind it.
std::span<std::uint8_t> attribute_data(std::span<std::uint8_t> mad);
std::span<const std::uint8_t> attribute_data(std::span<const std::uint8_t> mad);

// Of SMPs.
std::uint64_t m_key_of(std::span<const std::uint8_t> mad);
void put_m_key(std::span<std::uint8_t> mad, std::uint64_t m_key);

// Of directed routes. `ports`: to leave by at each node on the way. On a link the first hop is done.
void put_directed_route(std::span<std::uint8_t> mad, std::span<const std::uint8_t> ports, bool on_link);
void put_directed_lids(std::span<std::uint8_t> mad, std::uint16_t source, std::uint16_t destination);
std::span<std::uint8_t> initial_path(std::span<std::uint8_t> mad);
std::span<std::uint8_t> return_path(std::span<std::uint8_t> mad);

// The highest port that a request names in its modifier or its data; nullopt: it names none.
std::optional<std::uint32_t> highest_port(std::span<const std::uint8_t> mad);

}  // namespace rdmascope::replay
