// AWS CDI: the vectors and the exchange of the reference (cdi-probe.md 2.8, 2.9, 4.3), what is wrong in messages, what
// must not be taken for one; EFA headers and records.
#include "dissect/cdi.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "dissect/guess.h"
#include "dissect/headers.h"
#include "dissect/json.h"
#include "dissect/summary.h"
#include "dissect/tree.h"
#include "tests/unit/walked.h"

namespace rdmascope::dissect {
namespace {

using namespace rdmascope::test;
using Bytes = std::vector<std::uint8_t>;

constexpr std::uint16_t link_ipv4 = 228, link_upper_pdu = 252, link_user1 = 148;

// "len=252 0=0100 71=fe80": bytes at offsets, all others 0. The form of the reference.
Bytes from_vector(std::string_view text) {
  Bytes out;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (word.empty()) continue;
    const std::size_t equals = word.find('=');
    const std::string_view value = word.substr(equals + 1);
    if (word.starts_with("len=")) {
      out.resize(std::stoul(std::string(value)));
      continue;
    }
    const Bytes bytes = from_hex(value);
    const std::size_t at = std::stoul(std::string(word.substr(0, equals)));
    EXPECT_LE(at + bytes.size(), out.size());
    std::copy(bytes.begin(), bytes.end(), out.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return out;
}

struct ControlVector {
  std::string_view name, info, text;
};

#define EFA_END " 71=fe80 79=021122fffe3344553412000078563412"
// 2.8: made by the encoder of the SDK.
constexpr ControlVector encoded[] = {
    {"1.0.5 Reset", "Reset #1 1.0.5 asks for Ack stream \"cam1\"",
     "len=252 0=0100050100000031302e302e302e31" EFA_END " 103=63616d31 241=ffffffff01c00100502801"},
    {"1.0.5 Ping", "Ping #2 1.0.5 asks for Ack stream \"cam1\"",
     "len=252 0=0100050200000031302e302e302e31" EFA_END " 103=63616d31 241=ffffffff01c00200502601"},
    {"1.0.5 Connected", "Connected #3 1.0.5 stream \"cam1\"",
     "len=252 0=0100050300000031302e302e302e31" EFA_END " 103=63616d31 241=ffffffff01c003005025"},
    {"1.0.5 ProtVer", "ProtocolVersion #4 1.0.5 asks for Ack stream \"cam1\"",
     "len=252 0=0100050500000031302e302e302e31" EFA_END " 103=63616d31 241=ffffffff01c00400502101"},
    {"1.0.5 Ack", "Ack #1 of Reset #1 1.0.5",
     "len=257 0=0100050400000031302e302e302e31" EFA_END " 241=ffffffffd00701009b260100000001"},
    {"1.0.0 Reset", "Reset #1 1.0.0 asks for Ack stream \"cam1\"",
     "len=252 0=0100000100000031302e302e302e31" EFA_END " 103=63616d31 241=ffffffff01c00100552801"},
    {"1.0.0 Ping", "Ping #2 1.0.0 asks for Ack stream \"cam1\"",
     "len=252 0=0100000200000031302e302e302e31" EFA_END " 103=63616d31 241=ffffffff01c00200552601"},
    {"1.0.0 Connected", "Connected #3 1.0.0 stream \"cam1\"",
     "len=252 0=0100000300000031302e302e302e31" EFA_END " 103=63616d31 241=ffffffff01c003005525"},
    {"1.0.0 Ack", "Ack #1 of Reset #1 1.0.0",
     "len=257 0=0100000400000031302e302e302e31" EFA_END " 241=ffffffffd0070100a0260100000001"},
    {"2.1.4 Reset", "Reset #1 2.1.4 asks for Ack stream \"cam1\"",
     "len=248 0=0201040100000031302e302e302e31" EFA_END " 103=63616d31 241=01c00100502701"},
    {"2.1.4 Ping", "Ping #2 2.1.4 asks for Ack stream \"cam1\"",
     "len=248 0=0201040200000031302e302e302e31" EFA_END " 103=63616d31 241=01c00200502501"},
    {"2.1.4 Connected", "Connected #3 2.1.4 stream \"cam1\"",
     "len=248 0=0201040300000031302e302e302e31" EFA_END " 103=63616d31 241=01c003005024"},
    {"2.1.4 ProtVer", "ProtocolVersion #4 2.1.4 asks for Ack stream \"cam1\"",
     "len=248 0=0201040500000031302e302e302e31" EFA_END " 103=63616d31 241=01c00400502001"},
    {"2.1.4 Ack", "Ack #1 of Reset #1 2.1.4",
     "len=253 0=0201040400000031302e302e302e31" EFA_END " 241=d00701009b250100000001"},
    {"2.3.5 Reset", "Reset #1 2.3.5 asks for Ack stream \"cam1\"",
     "len=248 0=0203050100000031302e302e302e31" EFA_END " 103=63616d31 241=01c001004f2501"},
    {"2.3.5 Ping", "Ping #2 2.3.5 asks for Ack stream \"cam1\"",
     "len=248 0=0203050200000031302e302e302e31" EFA_END " 103=63616d31 241=01c002004f2301"},
    {"2.3.5 Connected", "Connected #3 2.3.5 stream \"cam1\"",
     "len=248 0=0203050300000031302e302e302e31" EFA_END " 103=63616d31 241=01c003004f22"},
    {"2.3.5 ProtVer", "ProtocolVersion #4 2.3.5 asks for Ack stream \"cam1\"",
     "len=248 0=0203050500000031302e302e302e31" EFA_END " 103=63616d31 241=01c004004f1e01"},
    {"2.3.5 Ack", "Ack #1 of Reset #1 2.3.5",
     "len=253 0=0203050400000031302e302e302e31" EFA_END " 241=d00701009a230100000001"},
};
// 2.9: recorded from the SDK, its addresses images of a sockaddr_in.
constexpr ControlVector recorded[] = {
    {"Reset#1", "Reset #1 1.0.5 asks for Ack",
     "len=252 0=010005010000003132372e302e302e31 71=020093677f000001 241=ffffffffbfc10100122f01"},
    {"Reset#2", "Reset #2 1.0.5 asks for Ack",
     "len=252 0=010005010000003132372e302e302e31 71=020093677f000001 241=ffffffffbfc10200122e01"},
    {"Reset#3", "Reset #3 1.0.5 asks for Ack",
     "len=252 0=010005010000003132372e302e302e31 71=020093677f000001 241=ffffffffbfc10300122d01"},
    {"Ack(Reset#3)", "Ack #1 of Reset #3 2.3.5",
     "len=253 0=020305040000003132372e302e302e31 71=020007d17f000001 241=d007010061a10100000003"},
    {"ProtVer#4", "ProtocolVersion #4 2.3.5 asks for Ack",
     "len=248 0=020305050000003132372e302e302e31 71=020093677f000001 241=bfc10400112501"},
    {"Ack(PV#4)", "Ack #2 of ProtocolVersion #4 2.3.5",
     "len=253 0=020305040000003132372e302e302e31 71=020007d27f000001 241=d0070200609b0500000004"},
    {"Connected#3", "Connected #3 2.3.5",
     "len=248 0=020305030000003132372e302e302e31 71=020007d27f000001 241=d007030060a4"},
    {"Ping#5", "Ping #5 2.3.5 asks for Ack",
     "len=248 0=020305020000003132372e302e302e31 71=02009a117f000001 241=bfc10500672001"},
    {"Ack(Ping#5)", "Ack #4 of Ping #5 2.3.5",
     "len=253 0=020305040000003132372e302e302e31 71=020007d27f000001 241=d0070400609b0200000005"},
    {"Ping#6", "Ping #6 2.3.5 asks for Ack",
     "len=248 0=020305020000003132372e302e302e31 71=02009a117f000001 241=bfc10600671f01"},
    {"Ack(Ping#6)", "Ack #5 of Ping #6 2.3.5",
     "len=253 0=020305040000003132372e302e302e31 71=020007d27f000001 241=d007050060990200000006"},
    {"Ping#7", "Ping #7 2.3.5 asks for Ack",
     "len=248 0=020305020000003132372e302e302e31 71=02009a117f000001 241=bfc10700671e01"},
    {"Ack(Ping#7)", "Ack #6 of Ping #7 2.3.5",
     "len=253 0=020305040000003132372e302e302e31 71=020007d27f000001 241=d007060060970200000007"},
    {"Reset#8", "Reset #8 2.3.5 asks for Ack",
     "len=248 0=020305010000003132372e302e302e31 71=02009a117f000001 241=bfc10800671e01"},
};

std::vector<ControlVector> all_vectors() {
  std::vector<ControlVector> all(std::begin(encoded), std::end(encoded));
  all.insert(all.end(), std::begin(recorded), std::end(recorded));
  return all;
}

// An IPv4 packet with a UDP datagram.
Bytes datagram(const Bytes& payload, std::uint16_t source = 49153, std::uint16_t destination = 2000) {
  const auto total = static_cast<std::uint16_t>(28 + payload.size()),
             udp = static_cast<std::uint16_t>(8 + payload.size());
  Bytes out = from_hex("45000000 00004000 40110000 0a000001 0a000002 00000000 00000000");
  const auto put16 = [&](std::size_t at, std::uint16_t v) {
    out[at] = static_cast<std::uint8_t>(v >> 8);
    out[at + 1] = static_cast<std::uint8_t>(v);
  };
  put16(2, total);
  put16(20, source);
  put16(22, destination);
  put16(24, udp);
  out.insert(out.end(), payload.begin(), payload.end());
  return out;
}

WalkOptions port_2000(std::string_view start = "cdi") {
  WalkOptions options;
  options.decode_as(2000, find_start(start));
  return options;
}

Walked walked(const Bytes& payload, const WalkOptions& options = {}) {
  return Walked(datagram(payload), link_ipv4, {}, options);
}
Walked started(const Bytes& bytes, std::string_view start) {
  WalkOptions options;
  options.start = find_start(start);
  EXPECT_NE(options.start, nullptr) << start;
  return Walked(bytes, link_ipv4, {}, options);
}

std::string info(const Packet& p) {
  Text out;
  put_info(out, p);
  return std::string(out.view());
}
std::string events(const Walked& w) { return w.text("rdmascope.event"); }

// All there is to say of it, so that sanitizers see every byte that is read.
void say_everything(const Walked& w) {
  Text out;
  put_json(out, w.packet, {true});
  put_tree(out, w.packet, "0");
  put_info(out, w.packet);
  static_cast<void>(tone(w.packet));
  for (const Layer& layer : w.packet.layers()) ASSERT_LE(layer.at + layer.bytes, w.bytes.size());
}

// Writes the value of every row into an empty layer.
Bytes rebuilt(const Walked& w, const Layer& layer) {
  const std::uint8_t* from = w.packet.data(layer);
  Bytes out(layer.bytes);
  std::size_t fixed = 0;
  for (const Field& f : layer.header->fields) {
    if (f.kind != Field::Kind::wire) continue;
    for (unsigned n = 0; n < f.count; ++n) {
      const std::size_t at = (f.at + n * f.stride) / 8u;
      if (f.width <= 64 && f.show <= Show::reserved)
        store(out.data(), f, load(from, f, n), n);
      else
        std::copy_n(from + at, f.width / 8, out.begin() + static_cast<std::ptrdiff_t>(at));
      fixed = std::max<std::size_t>(fixed, at + (f.at % 8 + f.width + 7u) / 8);
    }
  }
  std::copy(from + fixed, from + layer.bytes, out.begin() + static_cast<std::ptrdiff_t>(fixed));  // the rest
  return out;
}

// The bytes of the layers from `first` on, each made from its fields.
Bytes rebuilt(const Walked& w, std::string_view first) {
  Bytes out;
  bool inside = false;
  for (const Layer& layer : w.packet.layers()) {
    inside |= layer.header->name == first;
    if (!inside) continue;
    const Bytes bytes = rebuilt(w, layer);
    out.insert(out.end(), bytes.begin(), bytes.end());
  }
  return out;
}

TEST(CdiControl, VectorsAreRecognisedReadAndRebuilt) {
  EXPECT_EQ(all_vectors().size(), 33u);
  for (const ControlVector& v : all_vectors()) {
    SCOPED_TRACE(v.name);
    const Bytes message = from_vector(v.text);
    const Walked w = walked(message);
    EXPECT_EQ(info(w.packet), v.info);
    EXPECT_EQ(protocol(w.packet), "CDI");
    EXPECT_EQ(events(w), "");
    EXPECT_EQ(w.text("cdi.checksum.status"), "Good");
    EXPECT_EQ(rebuilt(w, "cdi"), message);
    EXPECT_EQ(guess_start(message), find_start("cdi"));
    EXPECT_EQ(info(started(message, "cdi").packet), v.info);
    EXPECT_EQ(info(walked(message, port_2000()).packet), v.info);
  }
}

TEST(CdiControl, FieldsOfBothLayouts) {
  const Walked v1 = walked(from_vector(encoded[0].text));
  EXPECT_EQ(v1.layers(), "ip udp cdi cdi.v1 cdi.control cdi.request");
  const Walked v2 = walked(from_vector(encoded[14].text));
  EXPECT_EQ(v2.layers(), "ip udp cdi cdi.control cdi.request");
  for (const Walked* w : {&v1, &v2}) {
    EXPECT_EQ(w->text("cdi.command"), "1");
    EXPECT_EQ(w->text("cdi.senders_ip_str"), "10.0.0.1");
    EXPECT_EQ(w->text("cdi.gid"), "fe80::211:22ff:fe33:4455");
    EXPECT_EQ(w->text("cdi.qpn"), "0x1234");
    EXPECT_EQ(w->text("cdi.qkey"), "0x12345678");
    EXPECT_EQ(w->text("cdi.sin_port"), "");
    EXPECT_EQ(w->text("cdi.senders_stream_name_str"), "cam1");
    EXPECT_EQ(w->text("cdi.senders_control_dest_port"), "49153");
    EXPECT_EQ(w->text("cdi.control_packet_num"), "1");
    EXPECT_EQ(w->text("cdi.requires_ack"), "1");
  }
  EXPECT_EQ(v1.text("cdi.version"), "1.0.5");
  EXPECT_EQ(v1.text("cdi.senders_stream_identifier"), "4294967295");
  EXPECT_EQ(v2.text("cdi.version"), "2.3.5");
  EXPECT_EQ(v2.text("cdi.senders_stream_identifier"), "");
  EXPECT_EQ(v2.text("cdi.checksum"), "0x254f");

  const Walked ack = walked(from_vector(recorded[5].text));
  EXPECT_EQ(ack.layers(), "ip udp cdi cdi.control cdi.ack");
  EXPECT_EQ(ack.text("cdi.ack_command"), "5");
  EXPECT_EQ(ack.text("cdi.ack.control_packet_num"), "4");
  EXPECT_EQ(ack.text("cdi.control_packet_num"), "2");
  EXPECT_EQ(ack.text("cdi.sin_port"), "2002");
  EXPECT_EQ(ack.text("cdi.sin_addr"), "127.0.0.1");
  EXPECT_EQ(ack.text("cdi.gid"), "");
}

// Nothing says that strings are filled up with zeros.
TEST(CdiControl, TextEndsAtItsFirstZero) {
  Bytes message = from_vector(encoded[14].text);
  for (std::size_t i = 108; i < 241; ++i) message[i] = 0x78;
  const std::uint16_t sum = cdi_checksum(message.data());
  message[245] = static_cast<std::uint8_t>(sum);
  message[246] = static_cast<std::uint8_t>(sum >> 8);
  const Walked w = walked(message);
  EXPECT_EQ(w.text("cdi.senders_stream_name_str"), "cam1");
}

// "flipping any single bit of the other 246 bytes must give a mismatch"
TEST(CdiControl, EveryBitCountsInTheChecksum) {
  const Bytes good = from_vector(encoded[14].text);
  unsigned tried = 0;
  for (std::size_t i = 0; i < good.size() * 8; ++i) {
    Bytes bad = good;
    bad[i / 8] ^= static_cast<std::uint8_t>(1 << i % 8);
    EXPECT_FALSE(is_cdi_control(bad)) << i;
    EXPECT_EQ(walked(bad).layers(), "ip udp data") << i;
    // Another layout, another command: then it is another message.
    const bool is_command = i / 8 >= 3 && i / 8 < 7;
    if (i == 1 || is_command) continue;
    ++tried;
    EXPECT_EQ(started(bad, "cdi").text("cdi.checksum.status"), "Bad") << i;
  }
  EXPECT_EQ(tried, 244u * 8 - 1);
}

TEST(CdiControl, SaysWhatTheChecksumShouldBe) {
  Bytes bad = from_vector(encoded[14].text);
  bad[245] ^= 1;
  const Walked w = walked(bad, port_2000());
  EXPECT_EQ(w.text("cdi.checksum.expected"), "0x0000254f");
  EXPECT_EQ(info(w.packet), "Reset #1 2.3.5 asks for Ack stream \"cam1\" [checksum bad, should be 0x254f]");
  EXPECT_EQ(tone(w.packet), Tone::bad_crc);
}

// Cut on the wire: never recognised; read as far as it goes where the user says it is CDI.
TEST(CdiControl, EveryTruncatedLength) {
  for (const ControlVector& v : {encoded[0], encoded[4], encoded[14], encoded[18]}) {
    const Bytes whole = from_vector(v.text);
    for (std::size_t length = 0; length < whole.size(); ++length) {
      const Bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
      EXPECT_EQ(walked(part).text("cdi.command"), "") << v.name << ' ' << length;
      for (const WalkOptions& options : {port_2000(), port_2000("cdi.data.v1"), port_2000("cdi.data.v2")})
        say_everything(walked(part, options));
      const Walked w = walked(part, port_2000());
      if (length >= 7) {
        EXPECT_NE(events(w), "") << v.name << ' ' << length;
      }
    }
    Bytes longer = whole;
    longer.push_back(0);
    EXPECT_EQ(walked(longer).text("cdi.command"), "") << v.name;
    EXPECT_EQ(events(walked(longer, port_2000())), "cdi.bad_length") << v.name;
  }
}

// Cut by the capture: the checksum cannot be judged.
TEST(CdiControl, EverySnapLength) {
  const Bytes whole = datagram(from_vector(encoded[4].text));
  for (std::size_t length = 28; length < whole.size(); ++length) {
    const Bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));
    EXPECT_EQ(Walked(part, link_ipv4, whole.size()).text("cdi.command"), "") << length;
    const Walked w(part, link_ipv4, whole.size(), port_2000());
    say_everything(w);
    if (w.packet.find(header<CdiControl>)) {
      EXPECT_EQ(w.text("cdi.checksum.status"), "Unverified") << length;
    }
  }
}

TEST(CdiControl, UnknownCommandsAndVersionsAreNotRecognisedButRead) {
  for (const auto& [at, value] : {std::pair{3, 0}, {3, 6}, {3, 9}, {4, 1}, {0, 0}, {0, 3}, {0, 255}}) {
    Bytes message = from_vector(encoded[14].text);
    message[static_cast<std::size_t>(at)] = static_cast<std::uint8_t>(value);
    if (cdi_control_bytes(message.data()) == message.size()) {
      const std::uint16_t sum = cdi_checksum(message.data());
      message[245] = static_cast<std::uint8_t>(sum);
      message[246] = static_cast<std::uint8_t>(sum >> 8);
    }
    EXPECT_EQ(walked(message).layers(), "ip udp data");
    const Walked w = walked(message, port_2000());
    EXPECT_TRUE(w.packet.find(header<Cdi>)) << at << ' ' << value;
    say_everything(w);
  }
}

// Ports that have an owner keep it, whatever the datagram looks like.
TEST(CdiControl, KnownPortsComeFirst) {
  const Bytes message = from_vector(encoded[14].text);
  for (std::uint16_t port : {port_roce_v2, port_vxlan, port_vxlan_gpe, port_geneve})
    EXPECT_FALSE(Walked(datagram(message, 49153, port), link_ipv4).packet.find(header<Cdi>)) << port;
  EXPECT_TRUE(Walked(datagram(message, port_roce_v2, 2000), link_ipv4).packet.find(header<Cdi>));
}

TEST(DecodeAs, IsForDatagramsToAPortAndFromItAndBeatsRoce) {
  Bytes message = from_vector(encoded[14].text);
  message[246] ^= 1;  // not recognised by itself
  EXPECT_TRUE(Walked(datagram(message, 49153, 2000), link_ipv4, {}, port_2000()).packet.find(header<Cdi>));
  EXPECT_TRUE(Walked(datagram(message, 2000, 49153), link_ipv4, {}, port_2000()).packet.find(header<Cdi>));
  EXPECT_FALSE(Walked(datagram(message, 2001, 49153), link_ipv4, {}, port_2000()).packet.find(header<Cdi>));
  WalkOptions options;
  EXPECT_TRUE(options.decode_as(port_roce_v2, find_start("cdi")));
  EXPECT_TRUE(Walked(datagram(message, 49153, port_roce_v2), link_ipv4, {}, options).packet.find(header<Cdi>));
  for (std::uint16_t port = 1; port < 16; ++port) EXPECT_TRUE(options.decode_as(port, find_start("cdi")));
  EXPECT_TRUE(options.decode_as(15, find_start("data")));  // once more
  EXPECT_FALSE(options.decode_as(16, find_start("cdi")));
}

// What looks like a message but for the checksum, and noise of the right lengths.
TEST(CdiControl, RandomBytesAreNotRecognised) {
  std::mt19937 random(7);
  for (std::size_t length : {248u, 252u, 253u, 257u})
    for (int round = 0; round < 20000; ++round) {
      Bytes noise(length);
      for (std::uint8_t& b : noise) b = static_cast<std::uint8_t>(random());
      if (round % 2) noise[0] = static_cast<std::uint8_t>(1 + round % 4 / 2);
      if (round % 4 == 3) {
        noise[3] = 1;
        noise[4] = noise[5] = noise[6] = 0;
      }
      EXPECT_FALSE(is_cdi_control(noise));
      if (round % 64 < 4) {
        noise.resize(random() % (length + 1));
        for (std::string_view start : {"cdi", "cdi.data.v1", "cdi.data.v2", "efa.rdm", "efa.record"})
          say_everything(started(noise, start));
      }
    }
}

// --- Data ------------------------------------------------------------------------------------------------------------

struct DataVector {
  std::string_view start, layers, info, text;
};

constexpr DataVector data_vectors[] = {
    {"cdi.data.v1", "cdi.data cdi.data.v1 cdi.data.first cdi.avm", "Data packet 0 of payload 200 5184000 bytes in all",
     "len=36 3=c8001a4f001a41 16=25f1536515cd5b078877665544332211020007"},
    {"cdi.data.v1", "cdi.data cdi.data.v1 cdi.data.offset", "DataOffset packet 1 of payload 200 offset 8875",
     "len=8 0=010100c8ab22"},
    {"cdi.data.v2", "cdi.data cdi.data.v2 cdi.data.first cdi.data.start cdi.avm",
     "Data packet 0 of payload 200 id 16909060 5184000 bytes in all",
     "len=49 3=c80004030201001a4f001a41 21=25f1536515cd5b078877665544332211020040222018240a060007"},
    {"cdi.data.v2", "cdi.data cdi.data.v2 cdi.data.offset",
     "DataOffset packet 1 of payload 200 id 16909061 offset 8875", "len=13 0=010100c80005030201ab22"},
    {"cdi.data.v1", "cdi.data cdi.data.v1 cdi.data.first", "Probe packet 0 of payload 0 1024 bytes in all",
     "len=34 0=02 5=04"},
    {"cdi.data.v1", "cdi.data cdi.data.v1", "Probe packet 999 of payload 0", "len=4 0=02e703"},
    {"cdi.data.v2", "cdi.data cdi.data.v2 cdi.data.first cdi.data.start",
     "Probe packet 0 of payload 0 id 0 1024 bytes in all", "len=47 0=02 10=04 39=40222018240a06"},
    {"cdi.data.v2", "cdi.data cdi.data.v2", "Probe packet 999 of payload 0 id 999", "len=9 0=02e7030000e703"},
};

TEST(CdiData, VectorsAreReadAndRebuilt) {
  for (const DataVector& v : data_vectors) {
    SCOPED_TRACE(v.text);
    const Bytes bytes = from_vector(v.text);
    const Walked w = started(bytes, v.start);
    EXPECT_EQ(w.layers(), v.layers);
    EXPECT_EQ(info(w.packet), v.info);
    EXPECT_EQ(protocol(w.packet), "CDI");
    EXPECT_EQ(rebuilt(w, "cdi.data"), bytes);
    EXPECT_EQ(walked(bytes).layers(), "ip udp data");  // never guessed
    for (std::size_t length = 0; length < bytes.size(); ++length)
      say_everything(started(Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length)), v.start));
  }
}

