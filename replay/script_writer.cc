#include "replay/script_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "check/psn.h"
#include "dissect/aeth.h"
#include "dissect/headers.h"
#include "dissect/walk.h"

namespace rdmascope::replay {
namespace {

using check::Message;
using check::MessageState;
using check::Operation;
using check::psn_diff;
using dissect::header;
using dissect::View;

constexpr std::uint32_t largest_memory = 1 << 20;

std::string_view completion_of_nak(std::uint8_t syndrome) {
  switch (syndrome & 31) {
    case 1:
      return "rem_inv_req_err";
    case 2:
      return "rem_access_err";
    default:
      return "rem_op_err";
  }
}

class Writer {
 public:
  Writer(const Conversation& c, std::uint8_t dut) : c_(c), dut_(dut) {}

  Result<std::string> write() {
    find_bases();
    if (!started_[0] && !started_[1])
      return Error{fmt::format("connection {} of {}: no message of it is in the capture from its first packet on",
                               c_.id, c_.capture)};
    if (const Result<void> fits = find_memory(); !fits) return Error{fits.error()};
    heading();
    for (const CapturedPacket& p : c_.packets) packet(p);
    const std::size_t outstanding =
        static_cast<std::size_t>(std::ranges::count_if(c_.messages, [&](const CapturedMessage& m) {
          return m.side == dut_ && posted_.contains(&m) && !completed_.contains(&m);
        }));
    if (skipped_ > 0)
      line("-- {} packets were left out: they belong to messages that began before the capture.", skipped_);
    if (c_.left_out > 0) {
      line(
          "-- The capture goes on: {} more packets of this connection. What the device sends of them is its own "
          "affair.",
          c_.left_out);
      line("allow {{}}");
    }
    line("rc:close {{ flushed = {} }}", outstanding);
    return std::move(out_);
  }

 private:
  template <class... T>
  void line(fmt::format_string<T...> format, T&&... values) {
    out_ += fmt::format(format, std::forward<T>(values)...);
    out_ += '\n';
  }

  static bool playable(const Message& m) { return m.has_first && m.operation <= Operation::fetch_add; }

  void find_bases() {
    for (const CapturedMessage& m : c_.messages) {
      if (!playable(m.message)) continue;
      if (!started_[m.side] || psn_diff(m.message.first_psn, base_[m.side]) < 0) base_[m.side] = m.message.first_psn;
      started_[m.side] = true;
    }
    std::uint32_t largest = 0;
    for (const CapturedPacket& p : c_.packets) {
      dissect::Packet walked;
      if (walk(p, walked)) largest = std::max(largest, walked.payload_bytes);
    }
    pmtu_ = c_.pmtu;
    if (pmtu_ == 0)
      for (pmtu_ = 256; pmtu_ < largest && pmtu_ < 4096;) pmtu_ *= 2;
  }

  // What the tester's requests name in the device's memory, moved to the front of its remote region.
  Result<void> find_memory() {
    std::optional<std::uint64_t> low;
    std::uint64_t high = 0;
    for (const CapturedMessage& m : c_.messages) {
      if (m.side == dut_ || !playable(m.message) || m.message.operation == Operation::send) continue;
      const std::uint64_t bytes = m.message.operation >= Operation::compare_swap ? 8 : m.message.dma_length;
      low = std::min(low.value_or(m.message.va), m.message.va);
      high = std::max(high, m.message.va + bytes);
    }
    if (!low) return {};
    low_va_ = *low & ~std::uint64_t{7};
    if (high - low_va_ > largest_memory)
      return Error{
          fmt::format("connection {} of {}: its requests name {} bytes of memory, a test can offer {}; take fewer "
                      "packets (--count)",
                      c_.id, c_.capture, high - low_va_, largest_memory)};
    remote_bytes_ = static_cast<std::uint32_t>(high - low_va_);
    return {};
  }

  void heading() {
    line("-- Written from {}, connection {}: {} and {}.", c_.capture, c_.id, c_.name[0], c_.name[1]);
    line("-- The device plays {}, the tester {}. Data are patterns of the captured sizes.", c_.name[dut_],
         c_.name[dut_ ^ 1]);
    line("test {{ id = \"FROM-CAPTURE-{}\", title = \"Connection {} of {}\", covers = {{}} }}\n", c_.id, c_.id,
         c_.capture);
    std::string options = fmt::format("mtu = {}", pmtu_);
    if (started_[dut_]) options += fmt::format(", dut_psn = 0x{:06x}", base_[dut_]);
    if (started_[dut_ ^ 1]) options += fmt::format(", tester_psn = 0x{:06x}", base_[dut_ ^ 1]);
    std::uint64_t outstanding = 2;
    for (const CapturedMessage& m : c_.messages) outstanding += m.message.operation >= Operation::read;
    options +=
        fmt::format(", initiator_depth = {0}, responder_resources = {0}", std::min<std::uint64_t>(outstanding, 16));
    const std::uint32_t local = local_bytes();
    if (local > 65536) options += fmt::format(", local_bytes = {}", local);
    if (remote_bytes_ > 65536) options += fmt::format(", remote_bytes = {}", remote_bytes_);
    line("local rc = {} {{ {} }}", c_.uc ? "open_uc" : "open_rc", options);
  }

