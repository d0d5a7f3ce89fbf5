// Capture files in and out: every format and byte order, damage of every kind, files cut at every byte.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "capture/mapping_guard.h"
#include "capture/open.h"
#include "capture/pcapng_options.h"
#include "capture/writer.h"

namespace rdmascope::capture {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::uint8_t>;

// Assembles file bytes in one byte order.
struct Maker {
  Bytes bytes;
  bool big = false;

  Maker& u8(unsigned v) { return bytes.push_back(static_cast<std::uint8_t>(v)), *this; }
  Maker& number(std::uint64_t v, int size) {
    for (int i = 0; i < size; ++i) u8(static_cast<unsigned>(v >> 8 * (big ? size - 1 - i : i) & 255));
    return *this;
  }
  Maker& u16(std::uint64_t v) { return number(v, 2); }
  Maker& u32(std::uint64_t v) { return number(v, 4); }
  Maker& u64(std::uint64_t v) { return number(v, 8); }
  Maker& raw(const Bytes& b) { return bytes.insert(bytes.end(), b.begin(), b.end()), *this; }
  Maker& text(const std::string& s) { return raw(Bytes(s.begin(), s.end())); }
  Maker& pad() {
    while (bytes.size() % 4 != 0) u8(0);
    return *this;
  }

  // pcap
  Maker& pcap(std::uint32_t magic = 0xa1b2c3d4, unsigned major = 2, unsigned minor = 4, std::uint32_t network = 1) {
    return u32(magic).u16(major).u16(minor).u64(0).u32(65535).u32(network);
  }
  Maker& record(std::uint32_t s, std::uint32_t fraction, const Bytes& data, std::uint32_t wire) {
    return u32(s).u32(fraction).u32(data.size()).u32(wire).raw(data);
  }