TEST(CdiData, FieldsOfTheFirstPacket) {
  for (const DataVector& v : {data_vectors[0], data_vectors[2]}) {
    const Walked w = started(from_vector(v.text), v.start);
    EXPECT_EQ(w.text("cdi.data.payload_num"), "200");
    EXPECT_EQ(w.text("cdi.data.max_latency_microsecs"), "16666");
    EXPECT_EQ(w.text("cdi.data.origination_ptp_timestamp.seconds"), "1700000037");
    EXPECT_EQ(w.text("cdi.data.origination_ptp_timestamp.nanoseconds"), "123456789");
    EXPECT_EQ(w.text("cdi.data.payload_user_data"), "0x1122334455667788");
    EXPECT_EQ(w.text("cdi.data.extra_data_size"), "2");
    EXPECT_EQ(w.text("cdi.avm.stream_identifier"), "7");
  }
  EXPECT_EQ(started(from_vector(data_vectors[2].text), "cdi.data.v2").text("cdi.data.tx_start_time_microseconds"),
            "1700000000123456");
}

// On a port that is CDI by the user's word: control messages, packet 0 in either layout, all others as the plain socket
// adapter sends them.
TEST(CdiData, LayoutByTrialOnAPort) {
  for (std::size_t i : {0u, 1u, 2u, 4u, 6u})
    EXPECT_EQ(walked(from_vector(data_vectors[i].text), port_2000()).layers(),
              "ip udp " + std::string(data_vectors[i].layers))
        << i;
  EXPECT_EQ(walked(from_vector(data_vectors[3].text), port_2000("cdi.data.v2")).layers(),
            "ip udp cdi.data cdi.data.v2 cdi.data.offset");
  EXPECT_EQ(walked(from_vector(data_vectors[3].text), port_2000("cdi.data.v1")).layers(),
            "ip udp cdi.data cdi.data.v1 cdi.data.offset cdi.payload");
}

