#include "replay/build.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstring>
#include <string>

#include "dissect/crc.h"
#include "dissect/field_index.h"
#include "dissect/headers.h"

namespace rdmascope::replay {

bool is_ipv4(const IpAddress& address) {
  constexpr std::uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::memcmp(address.data(), mapped, sizeof mapped) == 0;
}

std::uint16_t internet_checksum(std::span<const std::uint8_t> bytes) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) sum += static_cast<std::uint32_t>(bytes[i] << 8 | bytes[i + 1]);
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

namespace {

using dissect::Envelope;
using dissect::Field;
using dissect::Header;
using dissect::header;
using dissect::put;

std::optional<dissect::FieldRef> find_one(std::string_view name) {
  for (const std::string& candidate : {std::string(name), "infiniband." + std::string(name)}) {
    const std::vector<dissect::FieldRef> refs = dissect::find_fields(candidate);
    if (refs.size() == 1 && refs[0].field) return refs[0];
  }
  return std::nullopt;
}

Error no_field(std::string_view name) {
  for (const std::string& candidate : {std::string(name), "infiniband." + std::string(name)})
    if (dissect::find_fields(candidate).size() > 1)
      return Error{fmt::format("{}: stands for several fields; name one of them", name)};
  std::string near = dissect::nearest_field_name(name);
  if (near.empty()) near = dissect::nearest_field_name("infiniband." + std::string(name));
  return Error{fmt::format("{}: no such field{}", name, near.empty() ? "" : fmt::format("; did you mean {}?", near))};
}

bool is_extension(const Header* h) {
  return std::ranges::find(dissect::extension_headers, h) != std::end(dissect::extension_headers);
}

// Headers behind BTH in wire order.
void add_extension(std::vector<const Header*>& list, const Header* h) {
  if (std::ranges::find(list, h) != list.end()) return;
  const auto place = [](const Header* x) { return std::ranges::find(dissect::extension_headers, x); };
  list.insert(std::ranges::find_if(list, [&](const Header* x) { return place(x) > place(h); }), h);
}

// A frame under construction: headers one after the other.
struct Frame {
  struct Part {
    const Header* header;
    std::size_t at;
  };
  std::vector<std::uint8_t> bytes;
  std::vector<Part> parts;