  // pcapng
  Maker& block(std::uint32_t type, const std::function<void(Maker&)>& body) {
    Maker inside;
    inside.big = big;
    body(inside);
    inside.pad();
    return u32(type).u32(inside.bytes.size() + 12).raw(inside.bytes).u32(inside.bytes.size() + 12);
  }
  Maker& option(unsigned code, const Bytes& value) { return u16(code).u16(value.size()).raw(value).pad(); }
  Maker& option(unsigned code, const std::string& value) { return option(code, Bytes(value.begin(), value.end())); }
  Maker& option64(unsigned code, std::uint64_t value) { return u16(code).u16(8).u64(value); }
  Maker& section(const std::function<void(Maker&)>& options = {}) {
    return block(0x0a0d0d0a, [&](Maker& m) {
      m.u32(0x1a2b3c4d).u16(1).u16(0).u64(~0ull);
      if (options) options(m);
    });
  }
  Maker& interface(unsigned link_type = 1, std::uint32_t snap = 0, const std::function<void(Maker&)>& options = {}) {
    return block(1, [&](Maker& m) {
      m.u16(link_type).u16(0).u32(snap);
      if (options) options(m);
    });
  }
  Maker& packet(std::uint32_t interface, std::uint64_t time, const Bytes& data, std::uint32_t wire,
                const std::function<void(Maker&)>& options = {}) {
    return block(6, [&](Maker& m) {
      m.u32(interface).u32(time >> 32).u32(time & 0xffffffff).u32(data.size()).u32(wire).raw(data).pad();
      if (options) options(m);
    });
  }
};

Bytes pattern(std::size_t size, unsigned seed = 1) {
  Bytes bytes(size);
  for (std::uint8_t& b : bytes) b = static_cast<std::uint8_t>(seed = seed * 1103515245 + 12345);
  return bytes;
}

struct Kept {
  Frame frame;  // its spans point nowhere any more
  Bytes bytes, options;
};

struct All {
  std::vector<Kept> frames;
  std::string error;
  std::vector<Interface> interfaces;
  std::optional<std::uint64_t> dropped;
  Notes notes;
};

All read_all(Result<std::unique_ptr<Source>> source, std::size_t batch = 7) {
  All all;
  if (!source) {
    all.error = source.error();
    return all;
  }
  std::vector<Frame> frames(batch);
  for (;;) {
    const Result<std::size_t> got = (*source)->read(frames);
    if (!got) {
      all.error = got.error();
      EXPECT_EQ((*source)->read(frames).has_value(), false) << "an error stays";
      break;
    }
    if (*got == 0) break;
    for (std::size_t i = 0; i < *got; ++i)
      all.frames.push_back({frames[i], Bytes(frames[i].bytes.begin(), frames[i].bytes.end()),
                            Bytes(frames[i].options.begin(), frames[i].options.end())});
  }
  all.interfaces = (*source)->interfaces();
  all.dropped = (*source)->dropped();
  if ((*source)->notes()) all.notes = *(*source)->notes();
  return all;
}

All read_all(const Bytes& bytes, std::size_t piece = 0) {
  // A copy without spare capacity: reading too far is noticed.
  const std::unique_ptr<std::uint8_t[]> exact(new std::uint8_t[bytes.size()]);
  std::copy(bytes.begin(), bytes.end(), exact.get());
  return read_all(open_memory({exact.get(), bytes.size()}, piece, "x"));
}

class TempFile {
 public:
  explicit TempFile(const Bytes& bytes = {}) {
    const int fd = ::mkstemp(path_.data());
    EXPECT_GE(fd, 0);
    EXPECT_EQ(::write(fd, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    ::close(fd);
  }
  TempFile(const TempFile&) = delete;
  ~TempFile() { ::unlink(path_.c_str()); }
  const std::string& path() const { return path_; }
  Bytes read() const {
    std::ifstream in(path_, std::ios::binary);
    return Bytes(std::istreambuf_iterator<char>(in), {});
  }

 private:
  std::string path_ = (fs::temp_directory_path() / "rdmascope-capture-XXXXXX").string();
};

Bytes gzip(const Bytes& bytes) {
  z_stream z{};
  EXPECT_EQ(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  Bytes out(deflateBound(&z, bytes.size()) + 64);
  z.next_in = const_cast<Bytef*>(bytes.data());
  z.avail_in = static_cast<uInt>(bytes.size());
  z.next_out = out.data();
  z.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

Bytes zstd(const Bytes& bytes) {
  Bytes out(ZSTD_compressBound(bytes.size()));
  out.resize(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 3));
  return out;
}

Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Bytes sample_pcap(std::size_t frames = 20, bool big = false) {
  Maker m;
  m.big = big;
  m.pcap();
  for (std::size_t i = 0; i < frames; ++i)
    m.record(1000, static_cast<std::uint32_t>(i), pattern(10 + i * 7 % 50, static_cast<unsigned>(i)), 100);
  return m.bytes;
}

Bytes sample_pcapng(std::size_t frames = 20, bool big = false) {
  Maker m;
  m.big = big;
  m.section().interface();
  for (std::size_t i = 0; i < frames; ++i)
    m.packet(0, 1000000 + i, pattern(10 + i * 7 % 50, static_cast<unsigned>(i)), 100);
  return m.bytes;
}

Bytes sample_erf(std::size_t frames = 20) {
  Maker m;
  for (std::size_t i = 0; i < frames; ++i) {
    m.big = false;
    m.u64((1700000000ull + i) << 32 | 0x80000000);
    m.big = true;
    m.u8(21).u8(4).u16(16 + 40).u16(0).u16(44).raw(pattern(40));
  }
  return m.bytes;
}

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text << "\ndoes not contain: " << part;
}

// pcap

TEST(Pcap, ReadsBothByteOrdersAndResolutions) {
  for (const bool big : {false, true}) {
    for (const std::uint32_t magic : {0xa1b2c3d4u, 0xa1b23c4du}) {
      Maker m;
      m.big = big;
      m.pcap(magic).record(7, 999999, {1, 2, 3}, 60).record(4294967295u, 1, {}, 0);
      const All all = read_all(m.bytes);
      ASSERT_EQ(all.error, "");
      ASSERT_EQ(all.frames.size(), 2u);
      EXPECT_EQ(all.frames[0].bytes, (Bytes{1, 2, 3}));
      EXPECT_EQ(all.frames[0].frame.wire_bytes, 60u);
      EXPECT_EQ(all.frames[0].frame.link_type, 1);
      EXPECT_EQ(all.frames[0].frame.time_ns, magic == 0xa1b2c3d4u ? 7999999000 : 7000999999);
      EXPECT_EQ(all.frames[1].frame.time_ns, 4294967295000000000 + (magic == 0xa1b2c3d4u ? 1000 : 1));
      EXPECT_EQ(all.frames[1].bytes.size(), 0u);
      ASSERT_EQ(all.interfaces.size(), 1u);
      EXPECT_EQ(all.interfaces[0].snap_length, 65535u);
      EXPECT_EQ(all.interfaces[0].units_per_second, magic == 0xa1b2c3d4u ? 1000000u : 1000000000u);
      EXPECT_EQ(all.dropped, std::nullopt);
    }
  }
}

TEST(Pcap, ReadsModifiedRecords) {
  for (const bool big : {false, true}) {
    Maker m;
    m.big = big;
    m.pcap(0xa1b2cd34);
    for (unsigned i = 0; i < 3; ++i) m.u32(i).u32(5).u32(4).u32(99).u32(1).u16(0x800).u8(0).u8(0).raw(pattern(4));
    const All all = read_all(m.bytes);
    ASSERT_EQ(all.error, "");
    ASSERT_EQ(all.frames.size(), 3u);
    EXPECT_EQ(all.frames[2].bytes, pattern(4));
    EXPECT_EQ(all.frames[2].frame.wire_bytes, 99u);
  }
}

TEST(Pcap, OldVersionsHaveTheLengthsTheOtherWayRound) {
  const auto lengths = [](unsigned major, unsigned minor, std::uint32_t first, std::uint32_t second) {
    const All all =
        read_all(Maker().pcap(0xa1b2c3d4, major, minor).u32(0).u32(0).u32(first).u32(second).raw(pattern(4)).bytes);
    EXPECT_EQ(all.error, "");
    return all.frames.empty() ? std::pair<std::size_t, std::uint32_t>()
                              : std::pair(all.frames[0].bytes.size(), all.frames[0].frame.wire_bytes);
  };
  EXPECT_EQ(lengths(2, 4, 4, 9), std::pair(std::size_t{4}, 9u));
  EXPECT_EQ(lengths(2, 4, 4, 2), std::pair(std::size_t{4}, 2u)) << "wire shorter than captured is handed out as it is";
  EXPECT_EQ(lengths(2, 2, 9, 4), std::pair(std::size_t{4}, 9u));
  EXPECT_EQ(lengths(2, 3, 9, 4), std::pair(std::size_t{4}, 9u));
  EXPECT_EQ(lengths(2, 3, 4, 9), std::pair(std::size_t{4}, 9u));
  EXPECT_EQ(lengths(543, 0, 9, 4), std::pair(std::size_t{4}, 9u));
}

TEST(Pcap, RejectsUnknownVersions) {
  expect_contains(read_all(Maker().pcap(0xa1b2c3d4, 3, 0).bytes).error, "pcap version 3.0");
  expect_contains(read_all(Maker().pcap(0xa1b2c3d4, 2, 5).bytes).error, "pcap version 2.5");
}

TEST(Pcap, LinkTypeFieldCarriesFcsLength) {
  const auto interface = [](std::uint32_t network) {
    return read_all(Maker().pcap(0xa1b2c3d4, 2, 4, network).bytes).interfaces.at(0);
  };
  EXPECT_EQ(interface(1).fcs_bytes, std::nullopt);
  EXPECT_EQ(interface(0x24000001).fcs_bytes, 4);
  EXPECT_EQ(interface(0x24000001).link_type, 1);
  EXPECT_EQ(interface(0x04000001).fcs_bytes, 0);
  EXPECT_EQ(interface(0x20000001).fcs_bytes, std::nullopt) << "without the presence bit";
  EXPECT_EQ(interface(12).link_type, 101);
  EXPECT_EQ(interface(14).link_type, 101);
  EXPECT_EQ(interface(101).link_type, 101);
  EXPECT_EQ(interface(247).link_type, 247);
}

TEST(Pcap, HandsOutOddFrames) {
  const All all = read_all(Maker()
                               .pcap()
                               .record(9, 0, pattern(100), 10)
                               .record(8, 5000000, {}, 0xffffffff)
                               .record(7, 0, pattern(100000), 100000)
                               .bytes);
  ASSERT_EQ(all.error, "");
  ASSERT_EQ(all.frames.size(), 3u);
  EXPECT_EQ(all.frames[0].frame.wire_bytes, 10u);
  EXPECT_EQ(all.frames[1].frame.wire_bytes, 0xffffffffu);
  EXPECT_EQ(all.frames[1].frame.time_ns, 13000000000);
  EXPECT_EQ(all.frames[2].bytes, pattern(100000)) << "more than the snap length of the file";
}

TEST(Pcap, HugeLengthIsAnErrorNotAnAllocation) {
  const Bytes file = Maker().pcap().record(1, 1, pattern(5), 5).u64(0).u32(0xffffffff).u32(60).raw(pattern(20)).bytes;
  All all = read_all(file);
  EXPECT_EQ(all.frames.size(), 1u);
  EXPECT_EQ(all.error,
            "cannot read x: cut short at byte 81 (record 2 at byte 45 claims 4294967295 bytes, 20 are left); the one "
            "whole packet before it was read");
  all = read_all(file, 10);
  EXPECT_EQ(all.frames.size(), 1u);
  EXPECT_EQ(all.error,
            "cannot read x: record 2 at byte 45 claims 4294967295 bytes; the most is 32 MiB; the one whole packet "
            "before it was read");
}

// pcapng

TEST(Pcapng, ReadsBothByteOrders) {
  for (const bool big : {false, true}) {
    const All all = read_all(sample_pcapng(20, big));
    ASSERT_EQ(all.error, "");
    ASSERT_EQ(all.frames.size(), 20u);
    for (std::size_t i = 0; i < 20; ++i) {
      EXPECT_EQ(all.frames[i].bytes, pattern(10 + i * 7 % 50, static_cast<unsigned>(i)));
      EXPECT_EQ(all.frames[i].frame.time_ns, static_cast<std::int64_t>(1000000000 + i * 1000));
      EXPECT_EQ(all.frames[i].frame.wire_bytes, 100u);
      EXPECT_EQ(all.frames[i].frame.big_endian_options, big);
    }
  }
}

TEST(Pcapng, SectionsHaveTheirOwnByteOrderAndInterfaces) {
  Maker m;
  m.section().interface(1).interface(247).packet(1, 5, {1}, 1);
  m.big = true;
  m.section().interface(276).packet(0, 6, {2}, 1).interface(12).packet(1, 7, {3}, 1);
  m.big = false;
  m.section().interface(113).packet(0, 8, {4}, 1).packet(1, 9, {5}, 1);
  const All all = read_all(m.bytes);
  ASSERT_EQ(all.error, "");
  ASSERT_EQ(all.interfaces.size(), 5u);
  ASSERT_EQ(all.frames.size(), 4u);
  const std::array<std::pair<unsigned, unsigned>, 4> expected{{{1, 247}, {2, 276}, {3, 101}, {4, 113}}};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(all.frames[i].frame.interface_id, expected[i].first);
    EXPECT_EQ(all.frames[i].frame.link_type, expected[i].second);
    EXPECT_EQ(all.interfaces[expected[i].first].link_type, expected[i].second);
    EXPECT_EQ(all.frames[i].bytes, Bytes{static_cast<std::uint8_t>(i + 1)});
  }
  ASSERT_EQ(all.notes.skipped.size(), 1u) << "the last section has one interface only";
  EXPECT_EQ(all.notes.skipped[0].why, "packet block names an interface that is not described");
  EXPECT_EQ(all.notes.skipped[0].count, 1u);
}

TEST(Pcapng, ConvertsEveryTimeResolution) {
  const auto time = [](std::uint8_t resolution, std::uint64_t units, std::int64_t offset = 0) {
    const All all = read_all(Maker()
                                 .section()
                                 .interface(1, 0,
                                            [&](Maker& m) {
                                              m.option(option::if_tsresol, Bytes{resolution})
                                                  .option64(option::if_tsoffset, static_cast<std::uint64_t>(offset));
                                            })
                                 .packet(0, units, {}, 0)
                                 .bytes);
    EXPECT_EQ(all.frames.size(), 1u);
    return all.frames.at(0).frame.time_ns;
  };
  constexpr std::int64_t max = std::numeric_limits<std::int64_t>::max(), min = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(time(0, 5), 5000000000);
  EXPECT_EQ(time(3, 1234), 1234000000);
  EXPECT_EQ(time(6, 1700000000000001), 1700000000000001000);
  EXPECT_EQ(time(9, 1700000000000000001), 1700000000000000001);
  EXPECT_EQ(time(12, 1700000000000000999), 1700000000000000);
  EXPECT_EQ(time(19, ~0ull), 1844674407);
  EXPECT_EQ(time(28, ~0ull), 1);
  EXPECT_EQ(time(29, ~0ull), 0);
  EXPECT_EQ(time(127, ~0ull), 0);
  EXPECT_EQ(time(0, ~0ull), max) << "saturates";
  EXPECT_EQ(time(9, ~0ull), max);
  EXPECT_EQ(time(0x80 | 0, 3), 3000000000);
  EXPECT_EQ(time(0x80 | 1, 3), 1500000000);
  EXPECT_EQ(time(0x80 | 32, 0x180000000), 1500000000);
  EXPECT_EQ(time(0x80 | 63, ~0ull), 1999999999);
  EXPECT_EQ(time(0x80 | 127, ~0ull), 0);
  EXPECT_EQ(time(6, 7, -1), -1000000000 + 7000);
  EXPECT_EQ(time(6, 7, 1700000000), 1700000000000007000);
  EXPECT_EQ(time(6, 7, max), max);
  EXPECT_EQ(time(6, 7, min), min);
  // Against floating point, for all of them.
  for (int resolution = 0; resolution < 256; ++resolution) {
    const std::uint64_t units = 0x123456789abcdef0;
    const long double exact = static_cast<long double>(units) * 1e9L *
                              std::pow(resolution & 128 ? 2.0L : 10.0L, -static_cast<long double>(resolution & 127));
    const std::int64_t expected = exact >= 9.2e18L ? max : static_cast<std::int64_t>(exact);
    EXPECT_NEAR(static_cast<double>(time(static_cast<std::uint8_t>(resolution), units)), static_cast<double>(expected),
                std::abs(static_cast<double>(expected)) * 1e-12 + 1)
        << resolution;
  }
}

TEST(Pcapng, KeepsWhatInterfacesSay) {
  for (const bool big : {false, true}) {
    Maker m;
    m.big = big;
    m.section([](Maker& s) {
      s.option(option::shb_hardware, "hw")
          .option(option::shb_os, std::string("os\0", 3))
          .option(option::shb_application, "app")
          .option(option::comment, "about the section")
          .u32(0);
    });
    m.interface(1, 96, [](Maker& i) {
      i.option(option::if_name, "mlx5_0")
          .option(option::if_description, "port 1")
          .option(option::if_os, "Linux")
          .option(option::if_filter, std::string("\0udp port 4791", 14))
          .option(option::if_fcslen, Bytes{4})
          .option(option::if_tsresol, Bytes{9})
          .option64(option::if_tsoffset, 60)
          .option(option::comment, "first")
          .option(option::comment, "second");
    });
    m.interface(1, 0, [](Maker& i) { i.option(option::if_filter, Bytes{1, 2, 3}).option(option::if_name, "e"); });
    const All all = read_all(m.bytes);
    ASSERT_EQ(all.error, "");
    ASSERT_EQ(all.interfaces.size(), 2u);
    const Interface& i = all.interfaces[0];
    EXPECT_EQ(i.name, "mlx5_0");
    EXPECT_EQ(i.description, "port 1");
    EXPECT_EQ(i.os, "Linux");
    EXPECT_EQ(i.filter, "udp port 4791");
    EXPECT_EQ(i.fcs_bytes, 4);
    EXPECT_EQ(i.snap_length, 96u);
    EXPECT_EQ(i.units_per_second, 1000000000u);
    EXPECT_EQ(i.offset_seconds, 60);
    EXPECT_EQ(all.interfaces[1].filter, "") << "a BPF program is no text";
    EXPECT_EQ(all.interfaces[1].name, "e");
    EXPECT_EQ(all.notes.hardware, "hw");
    EXPECT_EQ(all.notes.os, "os");
    EXPECT_EQ(all.notes.application, "app");
    ASSERT_EQ(all.notes.comments.size(), 3u);
    EXPECT_EQ(all.notes.comments[0].where, "section 1");
    EXPECT_EQ(all.notes.comments[0].text, "about the section");
    EXPECT_EQ(all.notes.comments[2].where, "interface 0");
    EXPECT_EQ(all.notes.comments[2].text, "second");
  }
}

TEST(Pcapng, InterfacesBehindTheSectionAreKnownAfterOpening) {
  const Bytes file = Maker().section().interface(1).interface(247).packet(0, 1, {}, 0).bytes;
  const Result<std::unique_ptr<Source>> source = open_memory(file);
  ASSERT_TRUE(source);
  EXPECT_EQ((*source)->interfaces().size(), 2u);
}

TEST(Pcapng, FramesCarryTheirOptions) {
  for (const bool big : {false, true}) {
    Maker m;
    m.big = big;
    m.section()
        .interface()
        .packet(0, 1, {1, 2, 3}, 3,
                [](Maker& o) { o.option(option::comment, "look").u16(option::epb_flags).u16(4).u32(2).u32(0); })
        .packet(0, 1, {1, 2, 3, 4}, 4);
    const All all = read_all(m.bytes);
    ASSERT_EQ(all.frames.size(), 2u);
    std::string comment;
    std::uint32_t flags = 0;
    EXPECT_TRUE(for_each_option(all.frames[0].options, all.frames[0].frame.big_endian_options,
                                [&](std::uint16_t code, std::span<const std::uint8_t> value) {
                                  if (code == option::comment) comment.assign(value.begin(), value.end());
                                  if (code == option::epb_flags) flags = load32(value.data(), big);
                                }));
    EXPECT_EQ(comment, "look");
    EXPECT_EQ(flags, 2u);
    EXPECT_TRUE(all.frames[1].options.empty());
    EXPECT_EQ(all.dropped, std::nullopt);
  }
}

TEST(Pcapng, SimplePacketsHaveNoTimeAndTheSnapLength) {
  const auto simple = [](Maker& m, std::uint32_t wire, const Bytes& data) {
    m.block(3, [&](Maker& b) { b.u32(wire).raw(data); });
  };
  Maker m;
  m.section();
  simple(m, 4, pattern(4));  // no interface yet
  m.interface(147, 10);
  simple(m, 100, pattern(10));
  simple(m, 5, pattern(5));
  simple(m, 9, pattern(4));  // claims more than it has
  m.section().interface(148, 0);
  simple(m, 30, pattern(30));
  const All all = read_all(m.bytes);
  ASSERT_EQ(all.error, "");
  ASSERT_EQ(all.frames.size(), 3u);
  EXPECT_FALSE(all.frames[0].frame.has_time);
  EXPECT_EQ(all.frames[0].bytes, pattern(10));
  EXPECT_EQ(all.frames[0].frame.wire_bytes, 100u);
  EXPECT_EQ(all.frames[1].bytes, pattern(5));
  EXPECT_EQ(all.frames[2].bytes, pattern(30));
  EXPECT_EQ(all.frames[2].frame.interface_id, 1u);
  EXPECT_EQ(all.frames[2].frame.link_type, 148);
  EXPECT_EQ(all.notes.skipped.size(), 2u);
}

TEST(Pcapng, SumsWhatTheFileSaysWasDropped) {
  const auto statistics = [](Maker& m, std::uint32_t interface, std::uint64_t if_drop, std::uint64_t os_drop) {
    m.block(5, [&](Maker& b) {
      b.u32(interface).u64(0).option64(option::isb_ifdrop, if_drop).option64(option::isb_osdrop, os_drop).u32(0);
    });
  };
  const auto old_packet = [](Maker& m, unsigned interface, unsigned drops) {
    m.block(2, [&](Maker& b) { b.u16(interface).u16(drops).u64(0).u32(3).u32(7).raw({1, 2, 3}).pad(); });
  };
  for (const bool big : {false, true}) {
    Maker m;
    m.big = big;
    m.section().interface().interface().interface().interface();
    EXPECT_EQ(read_all(m.bytes).dropped, std::nullopt);
    m.packet(0, 1, {}, 0, [](Maker& o) { o.option64(option::epb_dropcount, 5); });
    m.packet(0, 1, {}, 0, [](Maker& o) { o.option(option::comment, "x").option64(option::epb_dropcount, 6).u32(0); });
    EXPECT_EQ(read_all(m.bytes).dropped, 11u);
    old_packet(m, 1, 100);
    old_packet(m, 1, 0xffff);  // not known
    EXPECT_EQ(read_all(m.bytes).frames.size(), 4u);
    EXPECT_EQ(read_all(m.bytes).frames[3].frame.wire_bytes, 7u);
    EXPECT_EQ(read_all(m.bytes).dropped, 111u);
    statistics(m, 2, 1, 2);
    statistics(m, 2, 1000, 2000);  // the last one counts
    EXPECT_EQ(read_all(m.bytes).dropped, 3111u);
    statistics(m, 0, 8, 0);  // the packets say 11 already
    EXPECT_EQ(read_all(m.bytes).dropped, 3111u);
    statistics(m, 0, 20, 1);
    EXPECT_EQ(read_all(m.bytes).dropped, 3121u);
    statistics(m, 3, ~0ull, ~0ull);  // does not wrap round
    EXPECT_EQ(read_all(m.bytes).dropped, ~0ull);
  }
  Maker none;
  none.section().interface();
  statistics(none, 0, 0, 0);
  EXPECT_EQ(read_all(none.bytes).dropped, 0u) << "a stated zero is a zero";
}

TEST(Pcapng, CountsBlocksItDoesNotUse) {
  Maker m;
  m.section().interface();
  const auto add = [&m](std::uint32_t type) { m.block(type, [](Maker& b) { b.u32(1).u32(2); }); };
  for (const std::uint32_t type : {4u, 9u, 10u, 0x0badu, 0x40000badu, 0x40000badu, 0x12345678u}) add(type);
  m.packet(0, 1, {7}, 1);
  const All all = read_all(m.bytes);
  ASSERT_EQ(all.error, "");
  EXPECT_EQ(all.frames.size(), 1u);
  const std::map<std::uint32_t, std::uint64_t> expected{{4, 1},      {9, 1},          {10, 1},
                                                        {0x0bad, 1}, {0x40000bad, 2}, {0x12345678, 1}};
  EXPECT_EQ(all.notes.other_blocks, expected);
  EXPECT_TRUE(all.notes.skipped.empty());

  for (std::uint32_t type = 0x1000; type < 0x1400; ++type) add(type);
  EXPECT_EQ(read_all(m.bytes).notes.other_blocks.size(), 256u) << "no more than that, whatever the file";
}

TEST(Pcapng, DamageInsideABlockCostsOnlyThatBlock) {
  Maker m;
  m.section().interface();
  m.packet(7, 1, {1}, 1);                                                       // no such interface
  m.block(6, [](Maker& b) { b.u32(0).u64(0).u32(5).u32(5).raw(pattern(4)); });  // 5 of 4 bytes
  m.block(6, [](Maker& b) { b.u32(0).u64(0).u32(0xffffffff).u32(5).raw(pattern(4)); });
  m.block(6, [](Maker& b) { b.u32(0).u64(0).u32(0); });  // too short
  m.block(2, [](Maker& b) { b.u32(0); });
  m.block(3, [](Maker&) {});
  m.block(5, [](Maker& b) { b.u32(0); });
  m.block(5, [](Maker& b) { b.u32(9).u64(0); });
  m.interface(1, 0, [](Maker& o) { o.option(option::if_name, "kept").u16(option::comment).u16(50000).u32(0); });
  m.packet(0, 1, {1, 2}, 2, [](Maker& o) { o.u16(option::comment).u16(400).u32(0); });  // option too long
  m.packet(1, 1, {}, 0);
  for (const std::size_t piece : {0, 5}) {
    const All all = read_all(m.bytes, piece);
    ASSERT_EQ(all.error, "");
    ASSERT_EQ(all.frames.size(), 2u);
    EXPECT_EQ(all.frames[0].bytes, (Bytes{1, 2}));
    EXPECT_FALSE(for_each_option(all.frames[0].options, false, [](std::uint16_t, std::span<const std::uint8_t>) {}));
    EXPECT_EQ(all.interfaces[1].name, "kept");
    std::uint64_t skipped = 0;
    for (const Notes::Skipped& s : all.notes.skipped) skipped += s.count;
    EXPECT_EQ(skipped, 9u);
    EXPECT_EQ(all.notes.skipped[0].first_byte, 48u);
  }
}

TEST(Pcapng, BrokenChainsEndWithAnError) {
  const Bytes start = Maker().section().interface().packet(0, 1, {1}, 1).bytes;
  const std::string before = "; the one whole packet before it was read";
  const auto error = [&](const Bytes& more) {
    const All all = read_all(start + more);
    EXPECT_EQ(all.frames.size(), 1u);
    const All streamed = read_all(start + more, 3);
    EXPECT_EQ(streamed.frames.size(), 1u);
    return all.error;
  };
  EXPECT_EQ(error(Maker().u32(6).u32(0).u32(0).bytes),
            "cannot read x: the block of type 0x6 at byte 84 has the length 0; the file is damaged here" + before);
  expect_contains(error(Maker().u32(6).u32(8).u32(0).bytes), "has the length 8");
  expect_contains(error(Maker().u32(6).u32(13).u64(0).u64(0).bytes), "has the length 13");
  expect_contains(error(Maker().u32(9).u32(16).u32(0).u32(20).bytes), "has the length 16 in front and 20 behind");
  expect_contains(error(Maker().u32(9).u32(0xfffffffc).u32(0).u32(20).bytes), "claims 4294967292 bytes, 16 are left");
  expect_contains(error(Maker().u32(0x0a0d0d0a).u32(28).u32(0x11111111).u64(0).u64(0).bytes), "byte-order mark");
  expect_contains(error(Maker().block(0x0a0d0d0a, [](Maker& b) { b.u32(0x1a2b3c4d).u32(1); }).bytes), "too short");
  expect_contains(error(Maker().block(0x0a0d0d0a, [](Maker& b) { b.u32(0x1a2b3c4d).u32(2).u64(0); }).bytes),
                  "pcapng version 2.0");
  expect_contains(error(Maker().block(1, [](Maker& b) { b.u32(1); }).bytes), "too short for an interface");
  expect_contains(error({1, 2, 3}), "3 are left");
}

TEST(Pcapng, SectionLengthIsNotTrusted) {
  for (const std::uint64_t length : {0ull, 1ull, 12345678ull, ~0ull - 5}) {
    Maker m;
    m.block(0x0a0d0d0a, [&](Maker& b) { b.u32(0x1a2b3c4d).u16(1).u16(0).u64(length); });
    EXPECT_EQ(read_all(m.interface().packet(0, 0, {1}, 1).bytes).frames.size(), 1u);
  }
}

TEST(Pcapng, MemoryStaysBoundedWithManyInterfacesAndComments) {
  Maker m;
  m.section();
  const Bytes one = Maker().interface(1, 0, [](Maker& o) { o.option(option::comment, std::string(60000, 'c')); }).bytes;
  for (int i = 0; i < 300; ++i) m.raw(one);
  const All all = read_all(m.bytes);
  ASSERT_EQ(all.error, "");
  EXPECT_EQ(all.interfaces.size(), 300u);
  EXPECT_LT(all.notes.comments.size(), 80u);
  EXPECT_EQ(all.notes.skipped.at(0).count + all.notes.comments.size(), 300u);

  Maker many;
  many.section();
  const Bytes small = Maker().interface().bytes;
  for (int i = 0; i < 16385; ++i) many.raw(small);
  expect_contains(read_all(many.bytes).error, "more than 16384 interfaces");
}

TEST(PcapngOptions, NeverReadsPastTheEnd) {
  const auto count = [](const Bytes& list, bool expected) {
    int options = 0;
    EXPECT_EQ(for_each_option(list, false, [&](std::uint16_t, std::span<const std::uint8_t>) { ++options; }), expected);
    return options;
  };
  EXPECT_EQ(count({}, true), 0);
  EXPECT_EQ(count({1, 0, 0}, false), 0);
  EXPECT_EQ(count({1, 0, 0, 0}, true), 1);
  EXPECT_EQ(count({1, 0, 1, 0, 9}, true), 1) << "padding may be missing";
  EXPECT_EQ(count({1, 0, 2, 0, 9}, false), 0);
  EXPECT_EQ(count({1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0}, true), 1) << "nothing after the end mark";
  EXPECT_EQ(count({1, 0, 0xff, 0xff, 0, 0}, false), 0);
}

// ERF

TEST(Erf, RecordsAreFrames) {
  const All all = read_all(sample_erf(5));
  ASSERT_EQ(all.error, "");
  ASSERT_EQ(all.frames.size(), 5u);
  EXPECT_EQ(all.frames[1].frame.time_ns, 1700000001500000000);
  EXPECT_EQ(all.frames[1].frame.link_type, 197);
  EXPECT_EQ(all.frames[1].bytes.size(), 56u);
  EXPECT_EQ(all.frames[1].frame.wire_bytes, 60u);
  EXPECT_EQ(all.dropped, std::nullopt);
  EXPECT_EQ(read_all(sample_erf(1)).frames.size(), 1u);
}

// How bytes arrive

TEST(Open, PiecesOfAnySizeGiveTheSameFrames) {
  for (const Bytes& file : {sample_pcap(), sample_pcapng(), sample_erf(), gzip(sample_pcap()), zstd(sample_pcapng())}) {
    const All whole = read_all(file);
    ASSERT_EQ(whole.error, "");
    ASSERT_EQ(whole.frames.size(), 20u);
    for (const std::size_t piece : {1, 2, 3, 16, 17, 100, 1000, 100000}) {
      const All all = read_all(file, piece);
      ASSERT_EQ(all.error, "");
      ASSERT_EQ(all.frames.size(), 20u);
      for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(all.frames[i].bytes, whole.frames[i].bytes);
    }
  }
}

TEST(Open, CutAtEveryByteGivesEveryWholePacketAndOneError) {
  const auto check = [](const Bytes& file, const std::vector<std::size_t>& ends, std::size_t first) {
    for (std::size_t cut = 0; cut <= file.size(); ++cut) {
      const Bytes part(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(cut));
      std::size_t whole = 0;
      bool clean = cut == first;
      for (const std::size_t end : ends) {
        whole += end <= cut;
        clean |= end == cut;
      }
      for (const std::size_t piece : {0, 11}) {
        const All all = read_all(part, piece);
        EXPECT_EQ(all.frames.size(), whole) << "cut at " << cut;
        EXPECT_EQ(all.error.empty(), clean) << "cut at " << cut << ": " << all.error;
        if (!clean && cut >= first) expect_contains(all.error, "cut short at byte " + std::to_string(cut) + " (");
        if (!clean && whole > 1)
          expect_contains(all.error, "; the " + std::to_string(whole) + " whole packets before it were read");
      }
    }
  };
  // Where packets end, by the lengths the samples are made with.
  std::vector<std::size_t> pcap_ends, pcapng_ends;
  std::size_t pcap = 24, pcapng = 48;
  for (std::size_t i = 0; i < 20; ++i) {
    const std::size_t length = 10 + i * 7 % 50;
    pcap_ends.push_back(pcap += 16 + length);
    pcapng_ends.push_back(pcapng += 32 + (length + 3) / 4 * 4);
  }
  check(sample_pcap(20, false), pcap_ends, 24);
  check(sample_pcap(20, true), pcap_ends, 24);
  // Between section and interface block the file may end, too.
  for (const bool big : {false, true}) {
    std::vector<std::size_t> ends = pcapng_ends;
    const Bytes file = sample_pcapng(20, big);
    EXPECT_EQ(read_all(Bytes(file.begin(), file.begin() + 28)).error, "");
    for (std::size_t cut = 29; cut <= file.size(); ++cut) {
      const All all = read_all(Bytes(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(cut)));
      std::size_t whole = 0;
      bool clean = cut == 48;
      for (const std::size_t end : ends) whole += end <= cut, clean |= end == cut;
      EXPECT_EQ(all.frames.size(), whole) << cut;
      EXPECT_EQ(all.error.empty(), clean) << cut << all.error;
    }
    for (std::size_t cut = 0; cut < 28; ++cut)
      EXPECT_NE(read_all(Bytes(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(cut))).error, "") << cut;
  }
  // ERF is recognised by three whole records.
  const Bytes erf = sample_erf(6);
  for (std::size_t cut = 3 * 56; cut <= erf.size(); ++cut) {
    const All all = read_all(Bytes(erf.begin(), erf.begin() + static_cast<std::ptrdiff_t>(cut)));
    EXPECT_EQ(all.frames.size(), cut / 56) << cut;
    EXPECT_EQ(all.error.empty(), cut % 56 == 0) << cut << all.error;
  }
}

TEST(Open, ErrorsSayWhatIsMissing) {
  const Bytes file = sample_pcap();
  const All all = read_all(Bytes(file.begin(), file.begin() + 24 + 26 + 33 + 16 + 4));
  EXPECT_EQ(all.error,
            "cannot read x: cut short at byte 103 (record 3 at byte 83 claims 24 bytes, 4 are left); the 2 whole "
            "packets before it were read");
}

TEST(Open, CutPackedFilesGiveWhatCanBeUnpacked) {
  for (const auto pack : {gzip, zstd}) {
    const Bytes packed = pack(sample_pcap(2000));
    for (std::size_t cut = 20; cut < packed.size(); cut += packed.size() / 40) {
      const All all = read_all(Bytes(packed.begin(), packed.begin() + static_cast<std::ptrdiff_t>(cut)));
      expect_contains(all.error, "data end in the middle, at byte " + std::to_string(cut) + " of the file");
      if (!all.frames.empty()) expect_contains(all.error, "before it w");
    }
    EXPECT_EQ(read_all(packed).frames.size(), 2000u);
  }
  // Cut inside before packing: the position is one of the unpacked data.
  Bytes cut = sample_pcap();
  cut.pop_back();
  expect_contains(read_all(gzip(cut)).error,
                  "cut short at byte " + std::to_string(cut.size()) + " of the unpacked data");
}

TEST(Open, DamagedPackedFilesGiveAnError) {
  const Bytes good = gzip(sample_pcap(2000));
  Bytes bad = good;
  bad[bad.size() - 6] ^= 1;  // check sum
  const All all = read_all(bad);
  EXPECT_EQ(all.frames.size(), 2000u);
  expect_contains(all.error, "the gzip data cannot be unpacked near byte");
  expect_contains(all.error, "; the 2000 whole packets before it were read");
  for (std::size_t i = 10; i < good.size(); i += 97) {
    bad = good;
    bad[i] ^= 0x55;
    EXPECT_NE(read_all(bad).error, "");
  }
}

TEST(Open, PackedMembersThatFollowEachOtherAreOneFile) {
  const Bytes file = sample_pcapng();
  for (std::size_t split = 1; split < file.size(); split += 50) {
    const Bytes a(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(split));
    const Bytes b(file.begin() + static_cast<std::ptrdiff_t>(split), file.end());
    EXPECT_EQ(read_all(gzip(a) + gzip({}) + gzip(b)).frames.size(), 20u);
    EXPECT_EQ(read_all(zstd(a) + zstd({}) + zstd(b)).frames.size(), 20u);
    EXPECT_EQ(read_all(zstd(a) + zstd(b), 5).error, "");
  }
  EXPECT_EQ(read_all(gzip(file) + Bytes(500, 0)).error, "") << "zeros fill up a tape block";
  expect_contains(read_all(gzip(file) + Bytes{'x', 'y'}).error, "something else follows its end");
  const Bytes skippable = Maker().u32(0x184d2a50).u32(4).u32(7).bytes;
  EXPECT_EQ(read_all(skippable + zstd(file)).frames.size(), 20u);
  expect_contains(read_all(gzip(gzip(file))).error, "packed twice");
  expect_contains(read_all(gzip({})).error, "nothing is packed in it");
}

TEST(Open, ZstdWindowIsLimited) {
  // Frame header: 4 bytes magic, descriptor 0, window descriptor for 2^27 bytes.
  const Bytes file = Maker().u32(0xfd2fb528).u8(0).u8((27 - 10) << 3).raw(Bytes(20, 0)).bytes;
  expect_contains(read_all(file).error, "zstd -d --long=31 x");
}

TEST(Open, LargePiecesOfAStreamGrowTheBufferOnlyAsBytesArrive) {
  const Bytes big = pattern(3 << 20);
  const Bytes file = Maker().pcap().record(1, 1, {1}, 1).record(1, 1, big, 3 << 20).record(2, 2, {2}, 1).bytes;
  for (const All& all : {read_all(file, 100000), read_all(gzip(file)), read_all(file)}) {
    ASSERT_EQ(all.error, "");
    ASSERT_EQ(all.frames.size(), 3u);
    EXPECT_EQ(all.frames[1].bytes, big);
    EXPECT_EQ(all.frames[2].bytes, Bytes{2});
  }
}

// Each batch of frames is kept until the end, in memory that the source gave away, or copied where it says that is less.
TEST(Open, FramesStayInMemoryThatWasGiven) {
  const Bytes file = sample_pcap(20000);
  const TempFile temp(file);
  const All expected = read_all(file);
  for (const std::size_t batch : {1u, 7u, 512u, 20000u}) {
    Result<std::unique_ptr<Source>> source = open_file(temp.path());
    ASSERT_TRUE(source) << source.error();
    std::vector<Memory> kept;
    std::vector<std::span<const std::uint8_t>> frames;
    std::vector<Frame> out(batch);
    bool given = false, copied = false;
    for (;;) {
      const Result<std::size_t> count = (*source)->read(out);
      ASSERT_TRUE(count) << count.error();
      if (*count == 0) break;
      std::size_t bytes = 0;
      for (std::size_t i = 0; i < *count; ++i) bytes += out[i].bytes.size();
      Memory& memory = kept.emplace_back();
      const bool stays = (*source)->give_memory(memory, bytes);
      (stays ? given : copied) = true;
      if (!stays) memory.grow(bytes);
      std::uint8_t* to = memory.data();
      for (std::size_t i = 0; i < *count; ++i) {
        if (stays) {
          frames.push_back(out[i].bytes);
        } else {
          frames.emplace_back(to, out[i].bytes.size());
          to = std::copy(out[i].bytes.begin(), out[i].bytes.end(), to);
        }
      }
    }
    EXPECT_TRUE(given) << batch;
    EXPECT_EQ(copied, batch < 20000) << batch;  // small batches out of a full buffer
    ASSERT_EQ(frames.size(), expected.frames.size());
    for (std::size_t i = 0; i < frames.size(); ++i)
      ASSERT_TRUE(std::ranges::equal(frames[i], expected.frames[i].bytes)) << batch << ", frame " << i;
  }
}

TEST(Open, FilesGiveTheSameBufferedAndMapped) {
  const Bytes file = sample_pcap(100000);  // some megabytes: several steps of a mapping
  const TempFile temp(file), packed(gzip(file));
  const All expected = read_all(file);
  ASSERT_EQ(expected.frames.size(), 100000u);
  for (const std::string& path : {temp.path(), packed.path()}) {
    for (const Access access : {Access::buffered, Access::mapped}) {
      Result<std::unique_ptr<Source>> source = open_file(path, access);
      ASSERT_TRUE(source) << source.error();
      EXPECT_EQ((*source)->frames_stay(), access == Access::mapped && path == temp.path());
      EXPECT_GT((*source)->progress().total.value_or(0), 0u);
      const All all = read_all(std::move(source), 256);
      ASSERT_EQ(all.error, "");
      ASSERT_EQ(all.frames.size(), 100000u);
      for (std::size_t i = 0; i < all.frames.size(); ++i) ASSERT_EQ(all.frames[i].bytes, expected.frames[i].bytes);
    }
  }
}

TEST(Open, MappedFramesStay) {
  const Bytes file = sample_pcap(100000);
  const TempFile temp(file);
  const Result<std::unique_ptr<Source>> source = open_file(temp.path(), Access::mapped);
  ASSERT_TRUE(source);
  std::vector<Frame> all(100001);
  std::size_t n = 0;
  for (;;) {
    const Result<std::size_t> got = (*source)->read(std::span(all).subspan(n, 100));
    ASSERT_TRUE(got);
    if (*got == 0) break;
    n += *got;
  }
  ASSERT_EQ(n, 100000u);
  std::size_t at = 24;
  for (std::size_t i = 0; i < n; ++i) {
    at += 16;
    ASSERT_EQ(std::memcmp(all[i].bytes.data(), file.data() + at, all[i].bytes.size()), 0);
    at += all[i].bytes.size();
  }
}

TEST(Open, MappedFileThatShrinksIsAnError) {
  const Bytes file = sample_pcap(100000);
  const TempFile temp(file);
  const Result<std::unique_ptr<Source>> source = open_file(temp.path(), Access::mapped);
  ASSERT_TRUE(source);
  std::vector<Frame> frames(64);
  ASSERT_TRUE((*source)->read(frames));
  ASSERT_EQ(::truncate(temp.path().c_str(), 1 << 20), 0);  // what was given out is still there
  for (;;) {
    const Result<std::size_t> got = (*source)->read(frames);
    if (!got) {
      expect_contains(got.error(), "was made shorter while it was read");
      break;
    }
    ASSERT_GT(*got, 0u);
  }
}

TEST(Open, GrowingFileIsReadAsItIsWritten) {
  const Bytes header = Maker().pcap().bytes, one = Maker().record(1, 2, pattern(50), 50).bytes;
  const TempFile temp(header);
  int stop[2];
  ASSERT_EQ(::pipe(stop), 0);
  const auto append = [&](std::span<const std::uint8_t> b) {
    std::FILE* const file = std::fopen(temp.path().c_str(), "ab");
    ASSERT_NE(file, nullptr);
    ASSERT_EQ(std::fwrite(b.data(), 1, b.size(), file), b.size());
    std::fclose(file);
  };
  Result<std::unique_ptr<Source>> source = open_file(temp.path(), Access::growing, stop[0]);
  ASSERT_TRUE(source) << source.error();
  EXPECT_TRUE((*source)->frames_stay());
  std::vector<Frame> frames(100);
  std::vector<std::span<const std::uint8_t>> kept;
  const auto read = [&] {
    const Result<std::size_t> got = (*source)->read(frames);
    EXPECT_TRUE(got) << got.error();
    for (std::size_t i = 0; got && i < *got; ++i) kept.push_back(frames[i].bytes);
    return got ? *got : 0;
  };
  append(one);
  EXPECT_EQ(read(), 1u);
  // Half a record is none; the rest of it comes while somebody waits, and many more in one piece.
  append(std::span(one).first(30));
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(120));
    append(std::span(one).subspan(30));
    Bytes many;
    for (int i = 0; i < 20000; ++i) many.insert(many.end(), one.begin(), one.end());
    append(many);
    ASSERT_EQ(::write(stop[1], "x", 1), 1);
  });
  while (read() > 0) {
  }
  later.join();
  ASSERT_EQ(kept.size(), 20002u);  // what was written before the word to stop
  for (const std::span<const std::uint8_t> bytes : kept) ASSERT_TRUE(std::ranges::equal(bytes, pattern(50)));
  ::close(stop[0]);
  ::close(stop[1]);
}

