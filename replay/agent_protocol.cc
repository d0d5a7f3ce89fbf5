#include "replay/agent_protocol.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "replay/udp_wire.h"

namespace rdmascope::replay::agent {
namespace {

using Json = nlohmann::json;

// --- Words
// ------------------------------------------------------------------------------------------------------------

constexpr std::pair<std::string_view, Service> services[] = {
    {"rc", Service::rc}, {"uc", Service::uc}, {"ud", Service::ud}};
constexpr std::pair<std::string_view, Region> regions[] = {{"local", Region::local}, {"remote", Region::remote}};
constexpr std::pair<std::string_view, QpState> states[] = {
    {"ready", QpState::ready}, {"error", QpState::error}, {"other", QpState::other}};
constexpr std::pair<std::string_view, Work> works[] = {{"send", Work::send},
                                                       {"send_with_immediate", Work::send_with_immediate},
                                                       {"send_with_invalidate", Work::send_with_invalidate},
                                                       {"write", Work::write},
                                                       {"write_with_immediate", Work::write_with_immediate},
                                                       {"read", Work::read},
                                                       {"compare_swap", Work::compare_swap},
                                                       {"fetch_add", Work::fetch_add},
                                                       {"flush", Work::flush},
                                                       {"atomic_write", Work::atomic_write}};

constexpr std::pair<std::string_view, Do> actions[] = {{"hello", Do::hello},
                                                       {"info", Do::info},
                                                       {"open", Do::open},
                                                       {"post_send", Do::post_send},
                                                       {"post_receive", Do::post_receive},
                                                       {"poll", Do::poll},
                                                       {"read_memory", Do::read_memory},
                                                       {"write_memory", Do::write_memory},
                                                       {"state", Do::state},
                                                       {"to_error", Do::to_error},
                                                       {"close", Do::close}};

constexpr const auto& words(Do) { return actions; }
constexpr const auto& words(Service) { return services; }
constexpr const auto& words(Region) { return regions; }
constexpr const auto& words(QpState) { return states; }
constexpr const auto& words(Work) { return works; }

// --- Members: name and place, once for both directions
// ------------------------------------------------------------------

// A T to be read or to be filled.
template <class U, class T>
concept Of = std::is_same_v<std::remove_const_t<U>, T>;

void fields(auto& visit, Of<Hello> auto& o) {
  visit("protocol", o.protocol);
  visit("token", o.token);
  visit("tester_address", o.tester_address);
}

void fields(auto& visit, Of<DutInfo> auto& o) {
  visit("name", o.name);
  visit("address", o.address);
  visit("mac", o.mac);
  visit("max_pmtu", o.max_pmtu);
  visit("max_initiator_depth", o.max_initiator_depth);
  visit("max_responder_resources", o.max_responder_resources);
  visit("atomics", o.atomics);
  visit("send_with_invalidate", o.send_with_invalidate);
  visit("flush", o.flush);
  visit("atomic_write", o.atomic_write);
  visit("simulated", o.simulated);
}

void fields(auto& visit, Of<ChannelOptions> auto& o) {
  visit("service", o.service);
  visit("tester_address", o.tester_address);
  visit("tester_qpn", o.tester_qpn);
  visit("dut_psn", o.dut_psn);
  visit("tester_psn", o.tester_psn);
  visit("pmtu", o.pmtu);
  visit("ack_timeout", o.ack_timeout);
  visit("retry_count", o.retry_count);
  visit("rnr_retry", o.rnr_retry);
  visit("min_rnr_timer", o.min_rnr_timer);
  visit("initiator_depth", o.initiator_depth);
  visit("responder_resources", o.responder_resources);
  visit("q_key", o.q_key);
  visit("allow_remote_read", o.allow_remote_read);
  visit("allow_remote_write", o.allow_remote_write);
  visit("allow_remote_atomic", o.allow_remote_atomic);
  visit("local_bytes", o.local_bytes);
  visit("remote_bytes", o.remote_bytes);
}

void fields(auto& visit, Of<Channel> auto& o) {
  visit("id", o.id);
  visit("qpn", o.qpn);
  visit("p_key", o.p_key);
  visit("remote_va", o.remote_va);
  visit("remote_r_key", o.remote_r_key);
  visit("initiator_depth", o.initiator_depth);
  visit("responder_resources", o.responder_resources);
}

void fields(auto& visit, Of<WorkRequest> auto& o) {
  visit("id", o.id);
  visit("work", o.work);
  visit("local_offset", o.local_offset);
  visit("length", o.length);
  visit("va", o.va);
  visit("r_key", o.r_key);
  visit("immediate", o.immediate);
  visit("compare", o.compare);
  visit("operand", o.operand);
  visit("signaled", o.signaled);
  visit("solicited", o.solicited);
  visit("fence", o.fence);
  visit("flush_placement", o.flush_placement);
  visit("flush_whole_region", o.flush_whole_region);
  visit("remote_qpn", o.remote_qpn);
  visit("remote_q_key", o.remote_q_key);
}

void fields(auto& visit, Of<ReceiveRequest> auto& o) {
  visit("id", o.id);
  visit("local_offset", o.local_offset);
  visit("length", o.length);
}

void fields(auto& visit, Of<Completion> auto& o) {
  visit("id", o.id);
  visit("status", o.status);
  visit("is_receive", o.is_receive);
  visit("bytes", o.bytes);
  visit("by_write", o.by_write);
  visit("immediate", o.immediate);
  visit("invalidated_r_key", o.invalidated_r_key);
}

void fields(auto& visit, Of<Request> auto& o) {
  visit("do", o.action);
  visit("hello", o.hello);
  visit("options", o.options);
  visit("channel", o.channel);
  visit("work", o.work);
  visit("receive", o.receive);
  visit("wait_ns", o.wait_ns);
  visit("region", o.region);
  visit("offset", o.offset);
  visit("length", o.length);
  visit("bytes", o.bytes);
}

void fields(auto& visit, Of<Reply> auto& o) {
  visit("error", o.error);
  visit("info", o.info);
  visit("channel", o.channel);
  visit("completions", o.completions);
  visit("bytes", o.bytes);
  visit("state", o.state);
}

// --- Values
// -------------------------------------------------------------------------------------------------------------

// Structures of the protocol, as against strings, addresses and lists.
template <class T>
concept Object = Of<T, Hello> || Of<T, DutInfo> || Of<T, ChannelOptions> || Of<T, Channel> || Of<T, WorkRequest> ||
    Of<T, ReceiveRequest> || Of<T, Completion> || Of<T, Request> || Of<T, Reply>;

template <Object T>
Json to_json(const T& object);

template <class T>
requires std::is_arithmetic_v<T> Json to_json(T value) { return value; }
template <class T>
requires std::is_enum_v<T> Json to_json(T value) {
  for (const auto& [word, meaning] : words(value))
    if (meaning == value) return word;
  return nullptr;
}
Json to_json(Status status) { return name(status); }
Json to_json(const std::string& text) { return text; }
Json to_json(const IpAddress& address) { return to_text(address); }
Json to_json(const MacAddress& mac) { return fmt::format("{:02x}", fmt::join(mac, ":")); }
Json to_json(const std::vector<std::uint8_t>& bytes) {
  constexpr char digits[] = "0123456789abcdef";
  std::string hex;
  hex.reserve(bytes.size() * 2);
  for (const std::uint8_t byte : bytes) {
    hex += digits[byte >> 4];
    hex += digits[byte & 15];
  }
  return hex;
}
Json to_json(const std::vector<Completion>& completions) {
  Json list = Json::array();
  for (const Completion& completion : completions) list.push_back(to_json(completion));
  return list;
}

struct Encoder {
  Json json = Json::object();