  void add(const Header& h) {
    parts.push_back({&h, bytes.size()});
    bytes.resize(bytes.size() + h.bytes);
  }
  template <class H>
  std::uint8_t* of() {
    for (const Part& part : parts)
      if (part.header == &header<H>) return bytes.data() + part.at;
    return nullptr;
  }
  std::size_t offset(const std::uint8_t* p) const { return static_cast<std::size_t>(p - bytes.data()); }
};

void fill_ethernet(Frame& frame, const Path& path) {
  std::uint8_t* eth = frame.of<dissect::Ethernet>();
  if (!eth) return;
  const std::uint16_t inside = path.wrap == Wrap::roce_v1 ? dissect::ethertype_roce
                               : is_ipv4(path.source)     ? dissect::ethertype_ipv4
                                                          : dissect::ethertype_ipv6;
  put<dissect::Ethernet, "dst">(eth, path.destination_mac);
  put<dissect::Ethernet, "src">(eth, path.source_mac);
  put<dissect::Ethernet, "type">(eth, inside);
  if (std::uint8_t* vlan = frame.of<dissect::Vlan>()) {
    put<dissect::Ethernet, "type">(eth, dissect::ethertype_vlan);
    put<dissect::Vlan, "id">(vlan, path.vlan.value_or(0));
    put<dissect::Vlan, "etype">(vlan, inside);
  }
}

// Lengths count to the end of the ICRC.
void fill_network(Frame& frame, const Path& path, std::size_t end) {
  if (std::uint8_t* ip = frame.of<dissect::Ipv4>()) {
    put<dissect::Ipv4, "version">(ip, 4);
    put<dissect::Ipv4, "hdr_len">(ip, dissect::Ipv4::bytes / 4);
    put<dissect::Ipv4, "len">(ip, end - frame.offset(ip));
    put<dissect::Ipv4, "flags.df">(ip, 1);
    put<dissect::Ipv4, "ttl">(ip, 64);
    put<dissect::Ipv4, "proto">(ip, dissect::ip_udp);
    put<dissect::Ipv4, "src">(ip, std::span(path.source).last(4));
    put<dissect::Ipv4, "dst">(ip, std::span(path.destination).last(4));
  }
  if (std::uint8_t* ip = frame.of<dissect::Ipv6>()) {
    put<dissect::Ipv6, "version">(ip, 6);
    put<dissect::Ipv6, "plen">(ip, end - frame.offset(ip) - dissect::Ipv6::bytes);
    put<dissect::Ipv6, "nxt">(ip, dissect::ip_udp);
    put<dissect::Ipv6, "hlim">(ip, 64);
    put<dissect::Ipv6, "src">(ip, path.source);
    put<dissect::Ipv6, "dst">(ip, path.destination);
  }
  if (std::uint8_t* udp = frame.of<dissect::Udp>()) {
    put<dissect::Udp, "srcport">(udp, path.source_port);
    put<dissect::Udp, "dstport">(udp, dissect::port_roce_v2);
    put<dissect::Udp, "length">(udp, end - frame.offset(udp));
  }
  if (std::uint8_t* lrh = frame.of<dissect::Lrh>()) {
    put<dissect::Lrh, "lnh">(lrh, frame.of<dissect::Grh>() ? 3 : 2);
    put<dissect::Lrh, "dlid">(lrh, path.destination_lid);
    put<dissect::Lrh, "pktlen">(lrh, (end - frame.offset(lrh)) / 4);
    put<dissect::Lrh, "slid">(lrh, path.source_lid);
  }
  if (std::uint8_t* grh = frame.of<dissect::Grh>()) {
    put<dissect::Grh, "ipver">(grh, 6);
    put<dissect::Grh, "paylen">(grh, end - frame.offset(grh) - dissect::Grh::bytes);
    put<dissect::Grh, "nxthdr">(grh, dissect::nxthdr_iba);
    put<dissect::Grh, "hoplmt">(grh, 64);
    put<dissect::Grh, "sgid">(grh, path.source);
    put<dissect::Grh, "dgid">(grh, path.destination);
  }
}

void fill_transport(Frame& frame, const Path& path, std::uint8_t opcode, std::size_t pad_bytes) {
  const dissect::Opcode& o = dissect::opcodes[opcode];
  const bool ends = o.position == dissect::Position::last || o.position == dissect::Position::only;
  const bool reliable = o.transport == dissect::Transport::rc || o.transport == dissect::Transport::xrc;
  std::uint8_t* bth = frame.of<dissect::Bth>();
  put<dissect::Bth, "opcode">(bth, opcode);
  put<dissect::Bth, "padcnt">(bth, pad_bytes & 3);
  put<dissect::Bth, "p_key">(bth, path.p_key);
  put<dissect::Bth, "destqp">(bth, path.destination_qpn);
  put<dissect::Bth, "a">(bth, reliable && ends && !o.response);
  if (o.transport == dissect::Transport::cnp) put<dissect::Bth, "becn">(bth, 1);
  if (std::uint8_t* aeth = frame.of<dissect::Aeth>()) put<dissect::Aeth, "syndrome">(aeth, dissect::no_credit_limit);
}

// Where the ICRC's coverage begins, and how its header is masked.
Envelope envelope(Frame& frame, std::size_t& from) {
  if (const std::uint8_t* ip = frame.of<dissect::Ipv4>()) return from = frame.offset(ip), Envelope::roce_v2_ipv4;
  if (const std::uint8_t* ip = frame.of<dissect::Ipv6>()) return from = frame.offset(ip), Envelope::roce_v2_ipv6;
  if (const std::uint8_t* lrh = frame.of<dissect::Lrh>())
    return from = frame.offset(lrh), frame.of<dissect::Grh>() ? Envelope::ib_global : Envelope::ib_local;
  from = frame.offset(frame.of<dissect::Grh>());
  return Envelope::roce_v1;
}

}  // namespace

Draft::Draft(std::uint8_t opcode) : opcode_(opcode) {}