TEST(Open, GrowingFileThatEndsInARecordSaysSo) {
  Bytes file = Maker().pcap().bytes;
  const Bytes one = Maker().record(1, 2, pattern(50), 50).bytes;
  file.insert(file.end(), one.begin(), one.end() - 5);
  const TempFile temp(file);
  int stop[2];
  ASSERT_EQ(::pipe(stop), 0);
  ASSERT_EQ(::write(stop[1], "x", 1), 1);
  expect_contains(read_all(open_file(temp.path(), Access::growing, stop[0])).error, "cut short at byte");
  const TempFile other(sample_pcap(100));
  const Result<std::unique_ptr<Source>> shrinking = open_file(other.path(), Access::growing, stop[0]);
  ASSERT_TRUE(shrinking);
  std::vector<Frame> frames(100);
  ASSERT_EQ(*(*shrinking)->read(frames), 100u);
  ASSERT_EQ(::truncate(other.path().c_str(), 30), 0);
  const Result<std::size_t> got = (*shrinking)->read(frames);
  ASSERT_FALSE(got);
  expect_contains(got.error(), "was made shorter while it was read");
  ::close(stop[0]);
  ::close(stop[1]);
}

TEST(Open, MappedFramesThatAreCutOffReadAsZeros) {
  guard_mappings();
  const Bytes file = sample_pcap(10000);
  const TempFile temp(file);
  const Result<std::unique_ptr<Source>> source = open_file(temp.path(), Access::mapped);
  ASSERT_TRUE(source);
  std::vector<Frame> all(10001);
  std::size_t n = 0;
  while (const std::size_t got = *(*source)->read(std::span(all).subspan(n, 1000))) n += got;
  ASSERT_EQ(n, 10000u);
  EXPECT_FALSE((*source)->was_cut());
  ASSERT_EQ(::truncate(temp.path().c_str(), 100), 0);
  const std::span<const std::uint8_t> last = all[n - 1].bytes;
  EXPECT_TRUE(std::ranges::all_of(last, [](std::uint8_t b) { return b == 0; }));
  EXPECT_TRUE((*source)->was_cut());
}

