// Writes a captured connection as a test script: one end becomes the device under test, the other the tester. Data are
// patterns of the same size, keys and addresses of the device's memory its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "check/connection.h"

namespace rdmascope::replay {

struct CapturedPacket {
  std::uint64_t frame = 0;
  std::uint8_t side = 0;            // of the connection, who sent it
  std::vector<std::uint8_t> bytes;  // of the frame
  std::uint16_t link_type = 1;
  bool response = false, retransmission = false;
};

struct CapturedMessage {
  std::uint8_t side = 0;  // who asked
  check::Message message;
};

struct Conversation {
  std::string capture;  // name of the file, for the header
  std::uint32_t id = 0;
  std::string name[2];  // "10.77.0.1 QP 0x11"
  std::uint32_t pmtu = 0;
  bool uc = false;
  std::vector<CapturedPacket> packets;  // in order; retransmissions among them
  std::vector<CapturedMessage> messages;
  std::uint64_t left_out = 0;  // packets behind the last one taken
};

// `dut` is the side that the device plays. An error when nothing of the conversation can be played.
Result<std::string> write_script(const Conversation& conversation, std::uint8_t dut);

}  // namespace rdmascope::replay
