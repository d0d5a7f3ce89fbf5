// A captured completion in a file: link type 252 (upper PDU), whose tags name the dissector "rdma_cqe", then a header
// of 32 bytes, big-endian, then the whole slot of the queue.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

namespace rdmascope::capture {

inline constexpr std::uint16_t cqe_link_type = 252;

namespace cqe_flag {
inline constexpr std::uint8_t link_layer_known = 1, ethernet = 2, index_known = 4, sniffer = 8, tunnel_bits = 32;
}  // namespace cqe_flag

struct CqeHeader {
  std::uint8_t format = 0, flags = 0;
  std::uint16_t stride = 0, offset = 0;  // bytes of the slot; where the entry begins in it
  std::uint32_t queue = 0, index = 0, slots = 0;
  std::uint8_t port = 0, qp_type = 0;
  std::uint16_t pci_device = 0;
};

inline constexpr std::size_t cqe_tags_bytes = 16, cqe_header_bytes = 32;
inline constexpr std::size_t cqe_record_front = cqe_tags_bytes + cqe_header_bytes;

// Writes tags and header to the front of a record; the slot follows.
inline void put_cqe_front(const CqeHeader& header, std::span<std::uint8_t, cqe_record_front> to) {
  constexpr std::array<std::uint8_t, cqe_tags_bytes> tags = {0,   12,  0,   8,   'r', 'd', 'm', 'a',
                                                             '_', 'c', 'q', 'e', 0,   0,   0,   0};
  std::uint8_t* at = std::copy(tags.begin(), tags.end(), to.data());
  const auto put = [&at](std::uint64_t value, int bytes) {
    for (int i = bytes - 1; i >= 0; --i) *at++ = static_cast<std::uint8_t>(value >> 8 * i);
  };
  put(1, 1);  // version
  put(cqe_header_bytes, 1);
  put(header.format, 1);
  put(header.flags, 1);
  put(header.stride, 2);
  put(header.offset, 2);
  put(header.queue, 4);
  put(header.index, 4);
  put(header.slots, 4);
  put(header.port, 1);
  put(header.qp_type, 1);
  put(header.pci_device, 2);
  put(0, 8);  // device clock: not known
}

}  // namespace rdmascope::capture