  std::uint32_t local_bytes() const {
    std::uint64_t sum = 4096;
    for (const CapturedMessage& m : c_.messages) sum += std::max<std::uint64_t>(64, size_of(m.message)) + 64;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(sum, 16 << 20));
  }

  static std::uint64_t size_of(const Message& m) {
    if (m.operation >= Operation::compare_swap) return 8;
    return m.has_reth ? m.dma_length : m.bytes;
  }

  bool walk(const CapturedPacket& p, dissect::Packet& out) const {
    out.frame.number = p.frame;
    out.frame.link_type = p.link_type;
    out.frame.wire_bytes = static_cast<std::uint32_t>(p.bytes.size());
    dissect::walk(out, p.bytes, {});
    return out.bth_layer >= 0;
  }

  const CapturedMessage* message_of(std::uint8_t side, std::uint32_t psn) const {
    for (const CapturedMessage& m : c_.messages)
      if (m.side == side && m.message.holds(psn)) return &m;
    return nullptr;
  }

  std::string psn_text(std::uint8_t requester, std::uint32_t psn) const {
    return fmt::format("rc.{}({})", requester == dut_ ? "psn" : "own_psn", psn_diff(psn, base_[requester]));
  }
  std::string data_name(const CapturedMessage& m) const { return fmt::format("d{}", &m - c_.messages.data() + 1); }

  // Before the first packet of a message: its data, and what the device must be told.
  void begin(const CapturedMessage& m) {
    if (!begun_.insert(&m).second) return;
    const std::uint64_t size = size_of(m.message);
    const bool atomic = m.message.operation >= Operation::compare_swap;
    line("\n-- message {} of {}: {} of {} bytes", m.message.index, m.side == dut_ ? "the device" : "the tester",
         name(m.message.operation), size);
    if (!atomic) line("local {} = pattern({}, {})", data_name(m), size, &m - c_.messages.data() + 1);
    if (m.side == dut_) {
      posted_.insert(&m);
      const std::string where = fmt::format("va = 0x{:x}, rkey = 0x{:x}", m.message.va, m.message.r_key);
      const std::string immediate =
          m.message.has_immediate ? fmt::format(", immediate = 0x{:x}", m.message.immediate) : "";
      switch (m.message.operation) {
        case Operation::send:
          line("rc.dut:post_send {{ data = {}{} }}", data_name(m), immediate);
          break;
        case Operation::write:
          line("rc.dut:post_write {{ data = {}, {}{} }}", data_name(m), where, immediate);
          break;
        case Operation::read:
          line("rc.dut:post_read {{ length = {}, {} }}", size, where);
          break;
        case Operation::compare_swap:
          line("rc.dut:post_compare_swap {{ {}, compare = 1, swap = 2 }}", where);
          break;
        default:
          line("rc.dut:post_fetch_add {{ {}, add = 1 }}", where);
          break;
      }
    } else {
      if (m.message.operation == Operation::send || m.message.has_immediate)
        line("rc.dut:post_receive {{ length = {} }}", std::max<std::uint64_t>(size, 1));
      if (m.message.operation == Operation::read)
        line("rc.dut:write_memory({}, {})", m.message.va - low_va_, data_name(m));
    }
  }

  void packet(const CapturedPacket& p) {
    dissect::Packet walked;
    if (!walk(p, walked)) return;
    const View<dissect::Bth> bth = *walked.find<dissect::Bth>();
    const std::uint8_t code = static_cast<std::uint8_t>(bth.get<"opcode">());
    const dissect::Opcode& opcode = dissect::opcodes[code];
    const std::uint32_t psn = static_cast<std::uint32_t>(bth.get<"psn">());
    const std::uint8_t requester = p.response ? p.side ^ 1 : p.side;
    const CapturedMessage* m = message_of(requester, psn);
    // Plain acknowledges may stand for any message; all else needs its own.
    const bool nameless = code == 0x11 && (!m || !begun_.contains(m));
    if (!opcode.defined || (!m && !nameless) || (m && !playable(m->message)) || (nameless && !started_[requester])) {
      ++skipped_;
      return;
    }
    if (m && !p.response) begin(*m);
    if (p.response && m && !begun_.contains(m)) {
      ++skipped_;
      return;
    }
    const bool ours = p.side != dut_;
    std::string text =
        fmt::format("{} {{ \"{}\", psn = {}", ours ? "send  " : "expect", opcode.name, psn_text(requester, psn));
    if (ours) {
      const bool asks = bth.get<"a">() != 0;
      const bool ends = opcode.position == dissect::Position::last || opcode.position == dissect::Position::only;
      if (asks != (!c_.uc && ends && !opcode.response)) text += fmt::format(", a = {}", asks ? 1 : 0);
      if (bth.get<"se">()) text += ", se = 1";
    }
    extensions(text, walked, m, ours);
    if (m && walked.payload_bytes > 0) {
      const std::uint64_t from = static_cast<std::uint64_t>(psn_diff(psn, m->message.first_psn)) * pmtu_;
      if (from == 0 && walked.payload_bytes == size_of(m->message))
        text += fmt::format(", payload = {}", data_name(*m));
      else
        text += fmt::format(", payload = {}:sub({}, {})", data_name(*m), from + 1, from + walked.payload_bytes);
    }
    line("{} }}  -- frame {}{}", text, p.frame, p.retransmission ? ", sent again" : "");
    after(p, m);
  }