TEST(Open, SlowPipeHandsOutFramesAsTheyArrive) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const std::string path = "/dev/fd/" + std::to_string(ends[0]);
  const Bytes header = Maker().pcap().bytes, one = Maker().record(1, 2, pattern(50), 50).bytes;
  const auto send = [&](const Bytes& b) {
    ASSERT_EQ(::write(ends[1], b.data(), b.size()), static_cast<ssize_t>(b.size()));
  };
  send(header);
  const Result<std::unique_ptr<Source>> source = open_file(path);
  ASSERT_TRUE(source) << source.error();
  std::vector<Frame> frames(64);
  for (int i = 0; i < 5; ++i) {
    send(one + one + Bytes(one.begin(), one.begin() + 20));
    Result<std::size_t> got = (*source)->read(frames);  // would hang if it waited for a full batch
    ASSERT_TRUE(got);
    EXPECT_EQ(*got, 2u);
    send(Bytes(one.begin() + 20, one.end()));
    got = (*source)->read(frames);
    ASSERT_TRUE(got);
    EXPECT_EQ(*got, 1u);
    EXPECT_EQ(Bytes(frames[0].bytes.begin(), frames[0].bytes.end()), pattern(50));
  }
  EXPECT_EQ((*source)->progress().total, std::nullopt);
  ::close(ends[1]);
  const Result<std::size_t> end = (*source)->read(frames);
  ASSERT_TRUE(end);
  EXPECT_EQ(*end, 0u);
  ::close(ends[0]);
}

