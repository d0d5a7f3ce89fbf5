// What a completion queue entry says, whatever family it is of: a pseudo header behind the entry, so that filters and
// output need to know no device; and the same for code (rules).
#pragma once

#include <optional>

#include "dissect/cqe_efa.h"
#include "dissect/cqe_fault.h"
#include "dissect/cqe_mlx4.h"
#include "dissect/cqe_mlx5.h"
#include "dissect/cqe_others.h"
#include "dissect/cqe_record.h"

namespace rdmascope::dissect {

struct Completion {
  enum class Kind : std::uint8_t {
    completion,
    error,
    resize,      // the ring ends here
    compressed,  // title of a block of mini entries
    unused,      // the content a slot has before the device writes to it
    unknown,     // an opcode that is not defined
  };
  CqeFormat format = CqeFormat::unknown;
  Kind kind = Kind::completion;
  const Layer* layer = nullptr;         // of the entry
  const std::uint8_t* bytes = nullptr;  // of the entry
  bool send = false;                    // queue: send, else receive
  std::optional<std::uint32_t> qpn, wqe, byte_count, vendor;
  std::uint32_t opcode = 0;
  std::string_view operation;  // its name; empty: none
  std::uint32_t status = 0;    // the family's code of an error
  Fault fault = Fault::none;
  std::uint8_t owner = 0;  // owner or phase bit

  bool failed() const { return kind == Kind::error; }
};

// nullopt: the packet is no completion queue entry, or one whose layout is not known.
std::optional<Completion> completion_of(const Packet& packet);

bool is_mlx4_unused(const std::uint8_t* cqe);

inline constexpr ValueName cqe_queues[] = {{0, "receive"}, {1, "send"}};

bool cqe_family(const Packet&, const Layer&, unsigned n, Value&);
bool cqe_qpn(const Packet&, const Layer&, unsigned n, Value&);
bool cqe_queue(const Packet&, const Layer&, unsigned n, Value&);
bool cqe_operation(const Packet&, const Layer&, unsigned n, Value&);
bool cqe_wqe(const Packet&, const Layer&, unsigned n, Value&);
bool cqe_byte_count(const Packet&, const Layer&, unsigned n, Value&);
bool cqe_source_mac(const Packet&, const Layer&, unsigned n, Value&);
bool cqe_error(const Packet&, const Layer&, unsigned n, Value&);
bool cqe_status(const Packet&, const Layer&, unsigned n, Value&);
bool cqe_vendor(const Packet&, const Layer&, unsigned n, Value&);
bool cqe_meaning(const Packet&, const Layer&, unsigned n, Value&);
bool cqe_cause(const Packet&, const Layer&, unsigned n, Value&);
bool cqe_look_at(const Packet&, const Layer&, unsigned n, Value&);

struct Cqe {
  static constexpr std::string_view name = "cqe", title = "Completion", protocol = "CQE";
  static constexpr std::uint32_t bytes = 0;
  static constexpr auto fields =
      layout(bytes, {
                        generated("family", Show::text, "Family", cqe_family),
                        generated("qpn", Show::hex, "Queue pair number", cqe_qpn),
                        generated("queue", Show::named, "Queue", cqe_queue, cqe_queues),
                        generated("operation", Show::text, "Operation", cqe_operation),
                        generated("wqe", Show::dec, "Work queue entry", cqe_wqe),
                        generated("byte_count", Show::dec, "Byte count", cqe_byte_count).in("bytes"),
                        generated("source_mac", Show::mac, "Source MAC", cqe_source_mac),
                        generated("error", Show::flag, "Failed", cqe_error),
                        generated("status", Show::text, "Status", cqe_status),
                        generated("vendor_error", Show::hex, "Vendor error", cqe_vendor),
                        generated("meaning", Show::text, "It means", cqe_meaning),
                        generated("cause", Show::text, "Usual cause", cqe_cause),
                        generated("look_at", Show::text, "Look next at", cqe_look_at),
                    });
};

}  // namespace rdmascope::dissect