  void extensions(std::string& text, const dissect::Packet& walked, const CapturedMessage* m, bool ours) {
    if (const auto reth = walked.find<dissect::Reth>()) {
      if (ours)
        text += fmt::format(", reth = {{ va = rc.remote_va + {}, r_key = rc.remote_r_key, dmalen = {} }}",
                            reth->get<"va">() - low_va_, reth->get<"dmalen">());
      else
        text += fmt::format(", reth = {{ va = 0x{:x}, r_key = 0x{:x}, dmalen = {} }}", reth->get<"va">(),
                            reth->get<"r_key">(), reth->get<"dmalen">());
    }
    if (const auto atomic = walked.find<dissect::Atomiceth>()) {
      if (ours)
        text += fmt::format(
            ", atomiceth = {{ va = rc.remote_va + {}, r_key = rc.remote_r_key, swapdt = 0x{:x}, cmpdt = 0x{:x} }}",
            atomic->get<"va">() - low_va_, atomic->get<"swapdt">(), atomic->get<"cmpdt">());
      else
        text +=
            fmt::format(", atomiceth = {{ va = 0x{:x}, r_key = 0x{:x} }}", atomic->get<"va">(), atomic->get<"r_key">());
    }
    if (const auto aeth = walked.find<dissect::Aeth>()) {
      const std::uint8_t syndrome = static_cast<std::uint8_t>(aeth->get<"syndrome">());
      const dissect::Syndrome decoded = dissect::decode_syndrome(syndrome);
      if (ours) {
        const std::string word = syndrome == 0x1f ? "ACK" : fmt::format("0x{:02x}", syndrome);
        text += fmt::format(", aeth = {{ syndrome = {}, msn = {} }}", word, m ? m->message.index : answered_);
      } else if (decoded.kind == dissect::SyndromeKind::ack) {
        text += ", aeth = { [\"syndrome.opcode\"] = 0 }";
      } else {
        text += fmt::format(", aeth = {{ syndrome = 0x{:02x} }}", syndrome);
      }
    }
    if (const auto immediate = walked.find<dissect::Immdt>())
      text += fmt::format(", immdt = {{ data = 0x{:x} }}", immediate->get<"data">());
    if (ours && walked.find<dissect::Atomicacketh>())
      text += fmt::format(", atomicacketh = {{ origremdt = 0x{:x} }}",
                          walked.find<dissect::Atomicacketh>()->get<"origremdt">());
  }

  // What completes on the device with this packet.
  void after(const CapturedPacket& p, const CapturedMessage* m) {
    if (p.side != dut_ && p.response) {
      std::size_t done = 0;
      for (const CapturedMessage& each : c_.messages) {
        if (each.side != dut_ || each.message.answer_frame != p.frame || !posted_.contains(&each)) continue;
        completed_.insert(&each);
        if (each.message.state == MessageState::naked)
          line("rc.dut:expect_completion {{ status = \"{}\" }}", completion_of_nak(each.message.nak_code));
        else
          ++done;
        answered_ = std::max(answered_, each.message.index);
      }
      const bool one_read = done == 1 && m && m->message.operation == Operation::read;
      if (one_read)
        line("rc.dut:expect_completion {{ data = {} }}", data_name(*m));
      else if (done > 0)
        line("rc.dut:expect_completion {{ count = {} }}", done);
    }
    // Nobody answers over UC: a request is done when its last packet has left.
    if (c_.uc && p.side == dut_ && m && m->message.last_frame == p.frame && completed_.insert(m).second)
      line("rc.dut:expect_completion {{}}");
    if (p.side != dut_ && !p.response && m && m->message.last_frame == p.frame &&
        m->message.state != MessageState::naked) {
      if (m->message.operation == Operation::send)
        line("rc.dut:expect_completion {{ receive = true, data = {} }}", data_name(*m));
      else if (m->message.operation == Operation::write && m->message.has_immediate)
        line("rc.dut:expect_completion {{ receive = true, immediate = 0x{:x} }}", m->message.immediate);
    }
  }

  const Conversation& c_;
  std::uint8_t dut_;
  std::string out_;
  std::uint32_t base_[2] = {0, 0}, pmtu_ = 0, remote_bytes_ = 0, answered_ = 0;
  bool started_[2] = {false, false};
  std::uint64_t low_va_ = 0, skipped_ = 0;
  std::set<const CapturedMessage*> begun_, posted_, completed_;
};

}  // namespace

Result<std::string> write_script(const Conversation& conversation, std::uint8_t dut) {
  return Writer(conversation, dut).write();
}

}  // namespace rdmascope::replay