// Runs with standard input replaced.
void with_stdin(int fd, const std::function<void()>& run) {
  const int saved = ::dup(0);
  ASSERT_EQ(::dup2(fd, 0), 0);
  run();
  ASSERT_EQ(::dup2(saved, 0), 0);
  ::close(saved);
}

TEST(Open, DashIsStandardInput) {
  const TempFile temp(Bytes{9, 9, 9} + sample_pcap());
  for (const Access access : {Access::buffered, Access::mapped}) {
    const int fd = ::open(temp.path().c_str(), O_RDONLY);
    ASSERT_EQ(::lseek(fd, 3, SEEK_SET), 3);  // somebody read three bytes already
    with_stdin(fd, [&] { EXPECT_EQ(read_all(open_file("-", access)).frames.size(), 20u); });
    ::close(fd);
  }
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const Bytes packed = zstd(sample_pcapng());
  ASSERT_EQ(::write(ends[1], packed.data(), packed.size()), static_cast<ssize_t>(packed.size()));
  ::close(ends[1]);
  with_stdin(ends[0], [] {
    EXPECT_EQ(read_all(open_file("-")).frames.size(), 20u);
    expect_contains(read_all(open_file("-")).error, "cannot read standard input: it is empty");
  });
  ::close(ends[0]);
}