Draft::Draft(const dissect::Packet& packet) {
  const std::span<const dissect::Layer> layers = packet.layers();
  std::size_t i = static_cast<std::size_t>(packet.bth_layer);
  opcode_ = packet.data(layers[i])[0];
  extensions_.emplace();
  std::size_t end = 0;
  for (; i < layers.size(); ++i) {
    const dissect::Layer& layer = layers[i];
    if (layer.header != &header<dissect::Bth> && !is_extension(layer.header)) break;
    if (layer.header != &header<dissect::Bth>) extensions_->push_back(layer.header);
    const std::uint8_t* at = packet.data(layer);
    for (const Field& f : layer.header->fields) {
      if (f.kind != Field::Kind::wire) continue;
      if (f.width <= 64)
        settings_.push_back({layer.header, &f, dissect::load(at, f), {}});
      else
        settings_.push_back({layer.header, &f, 0, {at + f.at / 8, at + (f.at + f.width) / 8}});
    }
    end = layer.at + layer.bytes;
  }
  const std::span<const std::uint8_t> rest = packet.bytes.subspan(end);
  const std::span<const std::uint8_t> data = rest.first(std::min<std::size_t>(rest.size(), packet.payload_bytes));
  const std::span<const std::uint8_t> behind = rest.subspan(data.size());
  payload.assign(data.begin(), data.end());
  pad.emplace(behind.begin(),
              behind.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(behind.size(), packet.pad_bytes)));
}

Result<void> Draft::set(std::string_view name, std::uint64_t value) {
  const std::optional<dissect::FieldRef> ref = find_one(name);
  if (!ref) return no_field(name);
  const Field& f = *ref->field;
  if (f.width == 0 || f.width > 64 || f.count > 1) return Error{fmt::format("{}: cannot be set to a number", name)};
  if (value % f.scale != 0) return Error{fmt::format("{}: must be a multiple of {}", name, f.scale)};
  if (value / f.scale > f.mask())
    return Error{fmt::format("{}: {} does not fit into its {} bits", name, value, f.width)};
  settings_.push_back({ref->header, ref->field, value / f.scale, {}});
  return {};
}

Result<void> Draft::set(std::string_view name, std::span<const std::uint8_t> bytes) {
  const std::optional<dissect::FieldRef> ref = find_one(name);
  if (!ref) return no_field(name);
  const Field& f = *ref->field;
  if (f.width == 0 || f.width % 8 != 0 || f.at % 8 != 0 || f.count > 1)
    return Error{fmt::format("{}: cannot be set to bytes", name)};
  if (bytes.size() != f.width / 8u)
    return Error{fmt::format("{}: needs {} bytes, not {}", name, f.width / 8, bytes.size())};
  settings_.push_back({ref->header, ref->field, 0, {bytes.begin(), bytes.end()}});
  return {};
}

bool Draft::is_set(std::string_view name) const {
  const std::optional<dissect::FieldRef> ref = find_one(name);
  return ref && std::ranges::any_of(settings_, [&](const Setting& s) { return s.field == ref->field; });
}

Result<void> Draft::headers(std::span<const std::string_view> names) {
  std::vector<const Header*> list;
  for (std::string_view name : names) {
    const Header* h = dissect::find_header(name);
    if (!h || !is_extension(h)) return Error{fmt::format("{}: no header that may follow BTH", name)};
    list.push_back(h);
  }
  extensions_ = std::move(list);
  return {};
}