TEST(CdiData, ConfigurationOfAvm) {
  Bytes bytes = from_vector("len=1334 3=01 4=0a 32=0a05 34=0300");
  const std::string_view uri = "https://cdi.elemental.com/specs/baseline-video", data = "cdi_profile_version=01.00;";
  std::copy(uri.begin(), uri.end(), bytes.begin() + 36);
  std::copy(data.begin(), data.end(), bytes.begin() + 36 + 257);
  bytes[34 + 1286] = static_cast<std::uint8_t>(data.size());
  const Walked w = started(bytes, "cdi.data.v1");
  EXPECT_EQ(w.layers(), "cdi.data cdi.data.v1 cdi.data.first cdi.avm cdi.avm.config cdi.payload");
  EXPECT_EQ(w.text("cdi.avm.stream_identifier"), "3");
  EXPECT_EQ(w.text("cdi.avm.uri"), uri);
  EXPECT_EQ(w.text("cdi.avm.data"), data);
  EXPECT_EQ(w.text("cdi.avm.data_size"), "26");
  EXPECT_EQ(rebuilt(w, "cdi.data"), bytes);
}

TEST(CdiData, OddTypesAndSizes) {
  EXPECT_EQ(events(started(from_vector("len=40 0=04"), "cdi.data.v1")), "cdi.data.bad_value");
  EXPECT_EQ(events(started(from_vector("len=40 32=0700"), "cdi.data.v1")), "cdi.extra.truncated");
  EXPECT_EQ(started(from_vector("len=41 32=0700"), "cdi.data.v1").layers(),
            "cdi.data cdi.data.v1 cdi.data.first cdi.extra");
}

