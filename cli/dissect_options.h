// Options that change how bytes are read, the same for every command that dissects.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "dissect/walk.h"

namespace CLI {
class App;
}

namespace rdmascope::cli {

class DissectOptions {
 public:
  void add_to(CLI::App& command);
  Result<dissect::WalkOptions> walk_options() const;

 private:
  std::vector<std::uint16_t> roce_ports_;
  std::vector<std::string> user_links_, decode_as_;
  unsigned bth_ip_protocol_ = 0;
  bool rd_is_dc_ = false;
};

// "a, b, c" of everything a frame may start with.
std::string start_names();

}  // namespace rdmascope::cli
