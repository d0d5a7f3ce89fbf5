// The sniffer on the double of libibverbs (tests/verbs_double), which plays the adapter and its driver.
#include "capture/sniffer.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include "capture/bytes.h"
#include "capture/device_clock.h"
#include "capture/open.h"
#include "capture/pcapng_options.h"
#include "capture/verbs.h"
#include "capture/writer.h"

namespace rdmascope::capture {
namespace {

using Bytes = std::vector<std::uint8_t>;

// A copy of what a frame said.
struct Kept {
  Bytes bytes;
  std::int64_t time_ns = 0;
  std::uint32_t wire_bytes = 0, interface_id = 0;
  std::uint16_t link_type = 0;
  std::vector<std::string> comments;
  std::optional<std::uint64_t> lost;  // epb_dropcount
};

Kept keep(const Frame& frame) {
  Kept out{{frame.bytes.begin(), frame.bytes.end()},
           frame.time_ns,
           frame.wire_bytes,
           frame.interface_id,
           frame.link_type,
           {},
           {}};
  EXPECT_TRUE(for_each_option(frame.options, false, [&](std::uint16_t code, std::span<const std::uint8_t> value) {
    if (code == option::comment) out.comments.emplace_back(value.begin(), value.end());
    if (code == option::epb_dropcount) out.lost = load64(value.data(), false);
  }));
  return out;
}

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

class SnifferTest : public testing::Test {
 protected:
  // A function of the double without parameters.
  template <class T>
  T call(const char* name) const {
    return reinterpret_cast<T (*)()>(::dlsym(double_, name))();
  }

  void SetUp() override {
    double_ = ::dlopen("libibverbs.so.1", RTLD_NOW | RTLD_GLOBAL);
    ASSERT_TRUE(double_ && ::dlsym(double_, "verbs_double_breaches"))
        << "the double is not found: LD_LIBRARY_PATH=build/dev/tests/verbs_double/lib";
    trace_begin_ = std::string(call<const char*>("verbs_double_trace")).size();
    breaches_ = call<int>("verbs_double_breaches");
    lost_ = call<std::uint64_t>("verbs_double_lost");
    marked_ = call<std::uint64_t>("verbs_double_marked");
    delivered_ = call<std::uint64_t>("verbs_double_delivered");
  }
  void TearDown() override {
    for (const auto& [name, value] : settings_) ::unsetenv(name.c_str());
    for (const std::string& file : files_) ::unlink(file.c_str());
    EXPECT_EQ(call<int>("verbs_double_breaches"), breaches_);
  }

  std::string trace() const {
    const std::string all = std::string(call<const char*>("verbs_double_trace")).substr(trace_begin_);
    return all.starts_with(' ') ? all.substr(1) : all;
  }
  std::uint64_t lost() const { return call<std::uint64_t>("verbs_double_lost") - lost_; }
  std::uint64_t marked() const { return call<std::uint64_t>("verbs_double_marked") - marked_; }
  std::uint64_t delivered() const { return call<std::uint64_t>("verbs_double_delivered") - delivered_; }

  void set(const std::string& name, const std::string& value) {
    settings_["VERBS_DOUBLE_" + name] = value;
    ::setenv(("VERBS_DOUBLE_" + name).c_str(), value.c_str(), 1);
  }
  std::string file(const char* ending) {
    files_.push_back(fmt::format("{}sniffer_test.{}.{}.{}", testing::TempDir(), ::getpid(), files_.size(), ending));
    return files_.back();
  }

  // Packets of lengths from 60 bytes on, each of its own content, in a capture file that the device plays.
  std::vector<Bytes> play(std::size_t count, std::uint64_t repeat = 1, std::size_t longest = 1500) {
    const std::string path = file("pcap");
    Interface ethernet;
    ethernet.link_type = 1;
    auto writer = Writer::create(path, {FileFormat::pcap});
    EXPECT_TRUE(writer && (*writer)->describe({ethernet}));
    std::vector<Bytes> packets;
    for (std::size_t i = 0; i < count; ++i) {
      Bytes packet(60 + i * 37 % (longest - 59));
      for (std::size_t k = 0; k < packet.size(); ++k) packet[k] = static_cast<std::uint8_t>(i * 131 + k * 7 + (i >> 8));
      Frame frame;
      frame.bytes = packet;
      frame.wire_bytes = static_cast<std::uint32_t>(packet.size());
      frame.link_type = 1;
      EXPECT_TRUE((*writer)->write(frame));
      packets.push_back(std::move(packet));
    }
    EXPECT_TRUE((*writer)->close());
    set("PACKETS", path);
    set("REPEAT", std::to_string(repeat));
    return packets;
  }

  void breaches_expected(int count) { breaches_ = count; }

  static SnifferOptions options(const char* device, std::uint32_t buffers = 64) {
    SnifferOptions out;
    out.device = device;
    out.buffers = buffers;
    return out;
  }

  // Reads until so many frames have come, or nothing more comes for some seconds: the machine may have other work.
  static constexpr int patience = 30;  // reads of 100 ms
  static std::vector<Kept> read_all(Source& source, std::size_t wanted, std::size_t at_once = 256) {
    std::vector<Kept> out;
    std::vector<Frame> frames(at_once);
    for (int idle = 0; out.size() < wanted && idle < patience;) {
      const Result<std::size_t> got = source.read(frames);
      if (!got) {
        ADD_FAILURE() << got.error();
        break;
      }
      if (*got == 0 && source.at_end()) break;
      idle += *got == 0 ? 1 : 0;
      for (std::size_t i = 0; i < *got; ++i) out.push_back(keep(frames[i]));
    }
    return out;
  }

  static std::unique_ptr<Source> opened(const SnifferOptions& options) {
    Result<std::unique_ptr<Source>> source = open_sniffer(options);
    if (source) return std::move(*source);
    ADD_FAILURE() << source.error();
    return nullptr;
  }

  static std::string error_of(const SnifferOptions& options) {
    const Result<std::unique_ptr<Source>> source = open_sniffer(options);
    return source ? "opened" : source.error();
  }