TEST(Open, SaysWhatIsNotACapture) {
  expect_contains(open_file("/no/such/file").error(), "cannot open /no/such/file: No such file or directory");
  expect_contains(open_file("/tmp").error(), "it is a directory");
  EXPECT_EQ(open_file("/dev/null").error(),
            "cannot read /dev/null: it is empty; a capture has a header even without packets");
  const auto error = [](const std::string& start) { return read_all(Bytes(start.begin(), start.end())).error; };
  EXPECT_EQ(error(std::string("snoop\0\0\0\0\0\0\2\0\0\0\4", 16)),
            "cannot read x: this is a Sun snoop file; convert it first: editcap -F pcapng x OUTPUT");
  expect_contains(error(std::string("\x1c\0\1\xac", 4) + std::string(30, '\0')), "IXIA");
  expect_contains(error(std::string("\xab\1\0\x1c", 4) + std::string(30, '\0')), "IXIA");
  expect_contains(error("iptrace 2.0 and so on"), "AIX");
  expect_contains(error("GMBU............."), "Network Monitor");
  expect_contains(error(std::string("\xfd"
                                    "7zXZ\0",
                                    6) +
                        "............"),
                  "packed with xz; unpack it first");
  expect_contains(error("hello, world, this is text"), "it starts with 68 65 6c 6c 6f 2c 20 77");
  expect_contains(error("a"), "it starts with 61");
  expect_contains(read_all(Maker().pcap(0xa1b2c3d4, 2, 2, 6).bytes).error, "AIX");
}