// --- EFA -------------------------------------------------------------------------------------------------------------

// A record, its message behind it.
Bytes efa_record(const Bytes& message, std::string_view direction_flags_status_version) {
  Bytes out = from_hex("0120" + std::string(direction_flags_status_version) +
                       "00001234 00005678 0007 0000 00000000 0000000000000042");
  out[22] = static_cast<std::uint8_t>(message.size() >> 8);
  out[23] = static_cast<std::uint8_t>(message.size());
  out.insert(out.end(), message.begin(), message.end());
  return out;
}

Bytes joined(const Bytes& a, const Bytes& b) {
  Bytes out = a;
  out.insert(out.end(), b.begin(), b.end());
  return out;
}

const std::string raw_address =
    "24000000 fe800000 00000000 021122ff fe334455 3412 0000 78563412 0000000000000000 00000000";

// cdi-probe.md 6.1.3: what CDI 3 sends.
TEST(EfaRdm, EagerMessageWithRawAddressCarriesCdi) {
  const Bytes rdm = from_hex("40 04 0500 07000000" + raw_address);
  EXPECT_EQ(rdm.size(), 48u);
  const Bytes record = efa_record(joined(rdm, from_vector(data_vectors[3].text)), "010f00020305");
  const Walked w(record, link_user1);
  EXPECT_EQ(w.layers(),
            "efa.record efa.rdm efa.rdm.message efa.rdm.raw efa.address cdi.data cdi.data.v2 cdi.data.offset");
  EXPECT_EQ(w.text("efa.rdm.type"), "64");
  EXPECT_EQ(w.text("efa.rdm.flags"), "0x0005");
  EXPECT_EQ(w.text("efa.rdm.flags.raw_addr"), "1");
  EXPECT_EQ(w.text("efa.rdm.flags.msg"), "1");
  EXPECT_EQ(w.text("efa.rdm.flags.user_qp"), "");
  EXPECT_EQ(w.text("efa.rdm.msg_id"), "7");
  EXPECT_EQ(w.text("efa.address.qkey"), "0x12345678");
  EXPECT_EQ(w.text("efa.record.local_qpn"), "0x00001234");
  EXPECT_EQ(w.text("cdi.data.payload_data_offset"), "8875");
  EXPECT_EQ(info(w.packet),
            "sent QP 0x1234 peer 0x5678 EAGER_MSGRTM v4 message 7 DataOffset packet 1 of payload 200 id 16909061 "
            "offset 8875");
  EXPECT_EQ(protocol(w.packet), "CDI");
  // Nothing says it is CDI, and it is not guessed.
  EXPECT_EQ(Walked(efa_record(joined(rdm, from_vector(data_vectors[3].text)), "0109ff000000"), link_user1).layers(),
            "efa.record efa.rdm efa.rdm.message efa.rdm.raw efa.address data");
  for (std::size_t length = 0; length < record.size(); ++length) {
    const Bytes part(record.begin(), record.begin() + static_cast<std::ptrdiff_t>(length));
    say_everything(Walked(part, link_user1));
    say_everything(Walked(part, link_user1, record.size()));
    say_everything(started(part, "efa.record"));
  }
}