 private:
  void* double_ = nullptr;
  std::map<std::string, std::string> settings_;
  std::vector<std::string> files_;
  std::size_t trace_begin_ = 0;
  int breaches_ = 0;
  std::uint64_t lost_ = 0, marked_ = 0, delivered_ = 0;
};

void expect_packets(const std::vector<Kept>& got, const std::vector<Bytes>& packets, std::size_t count) {
  ASSERT_EQ(got.size(), count);
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_EQ(got[i].bytes, packets[i % packets.size()]) << "packet " << i;
    ASSERT_EQ(got[i].wire_bytes, got[i].bytes.size()) << "packet " << i;
  }
}

struct Setup {
  const char* device;
  int cqe_bytes;
  bool time;
};
class SnifferDevices : public SnifferTest, public testing::WithParamInterface<Setup> {};
INSTANTIATE_TEST_SUITE_P(All, SnifferDevices,
                         testing::Values(Setup{"mlx4_0", 32, true}, Setup{"mlx4_0", 32, false},
                                         Setup{"mlx4_0", 64, true}, Setup{"mlx4_0", 128, false},
                                         Setup{"mlx5_0", 64, true}, Setup{"mlx5_0", 64, false},
                                         Setup{"mlx5_0", 128, true}),
                         [](const auto& setup) {
                           return fmt::format("{}_{}_{}", setup.param.device, setup.param.cqe_bytes,
                                              setup.param.time ? "device_time" : "software_time");
                         });

// 64 buffers and 128 slots: the rings turn more than a hundred times.
TEST_P(SnifferDevices, GiveThePacketsOfTheFile) {
  set("CQE_BYTES", std::to_string(GetParam().cqe_bytes));
  set("TIME", GetParam().time ? "1" : "0");
  const std::vector<Bytes> packets = play(701, 30);
  const std::int64_t before = now_ns();
  const auto source = opened(options(GetParam().device));
  ASSERT_TRUE(source);
  const std::vector<Kept> got = read_all(*source, packets.size() * 30);
  const std::int64_t after = now_ns();
  expect_packets(got, packets, packets.size() * 30);
  EXPECT_FALSE(source->at_end());
  ASSERT_EQ(source->interfaces().size(), 1u);
  EXPECT_EQ(source->interfaces()[0].name, fmt::format("{}:1", GetParam().device));
  const std::string& description = source->interfaces()[0].description;
  EXPECT_NE(description.find(GetParam().time ? "time of the adapter" : "time of the computer"), std::string::npos)
      << description;
  // The two clocks are read a few times a second; on a busy machine, not at one moment.
  constexpr std::int64_t slack_ns = 5'000'000;
  for (const Kept& frame : got) {
    ASSERT_EQ(frame.link_type, 1);
    ASSERT_GE(frame.time_ns, before - slack_ns);
    ASSERT_LE(frame.time_ns, after + slack_ns);
    ASSERT_FALSE(frame.lost);
  }
  // No loss was marked. Devices that cannot mark one do not say that there was none.
  EXPECT_EQ(source->dropped(),
            GetParam().device == std::string("mlx4_0") ? std::optional<std::uint64_t>(0) : std::nullopt);
}

TEST_P(SnifferDevices, FreesEverythingInOrder) {
  set("TIME", GetParam().time ? "1" : "0");
  play(10);
  {
    const auto source = opened(options(GetParam().device));
    ASSERT_TRUE(source);
    read_all(*source, 5);
  }
  EXPECT_EQ(trace(), fmt::format("open alloc_pd create_channel {} create_qp init reg_mr rtr create_flow destroy_flow "
                                 "destroy_qp destroy_cq destroy_channel dereg_mr dealloc_pd close",
                                 GetParam().time ? "create_cq_ex" : "create_cq"));
}

TEST_F(SnifferTest, InfiniBandPortOfMlx4UsesUd) {
  const std::vector<Bytes> packets = play(50);
  SnifferOptions wanted = options("mlx4_0");
  wanted.port = 2;
  const auto source = opened(wanted);
  ASSERT_TRUE(source);
  const std::vector<Kept> got = read_all(*source, 50);
  expect_packets(got, packets, 50);
  EXPECT_EQ(got[0].link_type, 247);
  EXPECT_EQ(source->interfaces()[0].name, "mlx4_0:2");
  EXPECT_FALSE(source->interfaces()[0].fcs_bytes);
}

TEST_F(SnifferTest, LossIsCountedAndMarked) {
  const std::vector<Bytes> packets = play(300);
  set("FAULTS", "sd@7,d2s@9,sd@200,d2s@200");
  for (const char* time : {"0", "1"}) {
    set("TIME", time);
    const auto source = opened(options("mlx4_0"));
    ASSERT_TRUE(source);
    const std::vector<Kept> got = read_all(*source, 300);
    expect_packets(got, packets, 300);
    EXPECT_EQ(source->dropped(), 2u);
    for (std::size_t i = 0; i < got.size(); ++i) {
      std::vector<std::string> expected;
      if (i == 7 || i == 200) expected.emplace_back("sniffer SD: at least as many packets were lost before this one");
      if (i == 9 || i == 200) expected.emplace_back("sniffer d2s: sent and received by the same adapter");
      std::vector<std::string> comments;
      for (const std::string& comment : got[i].comments)
        if (comment.starts_with("sniffer")) comments.push_back(comment);
      ASSERT_EQ(comments, expected) << i;
      ASSERT_EQ(got[i].lost, i == 7 || i == 200 ? std::optional<std::uint64_t>(1) : std::nullopt) << i;
    }
  }
}

// ConnectX-3 Pro uses the bits of SD and d2s for tunnels; mlx5 has none.
TEST_F(SnifferTest, BitsOfOtherMeaningAreNotBelieved) {
  const std::vector<Bytes> packets = play(30);
  set("FAULTS", "sd@7,d2s@9");
  set("PART", "0x1007");
  const auto source = opened(options("mlx4_0"));
  ASSERT_TRUE(source);
  const std::vector<Kept> got = read_all(*source, 30);
  expect_packets(got, packets, 30);
  EXPECT_TRUE(got[7].comments.empty());
  EXPECT_EQ(source->dropped(), std::nullopt);
}

TEST_F(SnifferTest, ManyLostPacketsAreOneMark) {
  play(100);
  set("FAULTS", "skip@40=5");
  const auto source = opened(options("mlx4_0"));
  ASSERT_TRUE(source);
  const std::vector<Kept> got = read_all(*source, 95);
  ASSERT_EQ(got.size(), 95u);
  EXPECT_EQ(source->dropped(), 1u);  // a lower bound
  EXPECT_EQ(got[40].lost, 1u);
  EXPECT_EQ(lost(), 5u);
}

// The device does not wait for buffers here. Each packet is handed out or lost, and each gap that the device has marked
// is in the file.
TEST_F(SnifferTest, SlowReaderLosesNothingSilently) {
  play(2000, 10);
  set("RATE", "100000");
  const auto source = opened(options("mlx4_0", 16));
  ASSERT_TRUE(source);
  std::vector<Kept> got;
  std::vector<Frame> frames(4);
  for (int idle = 0; idle < patience && (delivered() + lost() < 20000 || got.size() < delivered());) {
    const auto count = source->read(frames);
    ASSERT_TRUE(count) << count.error();
    for (std::size_t i = 0; i < *count; ++i) got.push_back(keep(frames[i]));
    idle += *count == 0 ? 1 : 0;
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
  EXPECT_EQ(got.size(), delivered());
  EXPECT_EQ(delivered() + lost(), 20000u);
  EXPECT_GT(lost(), 0u);
  EXPECT_GT(marked(), 0u);
  std::uint64_t marks = 0;
  for (const Kept& frame : got) marks += frame.lost.value_or(0);
  EXPECT_EQ(marks, marked());
  EXPECT_EQ(source->dropped(), marked());
}

TEST_F(SnifferTest, FailedCompletionCountsAsLossAndItsBufferIsUsedAgain) {
  for (const char* device : {"mlx4_0", "mlx5_0"}) {
    const std::vector<Bytes> packets = play(100, 20);
    set("FAULTS", "error@3=0x11,error@4=0x02,error@1000=0x01");
    const auto source = opened(options(device, 16));
    ASSERT_TRUE(source);
    const std::vector<Kept> got = read_all(*source, 1997);
    ASSERT_EQ(got.size(), 1997u);
    EXPECT_EQ(got[2].bytes, packets[2]);
    EXPECT_EQ(got[3].bytes, packets[5]);
    EXPECT_EQ(got[3].lost, 2u);
    EXPECT_EQ(got[3].comments.at(0), "as many packets before this one could not be stored");
    EXPECT_EQ(got[998].bytes, packets[1]);
    EXPECT_EQ(got[998].lost, 1u);
    EXPECT_EQ(source->dropped(), 3u);
  }
}

TEST_F(SnifferTest, TooLongPacketIsALoss) {
  play(100);
  SnifferOptions wanted = options("mlx5_0");
  wanted.buffer_bytes = 1024;
  const auto source = opened(wanted);
  ASSERT_TRUE(source);
  const std::vector<Kept> got = read_all(*source, 100);
  EXPECT_LT(got.size(), 100u);
  EXPECT_EQ(got.size() + source->dropped().value_or(0), 100u);
}

// What a device says of lengths is not believed.
TEST_F(SnifferTest, LengthBeyondTheBufferIsNotRead) {
  for (const char* device : {"mlx4_0", "mlx5_0"}) {
    play(20);
    set("FAULTS", "length@5=0xffffffff,length@19=70000");
    SnifferOptions wanted = options(device, 8);
    wanted.snap_length = 1 << 20;
    const auto source = opened(wanted);
    ASSERT_TRUE(source);
    const std::vector<Kept> got = read_all(*source, 20);
    ASSERT_EQ(got.size(), 20u);
    EXPECT_EQ(got[5].bytes.size(), 16384u);
    EXPECT_EQ(got[5].wire_bytes, 0xffffffffu);
    EXPECT_EQ(got[19].bytes.size(), 16384u);
  }
}

// Nor what it says of time.
TEST_F(SnifferTest, TimeWithoutSenseIsReplaced) {
  play(20);
  const std::int64_t before = now_ns();
  set("FAULTS",
      fmt::format("time@5=0x{:x}", (static_cast<std::uint64_t>(before / 1000) + 7'000'000'000) * 156250 / 1000));
  const auto source = opened(options("mlx5_0"));
  ASSERT_TRUE(source);
  const std::vector<Kept> got = read_all(*source, 20);
  ASSERT_EQ(got.size(), 20u);
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_GE(got[i].time_ns, before - 5'000'000) << i;
    EXPECT_LE(got[i].time_ns, now_ns() + 5'000'000) << i;
    EXPECT_EQ(got[i].comments.size(), i == 5 ? 1u : 0u) << i;
  }
  EXPECT_EQ(got[5].comments.at(0), "the adapter's time made no sense; this is the computer's");
}

// The high half of ConnectX-3's counter is one too low when the low half is 0.
TEST_F(SnifferTest, LowHalfOfTheCounterIsCorrected) {
  play(20);
  const std::uint64_t ticks = static_cast<std::uint64_t>(now_ns() / 1000) * 427 & 0xffffffff0000;
  set("FAULTS", fmt::format("time@5={},time@6={}", ticks, ticks + 1));
  const auto source = opened(options("mlx4_0"));
  ASSERT_TRUE(source);
  const std::vector<Kept> got = read_all(*source, 20);
  ASSERT_EQ(got.size(), 20u);
  EXPECT_NEAR(static_cast<double>(got[5].time_ns - got[6].time_ns), 65535 * 1000.0 / 427, 300);
}

TEST_F(SnifferTest, WithoutADeviceClockTimeIsTheComputers) {
  const std::vector<Bytes> packets = play(20);
  for (const char* fail : {"query_rt_values=EIO", "create_cq_ex=EOPNOTSUPP", "query_device=ENOSYS"}) {
    set("FAIL", fail);
    const std::int64_t before = now_ns();
    const auto source = open_sniffer(options("mlx5_0"));
    if (!source) {  // the limits of the device are asked for in the same way
      EXPECT_EQ(source.error(),
                "cannot ask for the limits of the device on mlx5_0 port 1: Function not implemented; see whether the "
                "kernel's log says why");
      EXPECT_EQ(fail, std::string("query_device=ENOSYS"));
      continue;
    }
    EXPECT_NE((*source)->interfaces()[0].description.find("time of the computer"), std::string::npos);
    const std::vector<Kept> got = read_all(**source, 20);
    expect_packets(got, packets, 20);
    EXPECT_GE(got[0].time_ns, before);
  }
}

TEST_F(SnifferTest, SnapLength) {
  const std::vector<Bytes> packets = play(20);
  SnifferOptions wanted = options("mlx5_0");
  wanted.snap_length = 100;
  const auto source = opened(wanted);
  ASSERT_TRUE(source);
  const std::vector<Kept> got = read_all(*source, 20);
  ASSERT_EQ(got.size(), 20u);
  EXPECT_EQ(got[10].bytes, Bytes(packets[10].begin(), packets[10].begin() + 100));
  EXPECT_EQ(got[10].wire_bytes, packets[10].size());
  EXPECT_EQ(source->interfaces()[0].snap_length, 100u);
}

// Ends with an error, after everything that had come.
struct End {
  const char *device, *setting, *value;
  std::optional<std::size_t> frames;  // nullopt: depends on who is faster
  const char* sentence;
};
class SnifferEnds : public SnifferTest, public testing::WithParamInterface<End> {};
INSTANTIATE_TEST_SUITE_P(
    All, SnifferEnds,
    testing::Values(
        End{"mlx4_0", "FAULTS", "overrun@30", 30,
            "the completion queue of mlx4_0 port 1 overran, and packets were lost; capture again, with more buffers"},
        End{"mlx5_0", "FAULTS", "overrun@0", 0,
            "the completion queue of mlx5_0 port 1 overran, and packets were lost; capture again, with more buffers"},
        End{"mlx5_0", "FAULTS", "portdown@10,removed@77", 77,
            "the device of mlx5_0 port 1 failed or was removed; capturing stopped"},
        End{"mlx4_0", "FAULTS", "qpfatal@1", 1,
            "the adapter stopped receiving on mlx4_0 port 1: its queue pair failed; capture again"},
        End{"mlx5_0", "FAULTS", "error@12=5", std::nullopt,
            "the adapter stopped receiving on mlx5_0 port 1: its queue pair is in the error state; capture again, with "
            "larger buffers if packets were too long"},
        End{"mlx5_0", "FAULTS", "id@20=64", 63,
            "the driver of mlx5_0 port 1 completed receive 64, which was not posted; capturing stopped"},
        End{"mlx4_0", "FAULTS", "id@21=20", 63,
            "the driver of mlx4_0 port 1 completed receive 20, which was not posted; capturing stopped"},
        End{"mlx4_0", "FAULTS", "id@3=0xffffffffffffffff", 63,
            "the driver of mlx4_0 port 1 completed receive 18446744073709551615, which was not posted; capturing "
            "stopped"},
        End{"mlx4_0", "FAIL", "poll_cq=EIO", 0,
            "cannot read the completion queue of mlx4_0 port 1: Input/output error"},
        End{"mlx4_0", "FAIL", "req_notify=EIO", std::nullopt,
            "cannot wait for packets on mlx4_0 port 1: Input/output error"},
        End{"mlx5_0", "FAIL_POST_AFTER", "64", 64,
            "cannot give receive buffers back to mlx5_0 port 1: Cannot allocate memory; capturing stopped"}));

void PrintTo(const End& end, std::ostream* out) { *out << end.device << " " << end.setting << " " << end.value; }

TEST_P(SnifferEnds, WithASentence) {
  const std::vector<Bytes> packets = play(200);
  set(GetParam().setting, GetParam().value);
  auto source = opened(options(GetParam().device));
  ASSERT_TRUE(source);
  std::vector<Frame> frames(256);
  std::size_t count = 0;
  std::string error;
  for (int idle = 0; idle < patience && error.empty();) {
    const auto got = source->read(frames);
    if (!got) {
      error = got.error();
    } else {
      idle += *got == 0 ? 1 : 0;
      count += *got;
    }
  }
  EXPECT_EQ(error, GetParam().sentence);
  EXPECT_EQ(count, GetParam().frames.value_or(count));
  EXPECT_TRUE(source->at_end());
  const auto after = source->read(frames);
  ASSERT_TRUE(after) << after.error();
  EXPECT_EQ(*after, 0u);
  if (std::string(GetParam().value).starts_with("overrun")) {
    EXPECT_EQ(source->dropped(), 1u);
  }
  source.reset();
  EXPECT_NE(trace().find("create_flow destroy_flow destroy_qp destroy_cq destroy_channel dereg_mr dealloc_pd close"),
            std::string::npos)
      << trace();
}

// Each errno of opening gives one sentence with what to do, and everything that was made is freed.
struct Refusal {
  const char* device;
  std::uint8_t port;
  const char *fail, *sentence;
};
class SnifferRefusals : public SnifferTest, public testing::WithParamInterface<Refusal> {};
INSTANTIATE_TEST_SUITE_P(
    All, SnifferRefusals,
    testing::Values(
        Refusal{"mlx5_0", 1, "create_qp=EPERM",
                "cannot make a sniffer queue pair on mlx5_0 port 1: Operation not permitted; it needs CAP_NET_RAW: run "
                "as root, or give it to the program with setcap cap_net_raw+ep"},
        Refusal{
            "soft0", 1, "",
            "cannot make a sniffer queue pair on soft0 port 1: Operation not supported; this device has no sniffer; "
            "capture its network device eth9 instead"},
        Refusal{
            "mlx5_0", 1, "create_qp=EOPNOTSUPP",
            "cannot make a sniffer queue pair on mlx5_0 port 1: Operation not supported; this device has no sniffer; "
            "capture its network device eth5 instead, which does not show what the adapter does by itself"},
        Refusal{"mlx5_0", 1, "create_qp=EINVAL",
                "cannot make a sniffer queue pair on mlx5_0 port 1: Invalid argument; the driver's library may be too "
                "old for the device: update rdma-core"},
        Refusal{"mlx5_0", 1, "create_qp=ENOMEM",
                "cannot make a sniffer queue pair on mlx5_0 port 1: Cannot allocate memory; choose fewer buffers, or "
                "raise the limit on locked memory (ulimit -l)"},
        Refusal{"mlx4_0", 2, "modify_init=EINVAL",
                "cannot bring up the sniffer queue pair on mlx4_0 port 2: Invalid argument; the adapter takes no raw "
                "packets on an InfiniBand port; mlx4 can, others with ibdump"},
        Refusal{"mlx4_0", 1, "modify_init=EINVAL",
                "cannot bring up the sniffer queue pair on mlx4_0 port 1: Invalid argument; see whether the port is up "
                "and the kernel's log says why"},
        Refusal{
            "mlx4_0", 1, "modify_rtr=EINVAL",
            "cannot make the sniffer queue pair receive on mlx4_0 port 1: Invalid argument; see whether the kernel's "
            "log says why"},
        Refusal{"mlx5_0", 1, "create_flow=EPERM",
                "cannot switch on the sniffer on mlx5_0 port 1: Operation not permitted; it needs CAP_NET_RAW (older "
                "kernels: CAP_NET_ADMIN, too): run as root"},
        Refusal{
            "mlx4_0", 1, "create_flow=EOPNOTSUPP",
            "cannot switch on the sniffer on mlx4_0 port 1: Operation not supported; device-managed flow steering is "
            "off: load mlx4_core with log_num_mgm_entry_size=-1; capture its network device eth4 instead, which does "
            "not show what the adapter does by itself"},
        Refusal{"mlx5_0", 1, "create_flow=EOPNOTSUPP",
                "cannot switch on the sniffer on mlx5_0 port 1: Operation not supported; neither the adapter nor its "
                "driver has a sniffer; capture its network device eth5 instead, which does not show what the adapter "
                "does by itself"},
        Refusal{"mlx4_0", 1, "create_flow=EINVAL",
                "cannot switch on the sniffer on mlx4_0 port 1: Invalid argument; a virtual function cannot sniff: "
                "capture on the physical function"},
        Refusal{"mlx5_0", 1, "create_flow=EINVAL",
                "cannot switch on the sniffer on mlx5_0 port 1: Invalid argument; the driver takes no sniffer on this "
                "port: choose another port or device"},
        Refusal{
            "mlx4_0", 2, "create_flow=ENXIO",
            "cannot switch on the sniffer on mlx4_0 port 2: No such device or address; device-managed flow steering "
            "is off: load mlx4_core with log_num_mgm_entry_size=-1"},
        Refusal{
            "mlx5_0", 1, "create_flow=ENOMEM",
            "cannot switch on the sniffer on mlx5_0 port 1: Cannot allocate memory; the adapter's steering table is "
            "full: end other captures on it"},
        Refusal{
            "mlx5_0", 1, "create_flow=EBUSY",
            "cannot switch on the sniffer on mlx5_0 port 1: Device or resource busy; another program sniffs on this "
            "port: end it"},
        Refusal{
            "mlx5_0", 1, "reg_mr=ENOMEM",
            "cannot register 1052672 bytes of memory: Cannot allocate memory; the limit on locked memory may be too "
            "low (ulimit -l); 64 receive buffers of 16384 bytes were asked for on mlx5_0 port 1"},
        Refusal{"mlx5_0", 1, "post_recv=ENOMEM",
                "cannot post 64 receive buffers on mlx5_0 port 1: Cannot allocate memory; choose fewer buffers"},
        Refusal{"mlx5_0", 1, "create_cq_ex=ENOMEM,create_cq=ENOMEM",
                "cannot make a completion queue of 64 entries on mlx5_0 port 1: Cannot allocate memory; choose fewer "
                "buffers, or raise the limit on locked memory (ulimit -l)"},
        Refusal{"mlx5_0", 1, "alloc_pd=ENOMEM",
                "cannot make a protection domain on mlx5_0 port 1: Cannot allocate memory; end other programs that use "
                "the device"},
        Refusal{"mlx5_0", 1, "create_comp_channel=EMFILE",
                "cannot make a completion channel on mlx5_0 port 1: Too many open files; close some files"},
        Refusal{"mlx5_0", 1, "open_device=EACCES",
                "cannot open RDMA device mlx5_0: Permission denied; check the rights on /dev/infiniband"},
        Refusal{"mlx5_0", 1, "get_device_list=ENOSYS", "no RDMA devices here: the kernel has not loaded ib_uverbs"},
        Refusal{"mlx5_7", 1, "", "no such RDMA device mlx5_7 (have: mlx4_0, mlx5_0, bnxt_re0, soft0)"},
        Refusal{"mlx4_0", 3, "", "mlx4_0 has no port 3; it has 2"}));

void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.device << " " << refusal.fail; }

TEST_P(SnifferRefusals, SayWhatToDo) {
  play(1);
  set("FAIL", GetParam().fail);
  SnifferOptions wanted = options(GetParam().device);
  wanted.port = GetParam().port;
  EXPECT_EQ(error_of(wanted), GetParam().sentence);
  const std::string said = trace();
  if (said.find("open") != std::string::npos) {
    EXPECT_TRUE(said.ends_with("close")) << said;
  }
}

TEST_F(SnifferTest, OptionsThatCannotBe) {
  EXPECT_EQ(error_of(options("mlx5_0", 0)),
            "cannot post 0 receive buffers on mlx5_0: the device takes 1 to 16384; choose another number");
  EXPECT_EQ(error_of(options("mlx5_0", 16385)),
            "cannot post 16385 receive buffers on mlx5_0: the device takes 1 to 16384; choose another number");
  SnifferOptions wanted = options("soft0");
  wanted.completions = true;
  EXPECT_EQ(error_of(wanted),
            "cannot capture completions of soft0: its driver is not known, and only mlx4_core and mlx5_core show them; "
            "leave them out");
  wanted = options("mlx5_0");
  wanted.memory_bytes = 1000;
  EXPECT_EQ(error_of(wanted), "not one receive buffer of 16384 bytes fits into 1000 bytes; give more memory");
  wanted.memory_bytes = 0;
  wanted.buffer_bytes = 64;
  EXPECT_EQ(error_of(wanted), "no receive buffer can have 64 bytes; choose 256 to 1048576");
  set("FAIL", "init_obj=EINVAL");
  wanted = options("mlx5_0");
  wanted.completions = true;
  EXPECT_EQ(error_of(wanted),
            "cannot capture completions of mlx5_0 port 1: cannot look at the completion queue: Invalid argument; leave "
            "them out");
}

TEST_F(SnifferTest, MemorySetsTheNumberOfBuffers) {
  play(1);
  SnifferOptions wanted = options("mlx5_0");
  wanted.memory_bytes = 1 << 20;
  const auto source = opened(wanted);
  ASSERT_TRUE(source);
  EXPECT_NE(source->interfaces()[0].description.find("63 buffers of 16384 bytes"), std::string::npos)
      << source->interfaces()[0].description;
}

// Without the raw entries there are packets, but nobody knows of losses.
TEST_F(SnifferTest, WithoutQueueMemoryLossIsUnknown) {
  const std::vector<Bytes> packets = play(40);
  set("FAIL", "init_obj=EINVAL");
  set("FAULTS", "sd@7");
  const auto source = opened(options("mlx4_0"));
  ASSERT_TRUE(source);
  expect_packets(read_all(*source, 40), packets, 40);
  EXPECT_EQ(source->dropped(), std::nullopt);
}

// The driver's interface to raw entries does not look whose queue it gets; the double does.
TEST_F(SnifferTest, OtherDriversAreNotAskedForRawEntries) {
  const std::vector<Bytes> packets = play(40);
  const auto source = opened(options("bnxt_re0"));
  ASSERT_TRUE(source);
  expect_packets(read_all(*source, 40), packets, 40);
  EXPECT_EQ(source->dropped(), std::nullopt);
}

TEST_F(SnifferTest, IdleReadComesBackAndIsNoEnd) {
  play(3);
  const auto source = opened(options("mlx5_0"));
  ASSERT_TRUE(source);
  EXPECT_EQ(read_all(*source, 3).size(), 3u);
  std::vector<Frame> frames(4);
  const auto begin = std::chrono::steady_clock::now();
  const auto got = source->read(frames);
  const auto took = std::chrono::steady_clock::now() - begin;
  ASSERT_TRUE(got);
  EXPECT_EQ(*got, 0u);
  EXPECT_FALSE(source->at_end());
  EXPECT_GE(took, std::chrono::milliseconds(90));
  EXPECT_LT(took, std::chrono::seconds(5));
}

class StopPipe {
 public:
  StopPipe() {
    EXPECT_EQ(::pipe(ends_), 0);
    stop_descriptor = ends_[0];
  }
  ~StopPipe() {
    stop_descriptor = -1;
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  void stop() const { EXPECT_EQ(::write(ends_[1], "", 1), 1); }

 private:
  int ends_[2] = {-1, -1};
};

TEST_F(SnifferTest, StopEndsAReadThatWaits) {
  play(3);
  const StopPipe pipe;
  auto source = opened(options("mlx5_0"));
  ASSERT_TRUE(source);
  EXPECT_EQ(read_all(*source, 3).size(), 3u);
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    pipe.stop();
  });
  std::vector<Frame> frames(4);
  for (int i = 0; i < 50 && !source->at_end(); ++i) {
    const auto got = source->read(frames);
    ASSERT_TRUE(got) << got.error();
    ASSERT_EQ(*got, 0u);
  }
  EXPECT_TRUE(source->at_end());
  stopper.join();
  source.reset();
  EXPECT_TRUE(trace().ends_with("destroy_flow destroy_qp destroy_cq destroy_channel dereg_mr dealloc_pd close"))
      << trace();
}

// While packets keep coming: what the device has delivered until then still comes out.
TEST_F(SnifferTest, StopLosesNothing) {
  const std::vector<Bytes> packets = play(1000, 100000);
  const StopPipe pipe;
  const auto source = opened(options("mlx4_0", 256));
  ASSERT_TRUE(source);
  std::vector<Frame> frames(256);
  std::size_t count = 0;
  while (!source->at_end()) {
    const auto got = source->read(frames);
    ASSERT_TRUE(got) << got.error();
    for (std::size_t i = 0; i < *got; ++i, ++count)
      ASSERT_TRUE(std::ranges::equal(frames[i].bytes, packets[count % packets.size()])) << count;
    if (count > 20000) pipe.stop();
    ASSERT_LT(count, 1000000u);
  }
  EXPECT_EQ(count, delivered());
  EXPECT_GT(count, 20000u);
}

TEST_F(SnifferTest, ClosingWhileThePollerIsBusy) {
  play(1000, 100000);
  for (int i = 0; i < 5; ++i) {
    auto source = opened(options(i % 2 ? "mlx4_0" : "mlx5_0"));
    ASSERT_TRUE(source);
    read_all(*source, 1000);
  }
}

// The records of the sniffer's own completion queue.

TEST_F(SnifferTest, CompletionsOfMlx4) {
  const std::vector<Bytes> packets = play(300, 3);
  set("CQE_BYTES", "64");
  set("TIME", "0");
  set("FAULTS", "d2s@2,sd@3,error@4=0x11");
  SnifferOptions wanted = options("mlx4_0");
  wanted.completions = true;
  const auto source = opened(wanted);
  ASSERT_TRUE(source);
  ASSERT_EQ(source->interfaces().size(), 2u);
  EXPECT_EQ(source->interfaces()[1].name, "mlx4_0:1#cq0x85");
  EXPECT_EQ(source->interfaces()[1].link_type, 252);
  EXPECT_TRUE(source->interfaces()[1].description.starts_with("RDMA completion queue"));
  // An odd number of frames: packet and record come apart now and then.
  const std::vector<Kept> got = read_all(*source, 899 + 900, 3);
  ASSERT_EQ(got.size(), 899u + 900u);
  std::size_t packet = 0, record = 0;
  for (const Kept& frame : got) {
    if (frame.interface_id == 0) {
      const std::size_t at = packet < 4 ? packet : packet + 1;
      ASSERT_EQ(frame.bytes, packets[at % 300]) << packet;
      ++packet;
      ASSERT_EQ(packet + (record > 4 ? 1 : 0), record + 1);  // its record follows
      continue;
    }
    ASSERT_EQ(frame.bytes.size(), 16u + 32 + 64);
    const std::string tags(frame.bytes.begin(), frame.bytes.begin() + 16);
    ASSERT_EQ(tags, std::string("\0\x0c\0\x08rdma_cqe\0\0\0\0", 16));
    const std::uint8_t* const header = frame.bytes.data() + 16;
    const Bytes expected = {1, 32, 1, 0x0f, 0, 64, 0, 32, 0, 0, 0, 0x85};
    ASSERT_EQ(Bytes(header, header + 12), expected);
    ASSERT_EQ(load32(header + 12, true), record);  // the consumer index
    ASSERT_EQ(load32(header + 16, true), 128u);
    ASSERT_EQ(load32(header + 20, true), 0x01081003u);  // port, raw packets, ConnectX-3
    const std::uint8_t* const entry = header + 32 + 32;
    ASSERT_EQ(entry[31], (record & 128 ? 0x80 : 0) | (record == 4 ? 0x1e : 1)) << record;
    ASSERT_EQ(entry[0], record == 2 ? 4 : record == 3 ? 8 : 0);
    if (record != 4) {
      ASSERT_EQ(load32(entry + 20, true), packets[record % 300].size());
    }
    ASSERT_EQ(frame.comments, record == 3 ? std::vector<std::string>{"sniffer SD"} : std::vector<std::string>{});
    ASSERT_FALSE(frame.lost);  // the packet says it
    ++record;
  }
  EXPECT_EQ(record, 900u);
  EXPECT_EQ(packet, 899u);
}

TEST_F(SnifferTest, CompletionsOfMlx5) {
  const std::vector<Bytes> packets = play(300);
  SnifferOptions wanted = options("mlx5_0");
  wanted.completions = true;
  const auto source = opened(wanted);
  ASSERT_TRUE(source);
  const std::vector<Kept> got = read_all(*source, 600);
  ASSERT_EQ(got.size(), 600u);
  for (std::size_t i = 0; i < 300; ++i) {
    const Kept& record = got[2 * i + 1];
    ASSERT_EQ(got[2 * i].bytes, packets[i]);
    ASSERT_EQ(record.link_type, 252);
    ASSERT_EQ(record.bytes.size(), 16u + 32 + 64);
    ASSERT_EQ(record.time_ns, got[2 * i].time_ns);
    const std::uint8_t* const header = record.bytes.data() + 16;
    ASSERT_EQ(header[2], 3);  // format
    ASSERT_EQ(header[3], 0x0f);
    ASSERT_EQ(load32(header + 12, true), i);
    ASSERT_EQ(load32(header + 32 + 44, true), packets[i].size());
    ASSERT_EQ(header[32 + 63], 0x20 | (i & 128 ? 1 : 0));
  }
}

// Through the writer and back: the marks are in the file.
TEST_F(SnifferTest, MarksReachTheFile) {
  play(20);
  set("FAULTS", "sd@7");
  SnifferOptions wanted = options("mlx4_0");
  wanted.completions = true;
  const auto source = opened(wanted);
  ASSERT_TRUE(source);
  const std::string path = file("pcapng");
  auto writer = Writer::create(path);
  ASSERT_TRUE(writer && (*writer)->describe(source->interfaces()));
  std::vector<Frame> frames(256);
  for (std::size_t count = 0, idle = 0; count < 40 && idle < patience;) {
    const auto got = source->read(frames);
    ASSERT_TRUE(got);
    for (std::size_t i = 0; i < *got; ++i) ASSERT_TRUE((*writer)->write(frames[i]));
    count += *got;
    idle += *got == 0 ? 1 : 0;
  }
  (*writer)->set_statistics(0, {.received = {}, .dropped = source->dropped().value_or(0)});
  ASSERT_TRUE((*writer)->close());
  const auto again = open_file(path);
  ASSERT_TRUE(again) << again.error();
  const std::vector<Kept> got = read_all(**again, 40);
  ASSERT_EQ(got.size(), 40u);
  EXPECT_EQ(got[14].lost, 1u);
  EXPECT_EQ(got[15].comments, std::vector<std::string>{"sniffer SD"});
  EXPECT_EQ((*again)->interfaces()[0].name, "mlx4_0:1");
  EXPECT_EQ((*again)->interfaces()[1].name, "mlx4_0:1#cq0x85");
  std::vector<Frame> rest(1);
  ASSERT_EQ(*(*again)->read(rest), 0u);
  EXPECT_EQ((*again)->dropped(), 1u);
}

TEST_F(SnifferTest, PortsOfTheDevices) {
  std::vector<std::string> got;
  for (const RdmaPort& port : rdma_ports())
    got.push_back(fmt::format("{} {} {} {} {} {}", port.device, port.port, port.driver, port.state, port.link_layer,
                              port.network_device));
  const std::vector<std::string> expected = {"bnxt_re0 1 bnxt_re ACTIVE Ethernet eth6",
                                             "mlx4_0 1 mlx4_core ACTIVE Ethernet eth4",
                                             "mlx4_0 2 mlx4_core ACTIVE InfiniBand ",
                                             "mlx5_0 1 mlx5_core ACTIVE Ethernet eth5", "soft0 1  DOWN Ethernet eth9"};
  EXPECT_EQ(got, expected);
}

// The double itself notices what it is there for.
TEST_F(SnifferTest, DoubleNoticesBreaches) {
  set("KEEP_GOING", "1");
  play(1);
  const auto count = [&] { return call<int>("verbs_double_breaches"); };
  const verbs::Library& library = **verbs::load();
  verbs::Context context = std::move(*verbs::open_device("mlx5_0"));
  ibv_pd* const domain = library.ibv_alloc_pd(context.get());
  ibv_cq* const queue = library.ibv_create_cq(context.get(), 8, nullptr, nullptr, 0);
  ibv_qp_init_attr wanted{};
  wanted.recv_cq = wanted.send_cq = queue;
  wanted.cap.max_recv_wr = 4;
  wanted.cap.max_recv_sge = 1;
  wanted.qp_type = IBV_QPT_RAW_PACKET;
  ibv_qp* const pair = library.ibv_create_qp(domain, &wanted);
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = 1;
  ASSERT_EQ(library.ibv_modify_qp(pair, &attributes, IBV_QP_STATE | IBV_QP_PORT), 0);
  Bytes buffer(512);
  ibv_mr* const region = (library.ibv_reg_mr)(domain, buffer.data(), 256, IBV_ACCESS_LOCAL_WRITE);
  ibv_sge piece{reinterpret_cast<std::uintptr_t>(buffer.data()), 256, region->lkey};
  ibv_recv_wr request{1, nullptr, &piece, 1}, *bad = nullptr;
  int before = count();
  const auto expect_breach = [&](const char* what) {
    EXPECT_EQ(count(), before + 1) << what;
    before = count();
  };
  ASSERT_EQ(ibv_post_recv(pair, &request, &bad), 0);
  EXPECT_EQ(count(), before);
  ASSERT_EQ(ibv_post_recv(pair, &request, &bad), 0);
  expect_breach("posted twice");
  piece.length = 300;
  piece.addr += 1;
  ASSERT_EQ(ibv_post_recv(pair, &request, &bad), 0);
  expect_breach("outside of the region");
  piece.addr -= 1;
  attributes.qp_state = IBV_QPS_RTR;
  ASSERT_EQ(library.ibv_modify_qp(pair, &attributes, IBV_QP_STATE), 0);
  ibv_flow_attr sniffer{};
  sniffer.type = IBV_FLOW_ATTR_SNIFFER;
  sniffer.size = sizeof sniffer;
  sniffer.port = 1;
  ibv_flow* const flow = ibv_create_flow(pair, &sniffer);
  ASSERT_TRUE(flow);
  expect_breach("not all receives posted");
  buffer[20] = 1;
  ibv_wc done[4];
  EXPECT_EQ(ibv_poll_cq(queue, 4, done), 1);
  expect_breach("a posted buffer written");
  EXPECT_NE(library.ibv_destroy_cq(queue), 0);
  expect_breach("queue before pair");
  library.ibv_destroy_qp(pair);
  expect_breach("pair before flow");
  ibv_destroy_flow(flow);
  expect_breach("flow after pair");
  library.ibv_destroy_cq(queue);
  ibv_poll_cq(queue, 1, done);
  expect_breach("use after destruction");
  context.reset();
  expect_breach("device closed with objects alive");
  // These breaches were meant.
  breaches_expected(count());
}

// Clocks

TEST(DeviceClock, CountsInItsRate) {
  DeviceClock clock(0xffffffffffff, 427000);
  clock.anchor(1000, 5'000'000'000);
  EXPECT_EQ(clock.wall_ns(1000), 5'000'000'000);
  EXPECT_EQ(clock.wall_ns(1000 + 427), 5'000'001'000);
  EXPECT_EQ(clock.wall_ns(1000 - 427), 4'999'999'000);
}

TEST(DeviceClock, WrapsInBothDirections) {
  DeviceClock clock(0xffffffffffff, 1'000'000);
  clock.anchor(0xfffffffffff0, 1'000'000);
  EXPECT_EQ(clock.wall_ns(0x10), 1'000'032);
  clock.anchor(0x10, 1'000'032);
  EXPECT_EQ(clock.wall_ns(0xfffffffffff0), 1'000'000);
  DeviceClock wide(~std::uint64_t{0}, 1'000'000);
  wide.anchor(5, 1'000'000);
  EXPECT_EQ(wide.wall_ns(~std::uint64_t{0}), 999'994);
}

TEST(DeviceClock, LearnsTheRateButNoClockSteps) {
  DeviceClock clock(~std::uint64_t{0}, 1'000'000);
  clock.anchor(0, 0);
  clock.anchor(1'000'000'000, 1'000'050'000);  // 50 ppm slow
  EXPECT_EQ(clock.wall_ns(2'000'000'000), 2'000'100'000);
  clock.anchor(2'000'000'000, 9'000'000'000);  // the wall clock was set
  EXPECT_EQ(clock.wall_ns(2'000'001'000), 9'000'001'000);
}

TEST(DeviceClock, TakesAnyNumber) {
  DeviceClock clock(~std::uint64_t{0}, 1);
  clock.anchor(0, 1'700'000'000'000'000'000);
  const std::int64_t hour = 3'600'000'000'000;
  EXPECT_EQ(clock.wall_ns(std::uint64_t{1} << 63), 1'700'000'000'000'000'000 + hour);
  EXPECT_EQ(clock.wall_ns((std::uint64_t{1} << 63) + 1), 1'700'000'000'000'000'000 - hour);
}

}  // namespace
}  // namespace rdmascope::capture
