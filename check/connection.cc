#include "check/connection.h"

#include <arpa/inet.h>
#include <fmt/format.h>

namespace rdmascope::check {

std::string to_text(const Address& a) {
  if (a.kind == Address::Kind::none) return "?";
  if (a.kind == Address::Kind::lid) return fmt::format("LID {}", a.bytes[14] << 8 | a.bytes[15]);
  char text[INET6_ADDRSTRLEN];
  const bool mapped = a.bytes[10] == 0xff && a.bytes[11] == 0xff && a.bytes[0] == 0 && a.bytes[1] == 0;
  if (a.kind == Address::Kind::ip && mapped)
    inet_ntop(AF_INET, a.bytes.data() + 12, text, sizeof text);
  else
    inet_ntop(AF_INET6, a.bytes.data(), text, sizeof text);
  return text;
}

std::string_view name(Operation operation) {
  constexpr std::string_view names[] = {"SEND", "WRITE", "READ", "CmpSwap", "FetchAdd", "FLUSH", "ATOMIC WRITE"};
  return names[static_cast<std::size_t>(operation)];
}

Operation operation_of(std::uint8_t opcode) {
  switch (opcode & 31) {
    case 0x06:
    case 0x07:
    case 0x08:
    case 0x09:
    case 0x0a:
    case 0x0b:
      return Operation::write;
    case 0x0c:
      return Operation::read;
    case 0x13:
      return Operation::compare_swap;
    case 0x14:
      return Operation::fetch_add;
    case 0x1c:
      return Operation::flush;
    case 0x1d:
      return Operation::atomic_write;
    default:
      return Operation::send;
  }
}

std::string_view name(MessageState state) {
  constexpr std::string_view names[] = {"incomplete", "complete", "NAKed", "missed", "unreliable"};
  return names[static_cast<std::size_t>(state)];
}

std::string_view name(PairedBy source) {
  constexpr std::string_view names[] = {"not paired", "CM", "user", "inference"};
  return names[static_cast<std::size_t>(source)];
}

}  // namespace rdmascope::check
