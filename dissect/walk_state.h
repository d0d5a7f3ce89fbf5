// The state of one walk, shared by the steps of walk.cc, walk_mad.cc and walk_cdi.cc and by nobody else.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "dissect/headers.h"
#include "dissect/walk.h"

namespace rdmascope::dissect {

// State of one walk. All positions are byte offsets in the frame.
struct Walk {
  Walk(Packet& packet, const WalkOptions& walk_options, std::uint32_t wire_bytes)
      : p(packet),
        options(walk_options),
        data(packet.bytes.data()),
        captured(static_cast<std::uint32_t>(packet.bytes.size())),
        claimed(wire_bytes),
        end(captured) {}

  Packet& p;
  const WalkOptions& options;
  const std::uint8_t* data;
  std::uint32_t captured;  // bytes there are
  std::uint32_t pos = 0;
  std::uint32_t claimed;  // where the present PDU ends, as the wire length and the headers so far say
  std::uint32_t end;      // min(claimed, captured): what may be read

  // Where the IP or GRH header stands that the ICRC of a following BTH covers.
  Envelope envelope = Envelope::none;
  std::uint32_t envelope_at = 0;
  bool contradiction = false;  // headers disagree on the end of the packet: its CRC cannot be located

  // What bytes are that an inner length leaves over: padding on Ethernet, else data nobody accounts for.
  const Header* leftover = &header<Data>;

  // Layers behind the payload (pad, CRC, padding), innermost last; added when the inside is done.
  struct Tail {
    const Header* header;
    std::uint32_t at, bytes;
  };
  std::array<Tail, 16> tails;  // the first tail_count
  std::size_t tail_count = 0;

  std::uint32_t left() const { return end - pos; }
  const std::uint8_t* here() const { return data + pos; }

  void event(Problem problem, const Header& where, std::uint32_t byte, std::uint64_t expected = 0,
             std::uint64_t actual = 0) {
    p.add(Event{problem, &where, byte, expected, actual});
  }

  // For one more layer besides those that are promised: the tails and the events.
  bool has_room() const { return p.layers().size() + tail_count + 1 < Packet::max_layers; }

  // A layer of `bytes` at pos, if it is there. Says why not otherwise.
  bool take(const Header& h, std::uint32_t bytes) {
    if (left() < bytes) {
      const bool cut = claimed - pos >= bytes;
      event(cut ? Problem::cut : Problem::truncated, h, pos, bytes, left());
      return false;
    }
    if (!has_room()) {
      event(Problem::too_deep, h, pos);
      return false;
    }
    p.add(h, pos, bytes);
    pos += bytes;
    return true;
  }

  template <class H>
  const std::uint8_t* take() {
    static_assert(Headers::holds<H>, "list the header in dissect/headers.h");
    const std::uint32_t at = pos;
    return take(header<H>, H::bytes) ? data + at : nullptr;
  }

  // The last layer grows by `bytes` (options). False when they are not there.
  template <class H>
  bool extend(std::uint32_t bytes) {
    if (left() < bytes) {
      event(claimed - pos >= bytes ? Problem::cut : Problem::truncated, header<H>, pos, bytes, left());
      return false;
    }
    if (bytes > 0) p.extend_last(bytes);
    pos += bytes;
    return true;
  }

  void later(const Header& h, std::uint32_t at, std::uint32_t bytes) {
    if (tail_count == tails.size() || !has_room())
      event(Problem::too_deep, h, at);
    else
      tails[tail_count++] = {&h, at, bytes};
  }

  // A header says that `bytes` from `from` on belong to its PDU. Bytes beyond belong to whoever is outside.
  void narrow(const Header& h, std::uint32_t from, std::uint32_t bytes) {
    const std::uint32_t to = from + bytes;
    if (to > claimed) {
      event(Problem::bad_length, h, from, claimed - from, bytes);
      contradiction = true;
      return;
    }
    if (to < claimed) {
      if (captured > to) later(*leftover, to, std::min(claimed, captured) - to);
      claimed = to;
      end = std::min(claimed, captured);
    }
  }

  // Whatever is left is bytes of this kind.
  Next rest(const Header& h) {
    if (left() > 0) take(h, left());
    return {};
  }

  void finish() {
    while (tail_count > 0) {
      const Tail& t = tails[--tail_count];
      p.add(*t.header, t.at, t.bytes);
    }
    if (!p.events().empty()) p.add(header<Events>, 0, 0);
  }
};

Next step_data(Walk& w);  // walk.cc

// Management datagrams: walk_mad.cc.
Next step_mad(Walk& w);

// AWS CDI and EFA: walk_cdi.cc.
bool is_cdi_here(const Walk& w);  // a whole control message beyond doubt, to the end of the present PDU
Next step_cdi(Walk& w);           // of a port that is known to be of CDI
Next step_cdi_control(Walk& w);
Next step_cdi_data_v1(Walk& w);
Next step_cdi_data_v2(Walk& w);
Next step_efa_rdm(Walk& w);
Next step_efa_record(Walk& w);
Next step_user1(Walk& w);

inline std::uint16_t u16(const std::uint8_t* p) { return static_cast<std::uint16_t>(p[0] << 8 | p[1]); }

}  // namespace rdmascope::dissect
