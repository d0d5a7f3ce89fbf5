// Completion queue entries: the vectors of the reference (cqe-sniffer.md 6.3 to 6.5), records and what is wrong in
// them.
#include "dissect/cqe.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "dissect/guess.h"
#include "dissect/json.h"
#include "dissect/summary.h"
#include "dissect/tree.h"
#include "tests/unit/walked.h"

namespace rdmascope::dissect {
namespace {

using namespace rdmascope::test;

std::string zeros(std::size_t bytes) { return std::string(bytes * 2, '0'); }

struct CqeVector {
  std::string_view name, start;
  std::string hex;
  std::string_view info;
  std::vector<std::pair<std::string_view, std::string_view>> fields;
};

const std::vector<CqeVector>& vectors() {
  static const std::vector<CqeVector> list = {
      {"V1",
       "cqe:mlx4",
       "0000004a 00000000 00000000 00000000 00000000 00003000 00070000 00000050",
       "QP 0x00004a send RDMA_READ WQE 7 12288 bytes",
       {{"cqe.mlx4.qpn", "0x00004a"},
        {"cqe.mlx4.s_r", "1"},
        {"cqe.mlx4.opcode", "0x10"},
        {"cqe.mlx4.opcode.send", "0x10"},
        {"cqe.mlx4.opcode.receive", ""},
        {"cqe.mlx4.byte_cnt", "12288"},
        {"cqe.mlx4.wqe_counter", "7"},
        {"cqe.mlx4.owner", "0"},
        {"cqe.error", "0"},
        {"cqe.status", "success"},
        {"cqe.meaning", ""}}},
      {"V2",
       "cqe:mlx4",
       "0000020b deadbeef 00000000 00000000 00000000 00001000 01030000 00000082",
       "QP 0x00020b receive SEND_IMM WQE 259 4096 bytes",
       {{"cqe.mlx4.immediate_rssvalue_invalidatekey", "0xdeadbeef"}, {"cqe.mlx4.owner", "1"}, {"cqe.mlx4.s_r", "0"}}},
      {"V3",
       "cqe:mlx4",
       "00000041 00000000 81000001 20000003 00000000 00000128 00050000 00000001",
       "QP 0x000041 receive SEND WQE 5 296 bytes",
       {{"cqe.mlx4.g", "1"},
        {"cqe.mlx4.ml_path_mac_index", "1"},
        {"cqe.mlx4.srq_rqpn", "0x000001"},
        {"cqe.mlx4.sl", "2"},
        {"cqe.mlx4.slid_smac47_32", "0x0003"}}},
      {"V4",
       "cqe:mlx4",
       "0c00004c 00000000 00000049 00000005 00000000 0000082a 0f100000 00000081",
       "QP 0x00004c receive SEND WQE 3856 2090 bytes",
       {{"cqe.mlx4.d2s", "1"},
        {"cqe.mlx4.fcrc_sd", "1"},
        {"cqe.mlx4.dife", "0"},
        {"cqe.mlx4.fl", "0"},
        {"cqe.mlx4.reserved0", "0x0"},
        {"cqe.mlx4.srq_rqpn", "0x000049"},
        {"cqe.mlx4.owner", "1"}}},
      {"V5",
       "cqe:mlx4",
       "0000004a 00000000 00000000 00000000 00000000 00000000 00088115 0000005e",
       "QP 0x00004a send error: transport retry counter exceeded (0x15) vendor 0x81 WQE 8",
       {{"cqe.mlx4.syndrome", "0x15"},
        {"cqe.mlx4.vendor_error_syndrome", "0x81"},
        {"cqe.mlx4.checksum", ""},
        {"cqe.mlx4.d2s", ""},
        {"cqe.error", "1"}}},
      {"V6",
       "cqe:mlx4",
       "0000004a 00000000 00000000 00000000 00000000 00000000 0009f905 0000009e",
       "QP 0x00004a receive error: work request flushed (0x05) vendor 0xf9 WQE 9",
       {{"cqe.mlx4.owner", "1"}, {"cqe.mlx4.s_r", "0"}}},
      {"V7",
       "cqe:mlx4",
       "20000055 12345678 02000000 a0640002 14400004 000005ee 00ffffff 00000001",
       "QP 0x000055 receive SEND WQE 255 1518 bytes",
       {{"cqe.mlx4.vlan", "1"},
        {"cqe.mlx4.vid", "100"},
        {"cqe.mlx4.sl", "10"},
        {"cqe.mlx4.ml_path_mac_index", "2"},
        {"cqe.mlx4.smac31_0_rawether_ipoib_status", "0x14400004"},
        {"cqe.mlx4.checksum", "0xffff"}}},
      {"V8",
       "cqe:mlx4-ts",
       "00000055 00000000 00000000 0a0b0c0d 00000000 00000040 00010000 00e0f101",
       "QP 0x000055 receive SEND WQE 1 64 bytes",
       {{"cqe.mlx4_ts.timestamp", "11042563154161"}}},
      {"V8 without time stamp",
       "cqe:mlx4",
       "00000055 00000000 00000000 0a0b0c0d 00000000 00000040 00010000 00e0f101",
       "QP 0x000055 receive SEND WQE 1 64 bytes",
       {{"cqe.mlx4.slid_smac47_32", "0x0c0d"}, {"cqe.mlx4.vid", "2571"}, {"cqe.mlx4.reserved1", "0xe0f1"}}},
      {"V9",
       "cqe:mlx4",
       "cccccccc cccccccc cccccccc cccccccc cccccccc cccccccc cccccccc cccccccc",
       "not yet written by the device",
       {{"cqe.mlx4.owner", "1"}, {"cqe.mlx4.opcode", "0x0c"}, {"cqe.error", ""}}},
      {"V10",
       "cqe:mlx4",
       "20000056 00000000 80000077 600a0002 c9aabbcc 00000068 00020000 00000001",
       "QP 0x000056 receive SEND WQE 2 104 bytes",
       {{"cqe.mlx4.vid", "10"}, {"cqe.mlx4.sl", "6"}, {"cqe.source_mac", ""}}},
      {"V11",
       "cqe:mlx4",
       "0200004a 00000000 00000000 00000000 00000000 00000000 00030000 00000043",
       "QP 0x00004a send unknown opcode 0x03 WQE 3",
       {{"cqe.mlx4.reserved0", "0x2"}}},
      {"M1",
       "cqe:mlx5",
       zeros(32) + "00000012 00000000 00000000 00002000 00000123 45678abc 100001f2 00100000",
       "QP 0x0001f2 send RDMA_READ WQE 16 8192 bytes",
       {{"cqe.mlx5.srqn", "0x000012"},
        {"cqe.mlx5.timestamp", "1250999896764"},
        {"cqe.mlx5.send_opcode", "0x10"},
        {"cqe.mlx5.rx_drop_counter", ""},
        {"cqe.mlx5.owner", "0"}}},
      {"M2",
       "cqe:mlx5",
       zeros(24) + "23000abc 00000000 00000000 11223344 00000000 00000428 00000000 00000000 000001f3 00070031",
       "QP 0x0001f3 receive RESP_SEND_IMM WQE 7 1064 bytes",
       {{"cqe.mlx5.l3_type", "2"},
        {"cqe.mlx5.sl", "3"},
        {"cqe.mlx5.rqpn", "0x000abc"},
        {"cqe.mlx5.imm_inval_pkey", "0x11223344"},
        {"cqe.mlx5.owner", "1"}}},
      {"M3",
       "cqe:mlx5",
       zeros(52) + "00008115 0a0001f2 001100d1",
       "QP 0x0001f2 send SEND error: transport retry counter exceeded (0x15) vendor 0x81 WQE 17",
       {{"cqe.mlx5.syndrome", "0x15"},
        {"cqe.mlx5.vendor_error_syndrome", "0x81"},
        {"cqe.mlx5.timestamp", ""},
        {"cqe.mlx5.owner", "1"}}},
      {"M4", "cqe:mlx5", zeros(60) + "000000f0", "not yet written by the device", {{"cqe.mlx5.opcode", "15"}}},
      {"E1",
       "cqe:efa",
       "05000005 1100e400 ffff2200 00000000 fe800000 00000000 041122ff fe334455",
       "QP 0x000011 receive SEND WQE 5 228 bytes",
       {{"cqe.efa.req_id", "5"},
        {"cqe.efa.phase", "1"},
        {"cqe.efa.q_type", "2"},
        {"cqe.efa.ah", "0xffff"},
        {"cqe.efa.src_qp_num", "0x0022"},
        {"cqe.efa.src_gid", "fe80::411:22ff:fe33:4455"}}},
      {"E2",
       "cqe:efa",
       "03800a02 11000000 00000000 00000000",
       "QP 0x000011 send SEND error: RNR retry counter exceeded (0x0a) WQE 32771",
       {{"cqe.efa.status", "10"}, {"cqe.efa.phase", "0"}, {"cqe.efa.length", ""}, {"cqe.efa.src_gid", ""}}},
      {"E3",
       "cqe:efa",
       "000000ad 11000020 03002200 0df0feca 01000000 00000000 00000000 00000000",
       "QP 0x000011 receive RDMA_WRITE WQE 0 73728 bytes",
       {{"cqe.efa.imm", "0xcafef00d"},
        {"cqe.efa.unsolicited", "1"},
        {"cqe.efa.has_imm", "1"},
        {"cqe.efa.whole_length", "73728"},
        {"cqe.efa.src_gid", ""},
        {"cqe.efa.ah", "0x0003"}}},
  };
  return list;
}

Walked walked(std::string_view start, const std::string& hex) {
  WalkOptions options;
  options.start = find_start(start);
  EXPECT_NE(options.start, nullptr) << start;
  return Walked(from_hex(hex), link_ethernet, {}, options);
}

std::string info(const Walked& w) {
  Text out;
  put_info(out, w.packet);
  return std::string(out.view());
}

// A record as an exported PDU.
std::string record(unsigned format, std::size_t stride, std::size_t offset, std::string_view slot,
                   std::string_view flags = "07") {
  char header[80];
  std::snprintf(header, sizeof header, "0120%02x%.*s%04zx%04zx000000850000000700000080010210030000000000000000", format,
                static_cast<int>(flags.size()), flags.data(), stride, offset);
  return "000c000872646d615f63716500000000" + std::string(header) + std::string(slot);
}
constexpr std::uint16_t link_upper_pdu = 252, link_user0 = 147;
const std::string v1_bytes = "0000004a00000000000000000000000000000000000030000007000000000050";

TEST(Cqe, VectorsOfTheReference) {
  for (const CqeVector& v : vectors()) {
    const Walked w = walked(v.start, v.hex);
    EXPECT_TRUE(w.packet.events().empty()) << v.name;
    EXPECT_EQ(info(w), v.info) << v.name;
    for (const auto& [field, value] : v.fields) EXPECT_EQ(w.text(field), value) << v.name << ' ' << field;
  }
}

TEST(Cqe, ErrorsAreExplained) {
  const Walked w = walked("cqe:mlx4", vectors()[4].hex);
  EXPECT_EQ(w.text("cqe.status"), "transport retry counter exceeded");
  EXPECT_NE(w.text("cqe.meaning").find("never acknowledged"), std::string::npos);
  EXPECT_FALSE(w.text("cqe.cause").empty());
  EXPECT_FALSE(w.text("cqe.look_at").empty());
}

// Every kind of failure has words, so nobody reads an empty line.
TEST(Cqe, EveryFaultHasWords) {
  for (const FaultWords& f : faults) {
    EXPECT_FALSE(f.name.empty());
    EXPECT_FALSE(f.status.empty());
    if (f.fault == Fault::none) continue;
    EXPECT_FALSE(f.meaning.empty() || f.cause.empty() || f.look_at.empty()) << f.name;
  }
}

TEST(Cqe, OpcodeNamesDependOnTheQueue) {
  const Walked send = walked("cqe:mlx4", zeros(31) + "41"), receive = walked("cqe:mlx4", zeros(31) + "01");
  EXPECT_EQ(send.text("cqe.operation"), "SEND_INVAL");
  EXPECT_EQ(receive.text("cqe.operation"), "SEND");
}

TEST(Cqe, AllRowsOfTheManual) {
  const std::string_view names[] = {"qpn",
                                    "d2s",
                                    "fcrc_sd",
                                    "fl",
                                    "vlan",
                                    "dife",
                                    "immediate_rssvalue_invalidatekey",
                                    "srq_rqpn",
                                    "g",
                                    "vid",
                                    "sl",
                                    "is",
                                    "wqe_counter",
                                    "ml_path_mac_index",
                                    "byte_cnt",
                                    "checksum",
                                    "opcode",
                                    "s_r",
                                    "owner",
                                    "reserved0",
                                    "slid_smac47_32",
                                    "reserved1",
                                    "reserved2",
                                    "smac31_0_rawether_ipoib_status"};
  static_assert(std::size(names) == 24);
  for (const std::string_view name : names) EXPECT_EQ(find_fields("cqe.mlx4." + std::string(name)).size(), 1u) << name;
}

TEST(CqeRecord, EntryInTheSecondHalfOfASlotOf64Bytes) {
  const Walked w(from_hex(record(1, 64, 32, std::string(64, 'a') + v1_bytes)), link_upper_pdu);
  EXPECT_TRUE(w.packet.events().empty());
  EXPECT_EQ(w.layers(), "exported_pdu exported_pdu cqe.record cqe.slot cqe.mlx4 cqe");
  EXPECT_EQ(info(w), "CQ 0x000085 ci 7 QP 0x00004a send RDMA_READ WQE 7 12288 bytes");
}

TEST(CqeRecord, EntryInTheFirstHalfOfALargeSlot) {
  const Walked w(from_hex(record(1, 128, 0, v1_bytes + std::string(192, 'a'))), link_upper_pdu);
  EXPECT_TRUE(w.packet.events().empty());
  EXPECT_EQ(w.layers(), "exported_pdu exported_pdu cqe.record cqe.mlx4 cqe cqe.slot");
}

TEST(CqeRecord, PrivateLinkTypeWithoutTags) {
  const std::string content = record(1, 32, 0, v1_bytes).substr(32);
  EXPECT_EQ(Walked(from_hex(content), link_user0).layers(), "cqe.record cqe.mlx4 cqe");
  // Not by its own lengths: somebody else's.
  EXPECT_EQ(Walked(from_hex(content + "00"), link_user0).layers(), "data");
  // What the user says counts.
  WalkOptions options;
  options.user_links[0] = find_start("data");
  EXPECT_EQ(Walked(from_hex(content), link_user0, {}, options).layers(), "data");
}

TEST(CqeRecord, LaterVersionsHaveLongerHeaders) {
  std::string hex = record(1, 32, 0, "0123456789abcdef" + v1_bytes);
  hex.replace(34, 2, "28");
  const Walked w(from_hex(hex), link_upper_pdu);
  EXPECT_TRUE(w.packet.events().empty());
  EXPECT_EQ(w.text("cqe.record.more"), "0123456789abcdef");
  EXPECT_EQ(w.text("cqe.mlx4.qpn"), "0x00004a");
}

TEST(CqeRecord, WhatDoesNotFitIsAnEvent) {
  std::string version = record(1, 32, 0, v1_bytes), header_len = version, odd = version;
  version.replace(32, 2, "02");
  header_len.replace(34, 2, "10");
  odd.replace(34, 2, "22");
  const std::pair<std::string, std::string_view> cases[] = {
      {version, "cqe.record.bad_value"},
      {header_len, "cqe.record.bad_length"},
      {odd + "0000", "cqe.record.bad_length"},
      {record(1, 96, 0, v1_bytes), "cqe.record.bad_length"},   // the slot is longer than the record
      {record(1, 32, 32, v1_bytes), "cqe.record.bad_length"},  // the entry is behind the slot
      {record(3, 32, 0, v1_bytes), "cqe.record.bad_length"},   // the entry is longer than the slot
      {record(1, 16, 0, v1_bytes.substr(0, 32)), "cqe.record.bad_length"},
      {record(9, 32, 0, v1_bytes), "cqe.record.bad_value"},  // no such format
      {record(1, 32, 0, v1_bytes.substr(0, 40)), "cqe.record.bad_length,cqe.mlx4.truncated"},
      {record(1, 32, 0, v1_bytes).substr(0, 60), "cqe.record.truncated"},
  };
  for (const auto& [hex, event] : cases)
    EXPECT_EQ(Walked(from_hex(hex), link_upper_pdu).text("rdmascope.event"), event) << hex;
  // Cut by the capture.
  const std::string whole = record(1, 32, 0, v1_bytes);
  for (std::size_t bytes = 17; bytes < 80; ++bytes) {
    const Walked w(from_hex(whole.substr(0, bytes * 2)), link_upper_pdu, 80);
    EXPECT_EQ(w.text("rdmascope.event"), bytes < 48 ? "cqe.record.cut" : "cqe.mlx4.cut") << bytes;
  }
  // Nobody knows these layouts.
  for (const unsigned format : {0u, 5u, 6u, 0x80u, 0xffu}) {
    const Walked w(from_hex(record(format, 32, 0, v1_bytes)), link_upper_pdu);
    EXPECT_TRUE(w.packet.events().empty());
    EXPECT_EQ(w.layers(), "exported_pdu exported_pdu cqe.record cqe.slot");
  }
}

// Any bytes behind the tags, in any length: read, shown, never beyond the end (the sanitizers watch).
TEST(CqeRecord, AnyBytes) {
  std::uint32_t random = 1;
  const auto next = [&] { return random = random * 1664525 + 1013904223, static_cast<std::uint8_t>(random >> 24); };
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::uint8_t> bytes = from_hex(record(next() % 10, 32u << (next() % 3), (next() % 3) * 32u, ""));
    const std::size_t more = next() % 160;
    for (std::size_t i = 0; i < more; ++i) bytes.push_back(next());
    if (next() % 4 == 0) bytes[16 + next() % 32] = next();
    const Walked w(bytes, link_upper_pdu, static_cast<std::uint32_t>(bytes.size() + next() % 3 * 20));
    Text out;
    put_info(out, w.packet);
    put_tree(out, w.packet, "");
    put_json(out, w.packet, {});
  }
}

TEST(Cqe, UdOverEthernetHasTheSourceMac) {
  std::string hex = record(1, 32, 0, "200000560000000080000077600a0002c9aabbcc000000680002000000000001");
  hex.replace(32 + 42, 2, "04");  // UD
  const Walked w(from_hex(hex), link_upper_pdu);
  EXPECT_EQ(w.text("cqe.source_mac"), "00:02:c9:aa:bb:cc");
}

TEST(Cqe, ErrorsAreRecognisedAmongOtherBytes) {
  for (const CqeVector& v : vectors()) {
    const Start* start = guess_start(from_hex(v.hex));
    const bool sure = v.name == "V5" || v.name == "V6" || v.name == "M3";
    EXPECT_EQ(start && start->name == v.start, sure) << v.name;
  }
}

TEST(Cqe, OtherFamilies) {
  const Walked erdma = walked("cqe:erdma", "80010100 00000004 00000021 0d00feca 00000200" + zeros(12));
  EXPECT_EQ(info(erdma), "QP 0x000021 receive WQE 4 512 bytes");
  const Walked wc =
      walked("cqe:wc", "8877665544332211 0c000000 00000000 81000000 00000000 00000000 4a000000" + zeros(16));
  EXPECT_EQ(info(wc), "QP 0x00004a send error: transport retry counter exceeded (0x0c) vendor 0x81");
  EXPECT_EQ(wc.text("cqe.wc.wr_id"), "0x1122334455667788");
}

TEST(Cqe, Mlx5FormsShareTheirBytes) {
  // Inline data hides what it stands in for.
  const Walked with_data = walked("cqe:mlx5", "0123456789abcdef" + zeros(52) + "00000024");
  EXPECT_EQ(with_data.text("cqe.mlx5.inline_data").substr(0, 16), "0123456789abcdef");
  EXPECT_EQ(with_data.text("cqe.mlx5.slid"), "");
  // Signature error.
  const Walked signature = walked("cqe:mlx5", zeros(16) + "11111111 22222222 33333333 44444444 5555 0000 66666666" +
                                                  "7777777788888888" + zeros(15) + "c0");
  EXPECT_EQ(signature.text("cqe.mlx5.sig.actual_trans_sig"), "0x22222222");
  EXPECT_EQ(signature.text("cqe.mlx5.sig.expected_ref_tag"), "0x33333333");
  EXPECT_EQ(signature.text("cqe.mlx5.sig.syndrome"), "0x5555");
  EXPECT_EQ(signature.text("cqe.mlx5.sig.mkey"), "0x66666666");
  EXPECT_EQ(signature.text("cqe.mlx5.sig.offset"), "0x7777777788888888");
  EXPECT_EQ(signature.text("cqe.mlx5.qpn"), "");
  // An array of mini entries.
  const Walked mini = walked("cqe:mlx5-mini", "00070a0000000400 00080a0000000200");
  EXPECT_EQ(mini.text("cqe.mlx5_mini.wqe_counter"), "7,8");
  EXPECT_EQ(mini.text("cqe.mlx5_mini.byte_cnt"), "1024,512");
}

}  // namespace
}  // namespace rdmascope::dissect
