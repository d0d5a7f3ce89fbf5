#include "replay/model_frame.h"

#include <algorithm>
#include <cstring>

#include "dissect/headers.h"

namespace rdmascope::replay {
namespace {

using namespace dissect;

constexpr std::uint32_t icrc_bytes = 4;

// A header at the end of a frame under construction.
template <class H>
class Out {
 public:
  explicit Out(std::vector<std::uint8_t>& frame) : frame_(frame), at_(frame.size()) { frame.resize(at_ + H::bytes); }
  template <Name name>
  Out& put(std::uint64_t value) {
    store(frame_.data() + at_, field<H, name>(), value);
    return *this;
  }
  template <Name name>
  Out& put(std::span<const std::uint8_t> bytes) {
    constexpr Field f = field<H, name>();
    std::copy_n(bytes.end() - f.width / 8, f.width / 8, frame_.data() + at_ + f.at / 8);
    return *this;
  }
  std::size_t at() const { return at_; }

 private:
  std::vector<std::uint8_t>& frame_;
  std::size_t at_;
};

// What stands before BTH. Says how the ICRC masks it, and where it begins.
struct Outside {
  Envelope envelope;
  std::size_t from;
};

Outside write_outside(std::vector<std::uint8_t>& f, const Path& path, std::uint32_t inner_bytes, std::uint16_t ip_id) {
  constexpr std::uint8_t hops = 64;
  const bool v1 = path.wrap == Wrap::roce_v1, v4 = is_ipv4(path.destination);
  if (path.link_type == 1)
    Out<Ethernet>(f)
        .put<"dst">(path.destination_mac)
        .put<"src">(path.source_mac)
        .put<"type">(v1   ? ethertype_roce
                     : v4 ? ethertype_ipv4
                          : ethertype_ipv6);
  const std::size_t from = f.size();
  if (v1) {
    Out<Grh>(f)
        .put<"ipver">(6)
        .put<"paylen">(inner_bytes)
        .put<"nxthdr">(nxthdr_iba)
        .put<"hoplmt">(hops)
        .put<"sgid">(path.source)
        .put<"dgid">(path.destination);
    return {Envelope::roce_v1, from};
  }
  const std::uint32_t udp_bytes = Udp::bytes + inner_bytes;
  if (v4) {
    Out<Ipv4> ip(f);
    ip.put<"version">(4)
        .put<"hdr_len">(Ipv4::bytes / 4)
        .put<"dsfield.ecn">(2)
        .put<"len">(Ipv4::bytes + udp_bytes)
        .put<"id">(ip_id)
        .put<"flags.df">(1)
        .put<"ttl">(hops)
        .put<"proto">(ip_udp)
        .put<"src">(path.source)
        .put<"dst">(path.destination);
    ip.put<"checksum">(internet_checksum({f.data() + ip.at(), Ipv4::bytes}));
  } else {
    Out<Ipv6>(f)
        .put<"version">(6)
        .put<"tclass.ecn">(2)
        .put<"plen">(udp_bytes)
        .put<"nxt">(ip_udp)
        .put<"hlim">(hops)
        .put<"src">(path.source)
        .put<"dst">(path.destination);
  }
  Out<Udp>(f).put<"srcport">(path.source_port).put<"dstport">(port_roce_v2).put<"length">(udp_bytes);
  return {v4 ? Envelope::roce_v2_ipv4 : Envelope::roce_v2_ipv6, from};
}

std::uint32_t extension_bytes(std::uint16_t bits) {
  constexpr std::pair<std::uint16_t, std::uint32_t> sizes[] = {
      {ext_deth, Deth::bytes},   {ext_feth, Feth::bytes},
      {ext_reth, Reth::bytes},   {ext_aeth, Aeth::bytes},
      {ext_immdt, Immdt::bytes}, {ext_atomiceth, Atomiceth::bytes},
      {ext_ieth, Ieth::bytes},   {ext_atomicacketh, Atomicacketh::bytes}};
  std::uint32_t sum = 0;
  for (const auto& [bit, bytes] : sizes)
    if (bits & bit) sum += bytes;
  return sum;
}

void write_extensions(std::vector<std::uint8_t>& f, const OutPacket& p, std::uint16_t bits) {
  if (bits & ext_deth) Out<Deth>(f).put<"q_key">(p.q_key).put<"srcqp">(p.source_qpn);
  if (bits & ext_feth) Out<Feth>(f).put<"sel">(p.selectivity).put<"plt">(p.placement);
  if (bits & ext_reth) Out<Reth>(f).put<"va">(p.va).put<"r_key">(p.r_key).put<"dmalen">(p.dma_length);
  if (bits & ext_atomiceth)
    Out<Atomiceth>(f).put<"va">(p.va).put<"r_key">(p.r_key).put<"swapdt">(p.swap_or_add).put<"cmpdt">(p.compare);
  if (bits & ext_aeth) Out<Aeth>(f).put<"syndrome">(p.syndrome).put<"msn">(p.msn);
  if (bits & ext_atomicacketh) Out<Atomicacketh>(f).put<"origremdt">(p.original);
  if (bits & ext_immdt) Out<Immdt>(f).put<"data">(p.immediate);
  if (bits & ext_ieth) Out<Ieth>(f).put<"r_key">(p.invalidate);
}

}  // namespace

std::vector<std::uint8_t> write_frame(const OutPacket& p, const Path& path, std::uint16_t ip_id) {
  const std::uint16_t extensions = p.extensions.value_or(opcodes[p.opcode].extensions);
  const std::uint32_t pad = static_cast<std::uint32_t>(-p.payload.size() & 3);
  const std::uint32_t inner =
      Bth::bytes + extension_bytes(extensions) + static_cast<std::uint32_t>(p.payload.size()) + pad + icrc_bytes;
  std::vector<std::uint8_t> f;
  f.reserve(Ethernet::bytes + Grh::bytes + Udp::bytes + inner);
  const Outside outside = write_outside(f, path, inner, ip_id);
  Out<Bth> bth(f);
  bth.put<"opcode">(p.opcode)
      .put<"se">(p.solicited)
      .put<"m">(1)  // migrated, the normal state of most hardware
      .put<"padcnt">(p.pad_count.value_or(static_cast<std::uint8_t>(pad)))
      .put<"tver">(p.tver)
      .put<"p_key">(path.p_key)
      .put<"destqp">(path.destination_qpn)
      .put<"a">(p.ack_request)
      .put<"reserved7">(p.reserved7)
      .put<"psn">(p.psn);
  write_extensions(f, p, extensions);
  f.insert(f.end(), p.payload.begin(), p.payload.end());
  f.insert(f.end(), pad, p.pad_byte);
  std::uint32_t icrc = 0;
  compute_icrc(outside.envelope, std::span(f).subspan(outside.from), bth.at() - outside.from, icrc);
  Out<Icrc>(f).put<"crc">(icrc ^ p.icrc_xor);
  return f;
}

}  // namespace rdmascope::replay