Result<std::vector<std::uint8_t>> Draft::build(const Path& path) const {
  const auto sets = [this](const Header& h) {
    return std::ranges::any_of(settings_, [&h](const Setting& s) { return s.header == &h; });
  };
  Frame frame;
  if (path.link_type == 1) {
    frame.add(header<dissect::Ethernet>);
    if (path.vlan || sets(header<dissect::Vlan>)) frame.add(header<dissect::Vlan>);
  }
  switch (path.wrap) {
    case Wrap::roce_v2:
      frame.add(is_ipv4(path.source) ? header<dissect::Ipv4> : header<dissect::Ipv6>);
      frame.add(header<dissect::Udp>);
      break;
    case Wrap::roce_v1:
      frame.add(header<dissect::Grh>);
      break;
    case Wrap::infiniband:
      frame.add(header<dissect::Lrh>);
      if (sets(header<dissect::Grh>)) frame.add(header<dissect::Grh>);
      break;
  }
  frame.add(header<dissect::Bth>);
  std::vector<const Header*> extensions;
  if (extensions_) {
    extensions = *extensions_;
  } else {
    for (unsigned bits = dissect::opcodes[opcode_].extensions; bits != 0; bits &= bits - 1)
      extensions.push_back(dissect::extension_headers[std::countr_zero(bits)]);
    for (const Setting& s : settings_)
      if (is_extension(s.header)) add_extension(extensions, s.header);
  }
  for (const Header* h : extensions) frame.add(*h);
  const std::size_t payload_at = frame.bytes.size();
  frame.bytes.insert(frame.bytes.end(), payload.begin(), payload.end());
  const std::size_t pad_bytes = pad ? pad->size() : -payload.size() & 3;
  if (pad)
    frame.bytes.insert(frame.bytes.end(), pad->begin(), pad->end());
  else
    frame.bytes.resize(payload_at + payload.size() + pad_bytes);
  frame.add(header<dissect::Icrc>);
  const std::size_t end = frame.bytes.size();
  if (path.wrap == Wrap::infiniband) frame.add(header<dissect::Vcrc>);

  fill_ethernet(frame, path);
  fill_network(frame, path, end);
  fill_transport(frame, path, opcode_, pad_bytes);
  const auto apply = [&](bool crcs) -> Result<void> {
    for (const Setting& s : settings_) {
      if (crcs != (s.header == &header<dissect::Icrc> || s.header == &header<dissect::Vcrc>)) continue;
      const auto part = std::ranges::find(frame.parts, s.header, &Frame::Part::header);
      if (part == frame.parts.end())
        return Error{
            fmt::format("{}: frames of this wire have no such header", dissect::full_name(*s.header, *s.field))};
      std::uint8_t* at = frame.bytes.data() + part->at;
      if (s.bytes.empty())
        dissect::store(at, *s.field, s.number);
      else
        std::memcpy(at + s.field->at / 8, s.bytes.data(), s.bytes.size());
    }
    return {};
  };
  if (Result<void> applied = apply(false); !applied) return Error{applied.error()};

  std::uint8_t* ip = frame.of<dissect::Ipv4>();
  if (ip && !is_set("ip.checksum")) put<dissect::Ipv4, "checksum">(ip, internet_checksum({ip, dissect::Ipv4::bytes}));
  std::size_t from = 0;
  const Envelope masked = envelope(frame, from);
  const std::size_t bth = frame.offset(frame.of<dissect::Bth>());
  const std::size_t icrc_at = end - dissect::Icrc::bytes;
  std::uint32_t icrc = 0;
  dissect::compute_icrc(masked, std::span(frame.bytes).subspan(from, icrc_at - from), bth - from, icrc);
  put<dissect::Icrc, "crc">(frame.bytes.data() + icrc_at, icrc ^ icrc_xor);
  if (Result<void> applied = apply(true); !applied) return Error{applied.error()};
  if (std::uint8_t* vcrc = frame.of<dissect::Vcrc>(); vcrc && !is_set("infiniband.variant.crc"))
    put<dissect::Vcrc, "crc">(vcrc, dissect::compute_vcrc(std::span(frame.bytes).subspan(from, end - from)));
  frame.bytes.resize(frame.bytes.size() - std::min<std::size_t>(cut_bytes, frame.bytes.size()));
  return std::move(frame.bytes);
}

std::optional<std::uint8_t> opcode_by_name(std::string_view name) {
  std::string wanted;
  for (char c : name) wanted += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  // The specification's short form leaves RDMA out: RC_READ_REQUEST, RC_WRITE_ONLY.
  const auto shortened = [](std::string_view full) {
    std::string s(full);
    if (const std::size_t at = s.find("RDMA_"); at != std::string::npos) s.erase(at, 5);
    return s;
  };
  for (unsigned code = 0; code < 256; ++code) {
    const std::string_view full = dissect::opcodes[code].name;
    if (!full.empty() && (full == wanted || shortened(full) == wanted)) return static_cast<std::uint8_t>(code);
  }
  return std::nullopt;
}

}  // namespace rdmascope::replay
