// What stands before a captured completion in a file: tags that name the dissector, then the record's header, both by the
// tables that read them. The whole slot of the queue follows. cqe-sniffer.md 5.2.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "dissect/cqe_record.h"
#include "dissect/upper_pdu.h"

namespace rdmascope::capture {

// exported_pdu_tlvs of Wireshark: the link type, and the tag with the dissector's name. A tag of zeros ends the list.
inline constexpr std::uint16_t link_type_upper_pdu = 252, tag_dissector = 12;
inline constexpr std::size_t cqe_tags_bytes = 2 * dissect::UpperPduTag::bytes + dissect::cqe_dissector.size();
inline constexpr std::size_t cqe_front_bytes = cqe_tags_bytes + dissect::CqeRecord::bytes;

class CqeFront {
 public:
  CqeFront() {
    using dissect::put, dissect::UpperPduTag;
    put<UpperPduTag, "tag">(bytes_.data(), tag_dissector);
    put<UpperPduTag, "length">(bytes_.data(), dissect::cqe_dissector.size());
    std::copy(dissect::cqe_dissector.begin(), dissect::cqe_dissector.end(), bytes_.begin() + UpperPduTag::bytes);
    set<"version">(dissect::CqeRecord::this_version);
    set<"header_len">(dissect::CqeRecord::bytes);
  }

  template <dissect::Name name>
  void set(std::uint64_t value) {
    dissect::put<dissect::CqeRecord, name>(bytes_.data() + cqe_tags_bytes, value);
  }
  const std::array<std::uint8_t, cqe_front_bytes>& bytes() const { return bytes_; }

 private:
  std::array<std::uint8_t, cqe_front_bytes> bytes_{};
};

}  // namespace rdmascope::capture