  template <class T>
  void operator()(const char* name, const T& value) {
    json[name] = to_json(value);
  }
  template <class T>
  void operator()(const char* name, const std::optional<T>& value) {
    if (value) json[name] = to_json(*value);
  }
};

template <Object T>
Json to_json(const T& object) {
  Encoder encoder;
  fields(encoder, object);
  return std::move(encoder.json);
}

// Each sets the value, or says what is wrong: "want a number from 0 to 255".
using Wrong = std::optional<std::string>;

template <Object T>
Wrong from_json(const Json& json, T& object);

Wrong from_json(const Json& json, bool& value) {
  if (!json.is_boolean()) return "want true or false";
  value = json.get<bool>();
  return std::nullopt;
}

Wrong from_json(const Json& json, std::string& value) {
  if (!json.is_string()) return "want a string";
  value = json.get<std::string>();
  return std::nullopt;
}

template <class T>
requires std::is_unsigned_v<T> Wrong from_json(const Json& json, T& value) {
  if (!json.is_number_unsigned() || json.get<std::uint64_t>() > std::numeric_limits<T>::max())
    return fmt::format("want a number from 0 to {}", std::numeric_limits<T>::max());
  value = json.get<T>();
  return std::nullopt;
}

template <class T>
requires std::is_enum_v<T> Wrong from_json(const Json& json, T& value) {
  std::string choices;
  for (const auto& [word, meaning] : words(T{})) {
    if (json == word) {
      value = meaning;
      return std::nullopt;
    }
    choices += fmt::format("{}{}", choices.empty() ? "" : ", ", word);
  }
  return fmt::format("want one of {}", choices);
}

Wrong from_json(const Json& json, Status& value) {
  const std::optional<Status> status = json.is_string() ? status_by_name(json.get<std::string>()) : std::nullopt;
  if (!status) return "want a completion status such as success";
  value = *status;
  return std::nullopt;
}

Wrong from_json(const Json& json, IpAddress& value) {
  const Result<IpAddress> address = parse_address(json.is_string() ? json.get<std::string>() : "");
  if (!address) return "want an IPv4 or IPv6 address in a string";
  value = *address;
  return std::nullopt;
}

Wrong from_json(const Json& json, MacAddress& value) {
  const std::optional<MacAddress> mac = json.is_string() ? mac_address(json.get<std::string>()) : std::nullopt;
  if (!mac) return "want a MAC address in a string";
  value = *mac;
  return std::nullopt;
}

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

Wrong from_json(const Json& json, std::vector<std::uint8_t>& value) {
  const Wrong wrong = "want an even number of hex digits in a string";
  if (!json.is_string()) return wrong;
  const auto& hex = json.get_ref<const std::string&>();
  if (hex.size() % 2 != 0) return wrong;
  value.resize(hex.size() / 2);
  for (std::size_t i = 0; i < value.size(); ++i) {
    const int high = digit(hex[2 * i]), low = digit(hex[2 * i + 1]);
    if (high < 0 || low < 0) return wrong;
    value[i] = static_cast<std::uint8_t>(high << 4 | low);
  }
  return std::nullopt;
}

Wrong from_json(const Json& json, std::vector<Completion>& value) {
  if (!json.is_array()) return "want an array";
  for (const Json& element : json) {
    value.emplace_back();
    if (Wrong wrong = from_json(element, value.back())) return wrong;
  }
  return std::nullopt;
}

struct Decoder {
  const Json& json;
  std::vector<std::string_view> names = {};
  Wrong wrong = std::nullopt;