TEST(EfaRdm, HandshakeWithAllItsBlocks) {
  const Walked w = started(from_hex("09 04 0f80 04000000 1f01000000000000 78563412 00000000 8877665544332211 01000000 "
                                    "00000000 22000000 33000000 01 00000000000000"),
                           "efa.rdm");
  EXPECT_EQ(w.layers(),
            "efa.rdm efa.rdm.handshake efa.rdm.connection efa.rdm.padding efa.rdm.host efa.rdm.device efa.rdm.user_qp "
            "efa.rdm.p2p");
  EXPECT_EQ(w.text("efa.rdm.extra_info"), "0x000000000000011f");
  EXPECT_EQ(w.text("efa.rdm.features"),
            "RDMA read,delivery complete,constant header length,connection id header,runting read,unsolicited write");
  EXPECT_EQ(w.text("efa.rdm.connid"), "0x12345678");
  EXPECT_EQ(w.text("efa.rdm.host_id"), "0x1122334455667788");
  EXPECT_EQ(w.text("efa.rdm.user_qpn"), "0x00000022");
  EXPECT_EQ(w.text("efa.rdm.p2p_supported"), "1");
  EXPECT_EQ(events(started(from_hex("09 04 0000 02000000"), "efa.rdm")), "efa.rdm.handshake.bad_value");
}