// Writers

std::vector<Interface> two_interfaces() {
  Interface a, b;
  a.name = "mlx5_0";
  a.description = "first";
  a.filter = "udp";
  a.os = "Linux";
  a.link_type = 1;
  a.fcs_bytes = 4;
  b.link_type = 247;
  b.snap_length = 100;
  return {a, b};
}

Frame frame_of(const Bytes& bytes, std::int64_t time_ns, std::uint32_t interface_id, std::uint16_t link_type) {
  Frame frame;
  frame.bytes = bytes;
  frame.time_ns = time_ns;
  frame.wire_bytes = static_cast<std::uint32_t>(bytes.size()) + 5;
  frame.interface_id = interface_id;
  frame.link_type = link_type;
  return frame;
}

TEST(Writer, PcapngComesBackAsItWas) {
  const TempFile temp;
  WriterOptions options;
  options.comment = "made by a test";
  options.os = "Linux";
  const Result<std::unique_ptr<Writer>> writer = Writer::create(temp.path(), options);
  ASSERT_TRUE(writer) << writer.error();
  ASSERT_TRUE((*writer)->describe({two_interfaces()[0]}));
  const Bytes a = pattern(61), b = pattern(1000), empty;
  ASSERT_TRUE((*writer)->write(frame_of(a, 1700000000123456789, 0, 1)));
  ASSERT_TRUE((*writer)->describe(two_interfaces()));
  ASSERT_TRUE((*writer)->write(frame_of(b, 5, 1, 247), "a comment"));
  ASSERT_TRUE((*writer)->write(frame_of(empty, -5, 0, 1)));
  Frame timeless = frame_of(a, 0, 0, 1);
  timeless.has_time = false;
  timeless.wire_bytes = 61;
  ASSERT_TRUE((*writer)->write(timeless));
  EXPECT_FALSE((*writer)->write(frame_of(a, 0, 2, 1))) << "interface is not described";
  (*writer)->set_statistics(1, {.received = 100, .dropped = 42});
  ASSERT_TRUE((*writer)->close());
  EXPECT_EQ((*writer)->bytes(), temp.read().size());

  const All all = read_all(open_file(temp.path()));
  ASSERT_EQ(all.error, "");
  ASSERT_EQ(all.frames.size(), 4u);
  EXPECT_EQ(all.frames[0].bytes, a);
  EXPECT_EQ(all.frames[0].frame.time_ns, 1700000000123456789);
  EXPECT_EQ(all.frames[0].frame.wire_bytes, 66u);
  EXPECT_EQ(all.frames[1].bytes, b);
  EXPECT_EQ(all.frames[1].frame.link_type, 247);
  EXPECT_EQ(std::string(all.frames[1].options.begin() + 4, all.frames[1].options.begin() + 13), "a comment");
  EXPECT_EQ(all.frames[2].frame.time_ns, 0) << "before 1970 cannot be written";
  EXPECT_FALSE(all.frames[3].frame.has_time);
  EXPECT_EQ(all.frames[3].bytes, a);
  ASSERT_EQ(all.interfaces.size(), 2u);
  EXPECT_EQ(all.interfaces[0].name, "mlx5_0");
  EXPECT_EQ(all.interfaces[0].filter, "udp");
  EXPECT_EQ(all.interfaces[0].fcs_bytes, 4);
  EXPECT_EQ(all.interfaces[1].snap_length, 100u);
  EXPECT_EQ(all.interfaces[1].units_per_second, 1000000000u);
  EXPECT_EQ(all.dropped, 42u);
  EXPECT_EQ(all.notes.application, "rdmascope");
  EXPECT_EQ(all.notes.comments.at(0).text, "made by a test");
  EXPECT_TRUE(all.notes.skipped.empty());
}