  template <class T>
  void operator()(const char* name, T& value) {
    names.push_back(name);
    const auto found = json.find(name);
    if (found == json.end() || wrong) return;
    if (const Wrong inside = from_json(*found, value)) wrong = fmt::format("{}: {}", name, *inside);
  }
  template <class T>
  void operator()(const char* name, std::optional<T>& value) {
    if (json.contains(name)) value.emplace();
    T unused{};
    (*this)(name, value ? *value : unused);
  }
};

template <Object T>
Wrong from_json(const Json& json, T& object) {
  if (!json.is_object()) return "want an object";
  Decoder decoder{json};
  fields(decoder, object);
  if (decoder.wrong) return decoder.wrong;
  for (const auto& [name, value] : json.items())
    if (std::find(decoder.names.begin(), decoder.names.end(), name) == decoder.names.end())
      return fmt::format("no member is called {}; there are {}", name, fmt::join(decoder.names, ", "));
  return std::nullopt;
}

template <class T>
std::string encoded(const T& object) {
  // What a DUT says of itself may be no UTF-8.
  return to_json(object).dump(-1, ' ', true, Json::error_handler_t::replace) + '\n';
}

template <class T>
Result<T> decoded(std::string_view line) {
  constexpr int deepest = 4;  // no message needs more, and less memory is needed to refuse it
  bool too_deep = false;
  const auto keep = [&too_deep](int depth, Json::parse_event_t, Json&) {
    too_deep = too_deep || depth > deepest;
    return depth <= deepest;
  };
  const Json json = Json::parse(line, keep, false);
  if (too_deep) return Error{"the line is nested deeper than any message"};
  if (json.is_discarded()) return Error{"the line is not JSON"};
  T object;
  if (const Wrong wrong = from_json(json, object)) return Error{*wrong};
  return object;
}

}  // namespace

std::string_view name(Do action) {
  for (const auto& [word, meaning] : actions)
    if (meaning == action) return word;
  return "";
}

std::string to_line(const Request& request) { return encoded(request); }
std::string to_line(const Reply& reply) { return encoded(reply); }
Result<Request> read_request(std::string_view line) { return decoded<Request>(line); }
Result<Reply> read_reply(std::string_view line) { return decoded<Reply>(line); }

std::optional<MacAddress> mac_address(std::string_view text) {
  MacAddress mac{};
  if (text.size() != 3 * mac.size() - 1) return std::nullopt;
  for (std::size_t i = 0; i < mac.size(); ++i) {
    const char* first = text.data() + 3 * i;
    if (std::from_chars(first, first + 2, mac[i], 16).ptr != first + 2) return std::nullopt;
    if (i + 1 < mac.size() && first[2] != ':') return std::nullopt;
  }
  return mac;
}

Result<std::string> read_token(const std::string& path) {
  struct stat file {};
  if (stat(path.c_str(), &file) != 0)
    return Error{
        fmt::format("cannot read the token file {}: make one with: (umask 077; head -c 24 /dev/urandom | "
                    "base64 > {})",
                    path, path)};
  if ((file.st_mode & (S_IROTH | S_IWOTH)) != 0)
    return Error{fmt::format("token file {}: everybody may read or write it; chmod 600 {}", path, path)};
  std::ifstream in(path);
  std::string token;
  if (!in || !S_ISREG(file.st_mode)) return Error{fmt::format("cannot read the token file {}", path)};
  constexpr std::size_t shortest = 16, longest = 1024;
  std::array<char, longest + 2> buffer{};
  in.read(buffer.data(), buffer.size());
  token.assign(buffer.data(), static_cast<std::size_t>(in.gcount()));
  token.resize(std::min(token.size(), token.find('\n')));
  if (token.ends_with('\r')) token.pop_back();
  if (token.size() < shortest || token.size() > longest)
    return Error{fmt::format("token file {}: its first line is {} characters long, want {} to {}", path, token.size(),
                             shortest, longest)};
  return token;
}

bool same_token(std::string_view expected, std::string_view given) {
  unsigned difference = expected.size() != given.size();
  for (std::size_t i = 0; i < given.size(); ++i)
    difference |= static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(expected[i % expected.size()]);
  return difference == 0;
}

}  // namespace rdmascope::replay::agent