// The mandatory header of every type has the size the reference gives.
TEST(EfaRdm, SizesOfAllTypes) {
  const std::vector<std::pair<std::string_view, std::uint32_t>> sizes = {{"CTS", 24},
                                                                         {"CTSDATA", 24},
                                                                         {"READRSP", 24},
                                                                         {"EOR", 16},
                                                                         {"ATOMRSP", 24},
                                                                         {"HANDSHAKE", 8},
                                                                         {"RECEIPT", 16},
                                                                         {"READ_NACK", 16},
                                                                         {"PEER_ERROR", 20},
                                                                         {"EAGER_MSGRTM", 8},
                                                                         {"EAGER_TAGRTM", 16},
                                                                         {"MEDIUM_MSGRTM", 24},
                                                                         {"MEDIUM_TAGRTM", 32},
                                                                         {"LONGCTS_MSGRTM", 24},
                                                                         {"LONGCTS_TAGRTM", 32},
                                                                         {"EAGER_RTW", 8},
                                                                         {"LONGCTS_RTW", 24},
                                                                         {"SHORT_RTR", 24},
                                                                         {"LONGCTS_RTR", 24},
                                                                         {"WRITE_RTA", 24},
                                                                         {"FETCH_RTA", 24},
                                                                         {"COMPARE_RTA", 24},
                                                                         {"LONGREAD_MSGRTM", 24},
                                                                         {"LONGREAD_TAGRTM", 32},
                                                                         {"LONGREAD_RTW", 24},
                                                                         {"DC_EAGER_MSGRTM", 16},
                                                                         {"DC_EAGER_TAGRTM", 24},
                                                                         {"DC_MEDIUM_MSGRTM", 32},
                                                                         {"DC_MEDIUM_TAGRTM", 40},
                                                                         {"DC_LONGCTS_MSGRTM", 24},
                                                                         {"DC_LONGCTS_TAGRTM", 32},
                                                                         {"DC_EAGER_RTW", 16},
                                                                         {"DC_LONGCTS_RTW", 24},
                                                                         {"DC_WRITE_RTA", 24},
                                                                         {"RUNTCTS_MSGRTM", 40},
                                                                         {"RUNTCTS_TAGRTM", 48},
                                                                         {"RUNTCTS_RTW", 40},
                                                                         {"RUNTREAD_MSGRTM", 40},
                                                                         {"RUNTREAD_TAGRTM", 48},
                                                                         {"RUNTREAD_RTW", 40},
                                                                         {"RTS", 32},
                                                                         {"CONNACK", 4}};
  EXPECT_EQ(sizes.size(), std::size(efa_rdm_types));
  for (const auto& [name, bytes] : sizes) {
    const EfaRdmType* type = nullptr;
    for (const EfaRdmType& t : efa_rdm_types)
      if (t.name == name) type = &t;
    ASSERT_NE(type, nullptr) << name;
    std::uint32_t sum = EfaRdm::bytes;
    for (const Header* part : type->parts)
      if (part) sum += part->bytes;
    EXPECT_EQ(sum, bytes) << name;
  }
}

