#include "capture/places.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace rdmascope::capture {
namespace {

TEST(Places, SayWhatCanBeSeenThere) {
  const std::vector<LiveInterface> interfaces{
      {"eth0", "", {"10.0.0.1", "fe80::1"}, true, true, false}, {"eth1", "", {}, true, false, false},
      {"eth2", "", {}, false, false, false},                     {"lo", "", {"127.0.0.1"}, true, true, true},
      {"dbus-system", "D-Bus", {}, true, true, false, false}};
  const std::vector<RdmaPort> ports{{"mlx5_0", 1, "mlx5_core", "ACTIVE", "Ethernet", "eth0"},
                                    {"rxe0", 1, "", "DOWN", "Ethernet", "eth1"},
                                    {"mlx4_0", 2, "mlx4_core", "ACTIVE", "InfiniBand", ""}};
  const std::vector<Place> all = places(interfaces, ports);
  const auto place = [&](const std::string& name) { return *std::ranges::find(all, name, &Place::name); };
  EXPECT_EQ(place("eth0").sees, "what passes the kernel; RDMA of mlx5_0 passes it by");
  EXPECT_EQ(place("eth0").detail, "10.0.0.1, fe80::1");
  EXPECT_EQ(place("eth1").state, "no carrier");
  EXPECT_EQ(place("eth1").sees, "RDMA of rxe0, but for what two of its own queue pairs send each other");
  EXPECT_EQ(place("eth2").state, "down");
  EXPECT_EQ(place("lo").sees, "packets between programs of this machine");
  EXPECT_EQ(place("dbus-system").sees, "no RDMA packets");
  EXPECT_EQ(place("dbus-system").detail, "(D-Bus)");
  EXPECT_TRUE(place("mlx5_0:1").ready);
  EXPECT_EQ(place("rxe0:1").sees, "what eth1 sees: it is in software and has no sniffer");
  EXPECT_FALSE(place("rxe0:1").ready);
  EXPECT_EQ(place("mlx4_0:2").detail, "RDMA device, InfiniBand, driver mlx4_core");
}

}  // namespace
}  // namespace rdmascope::capture
