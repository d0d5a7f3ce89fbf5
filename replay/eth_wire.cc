#include "replay/eth_wire.h"

#include <errno.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netpacket/packet.h>
#include <pcap/pcap.h>
#include <poll.h>

#include <cstring>

namespace rdmascope::replay {
namespace {

// RoCEv2 to any UDP socket's eyes, RoCEv1, both also behind one VLAN tag.
constexpr const char* roce_filter =
    "udp dst port 4791 or ether proto 0x8915 or (vlan and (udp dst port 4791 or ether proto 0x8915))";

struct Addresses {
  std::optional<MacAddress> mac;
  std::optional<IpAddress> v4, v6;
};

Addresses addresses_of(const std::string& interface) {
  Addresses out;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return out;
  for (const ifaddrs* i = list; i; i = i->ifa_next) {
    if (!i->ifa_addr || interface != i->ifa_name) continue;
    IpAddress ip{};
    if (i->ifa_addr->sa_family == AF_PACKET) {
      sockaddr_ll link;
      std::memcpy(&link, i->ifa_addr, sizeof link);
      MacAddress mac;
      std::memcpy(mac.data(), link.sll_addr, mac.size());
      out.mac = mac;
    } else if (i->ifa_addr->sa_family == AF_INET && !out.v4) {
      sockaddr_in v4;
      std::memcpy(&v4, i->ifa_addr, sizeof v4);
      ip[10] = ip[11] = 0xff;
      std::memcpy(ip.data() + 12, &v4.sin_addr, 4);
      out.v4 = ip;
    } else if (i->ifa_addr->sa_family == AF_INET6) {
      sockaddr_in6 v6;
      std::memcpy(&v6, i->ifa_addr, sizeof v6);
      std::memcpy(ip.data(), &v6.sin6_addr, 16);
      if (!out.v6 || IN6_IS_ADDR_LINKLOCAL(reinterpret_cast<const in6_addr*>(out.v6->data()))) out.v6 = ip;
    }
  }
  freeifaddrs(list);
  return out;
}

}  // namespace

Result<std::unique_ptr<EthWire>> EthWire::open(const std::string& interface, std::optional<IpAddress> address) {
  const auto fail = [&interface](std::string_view what) {
    return Error{fmt::format("eth wire: {}: {}", interface, what)};
  };
  if (if_nametoindex(interface.c_str()) == 0) return fail("no such network interface");
  std::unique_ptr<EthWire> wire(new EthWire);
  wire->interface_ = interface;
  const Addresses own = addresses_of(interface);
  if (!own.mac) return fail("has no MAC address");
  wire->mac_ = *own.mac;
  if (!address) address = own.v4 ? own.v4 : own.v6;
  if (!address) return fail("has no IP address; name one: eth:INTERFACE:ADDRESS");
  wire->address_ = *address;

  char text[PCAP_ERRBUF_SIZE] = "";
  pcap* const handle = wire->handle_ = pcap_create(interface.c_str(), text);
  if (!handle) return fail(text);
  pcap_set_snaplen(handle, 65535);
  pcap_set_immediate_mode(handle, 1);
  pcap_set_buffer_size(handle, 8 << 20);
  pcap_set_tstamp_precision(handle, PCAP_TSTAMP_PRECISION_NANO);
  const int status = pcap_activate(handle);
  if (status == PCAP_ERROR_PERM_DENIED) return fail("needs root or CAP_NET_RAW");
  if (status < 0) return fail(pcap_geterr(handle));
  if (pcap_datalink(handle) != DLT_EN10MB) return fail("carries no Ethernet frames");
  bpf_program program{};
  if (pcap_compile(handle, &program, roce_filter, 1, PCAP_NETMASK_UNKNOWN) != 0) return fail(pcap_geterr(handle));
  const bool filtered = pcap_setfilter(handle, &program) == 0;
  pcap_freecode(&program);
  if (!filtered || pcap_setdirection(handle, PCAP_D_IN) != 0 || pcap_setnonblock(handle, 1, text) != 0)
    return fail(pcap_geterr(handle));
  return wire;
}

EthWire::~EthWire() {
  if (handle_) pcap_close(handle_);
}

std::int64_t EthWire::now_ns() { return real_time_ns(); }

Result<void> EthWire::send(std::span<const std::uint8_t> frame) {
  const int sent = pcap_inject(handle_, frame.data(), frame.size());
  if (sent == static_cast<int>(frame.size())) return {};
  return Error{fmt::format("eth wire: {}: cannot send {} bytes: {}", interface_, frame.size(), pcap_geterr(handle_))};
}

Result<std::optional<Received>> EthWire::receive(std::int64_t deadline_ns) {
  while (true) {
    pcap_pkthdr* header = nullptr;
    const u_char* bytes = nullptr;
    const int status = pcap_next_ex(handle_, &header, &bytes);
    if (status == 1) {
      Received received;
      received.bytes.assign(bytes, bytes + header->caplen);
      // With nanosecond precision tv_usec counts nanoseconds.
      received.time_ns = static_cast<std::int64_t>(header->ts.tv_sec) * 1'000'000'000 + header->ts.tv_usec;
      return std::optional<Received>(std::move(received));
    }
    if (status < 0) return Error{fmt::format("eth wire: {}: cannot receive: {}", interface_, pcap_geterr(handle_))};
    const std::int64_t left = deadline_ns - real_time_ns();
    if (left <= 0) return std::optional<Received>();
    pollfd wait{pcap_get_selectable_fd(handle_), POLLIN, 0};
    const timespec timeout{left / 1'000'000'000, left % 1'000'000'000};
    ppoll(&wait, 1, &timeout, nullptr);
  }
}

}  // namespace rdmascope::replay