TEST(EfaRdm, RemoteBuffersFollowTheirCount) {
  const std::string iov = "0010000000000000 4000000000000000 0900000000000000";
  const Walked w = started(from_hex("46 04 1280 02000000" + iov + iov + "1122334455667788 78563412 aabb"), "efa.rdm");
  EXPECT_EQ(w.layers(), "efa.rdm efa.rdm.rma efa.rdm.iov efa.rdm.iov efa.rdm.cq efa.rdm.connection data");
  EXPECT_EQ(w.text("efa.rdm.key"), "0x0000000000000009,0x0000000000000009");
  EXPECT_EQ(events(started(from_hex("46 04 0000 ffffffff" + iov), "efa.rdm")), "efa.rdm.iov.truncated");
}

TEST(EfaRdm, Version3) {
  const std::string address = "fe800000 00000000 021122ff fe334455 3412 0000 00000000 0000000000000000";
  const Bytes rts = from_hex(
      "01 03 0600 0000 20 00 05000000 06000000 0000000000000000 0800000000000000"
      "8877665544332211" +
      address);
  const Walked w(efa_record(joined(rts, from_vector(data_vectors[1].text)), "020300010005"), link_user1);
  EXPECT_EQ(w.layers(), "efa.record efa.rdm efa.rdm.rts efa.rdm.cq efa.address cdi.data cdi.data.v1 cdi.data.offset");
  EXPECT_EQ(w.text("efa.rdm.tx_id"), "5");
  EXPECT_EQ(w.text("efa.rdm.data_len"), "8");
  EXPECT_EQ(started(from_hex("07 03 0000 01000000 02000000"), "efa.rdm").layers(), "efa.rdm efa.rdm.ids");
  EXPECT_EQ(started(from_hex("07 04 0000 01000000 02000000 00000000"), "efa.rdm").layers(),
            "efa.rdm efa.rdm.ids efa.rdm.connection");
  EXPECT_EQ(events(started(from_hex("40 03 0000 01000000"), "efa.rdm")), "efa.rdm.bad_value");
  EXPECT_EQ(events(started(from_hex("40 05 0000 01000000"), "efa.rdm")), "efa.rdm.bad_value");
}