TEST(Writer, KeepsPacketOptionsOfEitherByteOrder) {
  for (const bool big : {false, true}) {
    Maker m;
    m.big = big;
    m.section().interface().packet(0, 1, {1, 2, 3}, 3, [](Maker& o) {
      o.option(option::comment, "kept").u16(option::epb_flags).u16(4).u32(6).option64(option::epb_dropcount, 9).u32(0);
    });
    const TempFile temp;
    {
      const Result<std::unique_ptr<Writer>> writer = Writer::create(temp.path());
      ASSERT_TRUE(writer);
      const Result<std::unique_ptr<Source>> source = open_memory(m.bytes);
      ASSERT_TRUE(source);
      Frame frame;
      ASSERT_TRUE((*source)->read({&frame, 1}));
      ASSERT_TRUE((*writer)->describe((*source)->interfaces()));
      ASSERT_TRUE((*writer)->write(frame, "added"));
    }  // closes
    const All all = read_all(open_file(temp.path()));
    ASSERT_EQ(all.frames.size(), 1u);
    EXPECT_EQ(all.dropped, 9u);
    std::vector<std::string> comments;
    std::uint32_t flags = 0;
    EXPECT_TRUE(
        for_each_option(all.frames[0].options, false, [&](std::uint16_t code, std::span<const std::uint8_t> value) {
          if (code == option::comment) comments.emplace_back(value.begin(), value.end());
          if (code == option::epb_flags) flags = load32(value.data(), false);
        }));
    EXPECT_EQ(comments, (std::vector<std::string>{"kept", "added"}));
    EXPECT_EQ(flags, 6u);
  }
}

TEST(Writer, PcapHasOneLinkType) {
  const TempFile temp;
  const Result<std::unique_ptr<Writer>> writer = Writer::create(temp.path(), {FileFormat::pcap, {}, {}, {}, {}});
  ASSERT_TRUE(writer);
  ASSERT_TRUE((*writer)->describe(two_interfaces()));
  const Bytes a = pattern(61);
  ASSERT_TRUE((*writer)->write(frame_of(a, 1700000000123456789, 0, 1)));
  const Result<void> other = (*writer)->write(frame_of(a, 5, 1, 247));
  ASSERT_FALSE(other);
  expect_contains(other.error(), "a pcap file holds one link type, and frame 2 has 247 after 1; write pcapng instead");
  ASSERT_TRUE((*writer)->close());
  const All all = read_all(open_file(temp.path()));
  ASSERT_EQ(all.error, "");
  ASSERT_EQ(all.frames.size(), 1u);
  EXPECT_EQ(all.frames[0].bytes, a);
  EXPECT_EQ(all.frames[0].frame.time_ns, 1700000000123456789);
  EXPECT_EQ(all.frames[0].frame.wire_bytes, 66u);
  EXPECT_EQ(all.interfaces[0].link_type, 1);
  EXPECT_EQ(all.interfaces[0].fcs_bytes, 4);
}

TEST(Writer, FileWithoutPacketsIsValid) {
  for (const FileFormat format : {FileFormat::pcap, FileFormat::pcapng}) {
    const TempFile temp;
    ASSERT_TRUE((*Writer::create(temp.path(), {format, {}, {}, {}, {}}))->close());
    const All all = read_all(open_file(temp.path()));
    EXPECT_EQ(all.error, "");
    EXPECT_TRUE(all.frames.empty());
  }
}

TEST(Writer, FlushLetsOthersReadAlong) {
  const TempFile temp;
  const Result<std::unique_ptr<Writer>> writer = Writer::create(temp.path());
  ASSERT_TRUE((*writer)->describe(two_interfaces()));
  const Bytes a = pattern(61);
  ASSERT_TRUE((*writer)->write(frame_of(a, 1, 0, 1)));
  ASSERT_TRUE((*writer)->flush());
  EXPECT_EQ(read_all(open_file(temp.path())).frames.size(), 1u);
}

TEST(Writer, DiskFullAndClosedPipesAreErrors) {
  expect_contains(Writer::create("/no/such/folder/x").error(), "cannot write /no/such/folder/x: No such file");
  const Bytes a = pattern(1000);
  if (fs::exists("/dev/full")) {
    const Result<std::unique_ptr<Writer>> writer = Writer::create("/dev/full");
    ASSERT_TRUE((*writer)->describe(two_interfaces()));
    ASSERT_TRUE((*writer)->write(frame_of(a, 1, 0, 1)));
    const Result<void> closed = (*writer)->close();
    ASSERT_FALSE(closed);
    expect_contains(closed.error(), "cannot write /dev/full: No space left on device after 0 bytes");
    EXPECT_FALSE((*writer)->write(frame_of(a, 1, 0, 1))) << "stays failed";
  }
  ::signal(SIGPIPE, SIG_IGN);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const Result<std::unique_ptr<Writer>> writer = Writer::create("/dev/fd/" + std::to_string(ends[1]));
  ASSERT_TRUE(writer) << writer.error();
  ::close(ends[0]);
  ::close(ends[1]);
  ASSERT_TRUE((*writer)->describe(two_interfaces()));
  Result<void> last;
  for (int i = 0; i < 1000 && last; ++i) last = (*writer)->write(frame_of(a, 1, 0, 1));
  EXPECT_FALSE(last);
  EXPECT_TRUE((*writer)->pipe_was_closed());
}

// Real captures

fs::path shared_captures() { return fs::path(RDMASCOPE_SOURCE) / "../shared/captures"; }

// Frame counts as the manifests have them.
std::map<std::string, std::uint64_t> manifest(const fs::path& folder) {
  std::map<std::string, std::uint64_t> frames;
  std::ifstream in(folder / "MANIFEST.md");
  std::string line, file;
  while (std::getline(in, line)) {
    if (line.rfind("### ", 0) == 0) file = line.substr(4);
    if (line.rfind("| frames | ", 0) == 0) frames[file] = std::strtoull(line.c_str() + 11, nullptr, 10);
  }
  return frames;
}

TEST(RealCaptures, HaveTheFramesTheirManifestSays) {
  if (!fs::exists(shared_captures())) GTEST_SKIP() << "no captures at " << shared_captures();
  int checked = 0;
  for (const fs::directory_entry& folder : fs::directory_iterator(shared_captures())) {
    const std::map<std::string, std::uint64_t> expected = manifest(folder);
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
      const std::string name = entry.path().filename().string();
      if (!entry.is_regular_file() || name == "MANIFEST.md" || entry.path().parent_path() != folder.path()) continue;
      for (const Access access : {Access::buffered, Access::mapped}) {
        const All all = read_all(open_file(entry.path().string(), access));
        if (entry.path().extension() == ".snoop") {
          expect_contains(all.error, "snoop");
          continue;
        }
        EXPECT_EQ(all.error, "") << name;
        // One old file has packets of an interface that its section does not describe.
        EXPECT_EQ(all.notes.skipped.empty(), entry.path().extension() != ".gz" || name[0] != 'w') << name;
        if (const auto found = expected.find(name); found != expected.end() && found->second > 0)
          EXPECT_EQ(all.frames.size(), found->second) << name;
        else
          EXPECT_GT(all.frames.size(), 0u) << name;  // tshark stops in it, or no manifest
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 20);
}

TEST(RealCaptures, CutAtEveryByteNeverLosesAWholePacket) {
  if (!fs::exists(shared_captures())) GTEST_SKIP() << "no captures at " << shared_captures();
  for (const char* name :
       {"odd/pcapng-be-advanced-test102.pcapng", "odd/tcpdump-LINKTYPE_PKTAP.pcap", "real/iwarp_connect-C00_M11.pcap",
        "real/smb-direct-man-in-the-middle-02-reassemble-frames9.pcap.gz"}) {
    std::ifstream in(shared_captures() / name, std::ios::binary);
    if (!in) continue;
    const Bytes file(std::istreambuf_iterator<char>(in), {});
    const All whole = read_all(file);
    std::size_t most = 0;
    for (std::size_t cut = 0; cut < file.size(); ++cut) {
      const All all = read_all(Bytes(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(cut)), cut % 3 * 50);
      EXPECT_GE(all.frames.size(), most) << name << " cut at " << cut;
      most = std::max(most, all.frames.size());
      for (std::size_t i = 0; i < all.frames.size(); ++i) ASSERT_EQ(all.frames[i].bytes, whole.frames[i].bytes);
    }
    EXPECT_GE(most + 1, whole.frames.size()) << name;
  }
}

}  // namespace
}  // namespace rdmascope::capture
