// A packet walked from bytes it keeps, for tests; and field values by name.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dissect/field_index.h"
#include "dissect/text.h"
#include "dissect/walk.h"
#include "tests/unit/vectors.h"

namespace rdmascope::test {

struct Walked {
  std::vector<std::uint8_t> bytes;
  dissect::Packet packet;

  explicit Walked(std::vector<std::uint8_t> frame, std::uint16_t link_type = link_ethernet,
                  std::optional<std::uint32_t> wire_bytes = {}, const dissect::WalkOptions& options = {})
      : bytes(std::move(frame)) {
    packet.frame.number = 1;
    packet.frame.link_type = link_type;
    packet.frame.wire_bytes = wire_bytes.value_or(static_cast<std::uint32_t>(bytes.size()));
    dissect::walk(packet, bytes, options);
  }
  explicit Walked(const Vector& v) : Walked(from_hex(v.hex), v.link_type) {}

  // All values of the fields of that name as `-T fields` shows them, joined by commas; "" when there is none.
  std::string text(std::string_view name) const {
    const std::vector<dissect::FieldRef> refs = dissect::find_fields(name);
    EXPECT_FALSE(refs.empty()) << name;
    dissect::Text out;
    dissect::Value value;
    for (const dissect::Layer& layer : packet.layers())
      for (const dissect::FieldRef& ref : refs) {
        if (layer.header != ref.header || !ref.field) continue;
        for (unsigned n = 0; dissect::read(packet, layer, *ref.field, n, value); ++n) {
          if (out.size() > 0) out.put(',');
          dissect::put_value(out, *ref.field, value);
        }
      }
    return std::string(out.view());
  }

  // Headers in order, without frame and events.
  std::string layers() const {
    std::string out;
    for (const dissect::Layer& layer : packet.layers()) {
      if (layer.header->name == "frame" || layer.header->name == "rdmascope") continue;
      if (!out.empty()) out += ' ';
      out += layer.header->name;
    }
    return out;
  }
};

}  // namespace rdmascope::test