TEST(EfaRecord, ProbePacketsOfOldSdksHaveANumberInFront) {
  Bytes probe = from_vector("len=1026 0=e703 2=02");
  std::fill(probe.begin() + 6, probe.end(), std::uint8_t{0x41});
  const Walked w(efa_record(probe, "010200010000"), link_user1);
  EXPECT_EQ(w.layers(), "efa.record cdi.data.probe cdi.data cdi.data.v1 cdi.payload");
  EXPECT_EQ(w.text("cdi.data.probe.sequence"), "999");
}

TEST(EfaRecord, ByNameAndOnlyIfItFits) {
  const Bytes record = efa_record(from_vector(data_vectors[7].text), "010200020305");
  const Bytes tags = joined(from_hex("000c0008"), joined(Bytes{'r', 'd', 'm', 'a', '_', 'e', 'f', 'a'}, Bytes(4)));
  EXPECT_EQ(Walked(joined(tags, record), link_upper_pdu).layers(),
            "exported_pdu exported_pdu efa.record cdi.data cdi.data.v2");
  EXPECT_EQ(Walked(joined(record, Bytes(1)), link_user1).layers(), "data");
  Bytes later = record;
  later[0] = 2;
  EXPECT_EQ(Walked(later, link_user1).layers(), "data");
  EXPECT_EQ(events(started(later, "efa.record")), "efa.record.bad_value");
  EXPECT_EQ(events(started(joined(record, Bytes(1)), "efa.record")), "");
  EXPECT_EQ(events(started(Bytes(record.begin(), record.end() - 1), "efa.record")),
            "efa.record.bad_length,cdi.data.v2.truncated");
}

}  // namespace
}  // namespace rdmascope::dissect
