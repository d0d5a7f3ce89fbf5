// The RDMA ports of this machine, out of sysfs.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "capture/sniffer.h"
#include "capture/verbs.h"

namespace rdmascope::capture {
namespace {

namespace fs = std::filesystem;

std::string first_line(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

std::vector<fs::path> sorted_entries(const fs::path& folder) {
  std::vector<fs::path> out;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    out.push_back(at->path());
  std::sort(out.begin(), out.end());
  return out;
}

std::string network_device_of(const fs::path& folder, const fs::path& port, bool only_port) {
  // The kernel says which network device each address of the port belongs to; the first is the port's own.
  for (const fs::path& entry : sorted_entries(port / "gid_attrs" / "ndevs"))
    if (std::string name = first_line(entry); !name.empty()) return name;
  if (std::string parent = first_line(folder / "parent"); !parent.empty()) return parent;  // Soft-RoCE
  // Those of the PCI device, where there is no doubt which.
  const std::vector<fs::path> devices = sorted_entries(folder / "device" / "net");
  return only_port && devices.size() == 1 ? devices[0].filename().string() : std::string();
}

}  // namespace

std::vector<RdmaPort> rdma_ports() {
  std::vector<RdmaPort> out;
  for (const std::string& name : verbs::device_folders()) {
    const fs::path folder = name;
    const std::vector<fs::path> ports = sorted_entries(folder / "ports");
    for (const fs::path& port : ports) {
      const std::string number = port.filename().string();
      if (number.empty() || number.size() > 3 || number.find_first_not_of("0123456789") != std::string::npos) continue;
      if (std::stoi(number) > 255) continue;
      RdmaPort found;
      found.device = folder.filename().string();
      found.port = static_cast<std::uint8_t>(std::stoi(number));
      found.driver = verbs::driver_of(name);
      const std::string state = first_line(port / "state");  // "4: ACTIVE"
      found.state = state.substr(state.find(' ') + 1);
      found.link_layer = first_line(port / "link_layer");
      found.network_device = network_device_of(folder, port, ports.size() == 1);
      out.push_back(std::move(found));
    }
  }
  std::sort(out.begin(), out.end(), [](const RdmaPort& a, const RdmaPort& b) {
    return a.device != b.device ? a.device < b.device : a.port < b.port;
  });
  return out;
}

}  // namespace rdmascope::capture
