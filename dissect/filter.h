// Display filters: Wireshark 4.0's syntax and meaning over the fields of this project.
//
//   infiniband.bth.opcode == RC_RDMA_READ_REQUEST and ip.addr == 10.0.0.0/8
//   infiniband.aeth.syndrome.opcode in {"NAK", "RNR NAK"} or infiniband.invariant.crc.status == "Bad"
//   not udp.port == 4791 or eth.dst[0:3] == 02:00:00 or frame.protocols matches "vxlan.*bth"
//
// How several values of one field count (ip.addr has two, a header may occur twice):
//   ==  <  <=  >  >=  contains  matches  in    true if any value fits
//   !=                                         true if all values differ, and there is one
//   ===  !==                                   all are equal; any differs
//   any ...  all ...                           in front of a comparison: say it yourself
// A comparison with a field that is not there is false; `not` before it makes that true.
//
// Beyond Wireshark 4.0: xor and ^^ (between and and or), names of values in any case, with or without quotes, the value
// on the left side, & on flags. Not there: arithmetic, macros, references to the selected packet.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "dissect/packet.h"

namespace rdmascope::dissect {

struct FilterError {
  std::string message;     // one sentence
  std::size_t column = 1;  // of the offending word, from 1, in bytes
};

namespace filter {
struct Program;
}

// A compiled expression. Copies share it; any number of threads may use it at once.
class Filter {
 public:
  Filter() = default;  // matches everything, as does an empty expression
  static std::variant<Filter, FilterError> compile(std::string_view text);

  // Whether it asks for what is known only when the connections were followed (annotations.h).
  bool uses_annotations() const;
  bool matches(const Packet& packet) const { return !program_ || run(*program_, packet); }

 private:
  static bool run(const filter::Program&, const Packet&);

  std::shared_ptr<const filter::Program> program_;
};

// Three lines for people: the expression, a caret below the column, the message. Ends without a newline.
std::string explain(const FilterError& error, std::string_view text);

}  // namespace rdmascope::dissect
