// The dumps below are outputs of tcpdump 4.99.3, tshark 4.0.17, od, xxd and hexdump for the frames named here.
#include "capture/hex_text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace rdmascope::capture {
namespace {

// A RoCEv2 acknowledge and a RoCEv1 acknowledge (real), and a frame whose payload is text that reads as hex.
constexpr std::string_view v2_ack =
    "183d5ebf4371183d5ebf51920800450200300000400040112d60c0a84606c0a84604004812b7001c00001140ffff0000004500000000060000"
    "01"
    "259cc216";
constexpr std::string_view v1_ack =
    "7cfe90753cd87cfe90753cd889156020000000141b4000000000000000000000ffff0f00000200000000000000000000ffff0f0000021140ff"
    "ff"
    "0000010900a788c00000000525f0c038";
constexpr std::string_view text_as_hex =
    "02000000000202000000000108004500303020313120323220646561646265656661622063646566203031203233206162";
constexpr std::string_view zeros =
    "000000000000000000000000000000000000000000000000000000000000000000000000000000000102";

std::string hex(const std::vector<std::uint8_t>& bytes) {
  constexpr char digits[] = "0123456789abcdef";
  std::string out;
  for (const std::uint8_t b : bytes) {
    out += digits[b >> 4];
    out += digits[b & 15];
  }
  return out;
}

std::vector<std::string> packets(std::string_view text) {
  const auto result = read_hex_text(text);
  if (!result) return {"error: " + result.error()};
  std::vector<std::string> out;
  for (const HexPacket& packet : *result) out.push_back(hex(packet.bytes));
  return out;
}

std::string error(std::string_view text) {
  const auto result = read_hex_text(text);
  return result ? "none" : result.error();
}

using Packets = std::vector<std::string>;

TEST(HexText, BareHexInEverySpelling) {
  const Packets want = {"0200ab"};
  for (const std::string_view text :
       {"0200ab", "0200AB\n", "02 00 ab", "02:00:ab", "02-00-ab", "0x02, 0x00, 0xab", "0x0200ab", "{0x2, 0x0, 0xab};",
        "\\x02\\x00\\xab", "\"\\x02\\x00\"\n\"\\xab\"", "b'\\x02\\x00\\xab'", "02\r\n00\r\nab\r\n", "  02\t00 ab  ",
        "\xef\xbb\xbf"
        "02 00 ab",
        "# note\n02 00 // MAC\nab # end\n", "```\n02 00 ab\n```\n", "\\x02\\x00\\\n\\xab"})
    EXPECT_EQ(packets(text), want) << text;
}

TEST(HexText, EmptyLineSeparatesBareHex) {
  EXPECT_EQ(packets("0200\n\n0300\n# still the second\n04\n\n\n05"), (Packets{"0200", "030004", "05"}));
  const auto result = read_hex_text("# one\n0200\n\n0300");
  ASSERT_TRUE(result);
  EXPECT_EQ((*result)[0].line, 2u);
  EXPECT_EQ((*result)[1].line, 4u);
  EXPECT_FALSE((*result)[1].time_ns);
}

TEST(HexText, XxdPlainAndCArray) {
  EXPECT_EQ(packets("183d5ebf4371183d5ebf51920800450200300000400040112d60c0a84606\n"
                    "c0a84604004812b7001c00001140ffff000000450000000006000001259c\nc216\n"),
            Packets{std::string(v2_ack)});
  EXPECT_EQ(packets("unsigned char v1[] = {\n  0x18, 0x3d, 0x5e,\n  0xc2, 0x16\n};\nunsigned int v1_len = 5;\n"
                    "unsigned char v2[] = {\n  0x19\n};\nunsigned int v2_len = 1;\n"),
            (Packets{"183d5ec216", "19"}));
}

TEST(HexText, TcpdumpWithoutLinkHeader) {
  const auto result = read_hex_text(R"(reading from file two.pcap, link-type EN10MB (Ethernet), snapshot length 262144
10:49:50.668829 IP 192.168.70.6.72 > 192.168.70.4.4791: UDP, length 20
	0x0000:  4502 0030 0000 4000 4011 2d60 c0a8 4606  E..0..@.@.-`..F.
	0x0010:  c0a8 4604 0048 12b7 001c 0000 1140 ffff  ..F..H.......@..
	0x0020:  0000 0045 0000 0000 0600 0001 259c c216  ...E........%...
10:49:50.668846 7c:fe:90:75:3c:d8 > 7c:fe:90:75:3c:d8, ethertype Unknown (0x8915), length 74: 
	0x0000:  6020 0000 0014 1b40 0000 0000 0000 0000
	0x0010:  0000 ffff 0f00 0002 0000 0000 0000 0000
	0x0020:  0000 ffff 0f00 0002 1140 ffff 0000 0109
	0x0030:  00a7 88c0 0000 0005 25f0 c038
2 packets captured
)");
  ASSERT_TRUE(result) << result.error();
  ASSERT_EQ(result->size(), 2u);
  const HexPacket& first = (*result)[0];
  EXPECT_EQ(hex(first.bytes), v2_ack.substr(28));
  EXPECT_EQ(first.line, 3u);
  EXPECT_TRUE(first.without_link_header_hint);
  EXPECT_EQ(first.time_ns, (10 * 3600 + 49 * 60 + 50) * 1000000000LL + 668829000);
  const HexPacket& second = (*result)[1];
  EXPECT_EQ(hex(second.bytes), v1_ack.substr(28));
  EXPECT_TRUE(second.without_link_header_hint);  // GRH, which looks like IPv6
  EXPECT_EQ(*second.time_ns - *first.time_ns, 17000);
}

TEST(HexText, TcpdumpWithLinkHeader) {
  const auto result = read_hex_text(R"(2022-04-26 10:49:50.668829 IP 192.168.70.6.72 > 192.168.70.4.4791: UDP, length 20
	0x0000:  183d 5ebf 4371 183d 5ebf 5192 0800 4502  .=^.Cq.=^.Q...E.
	0x0010:  0030 0000 4000 4011 2d60 c0a8 4606 c0a8  .0..@.@.-`..F...
	0x0020:  4604 0048 12b7 001c 0000 1140 ffff 0000  F..H.......@....
	0x0030:  0045 0000 0000 0600 0001 259c c216       .E........%...
1650970190.668846 7c:fe:90:75:3c:d8 > 7c:fe:90:75:3c:d8, ethertype Unknown (0x8915), length 74: 
	0x0000:  7cfe 9075 3cd8 7cfe 9075 3cd8 8915 6020
	0x0010:  0000 0014 1b40 0000 0000 0000 0000 0000
	0x0020:  ffff 0f00 0002 0000 0000 0000 0000 0000
	0x0030:  ffff 0f00 0002 1140 ffff 0000 0109 00a7
	0x0040:  88c0 0000 0005 25f0 c038
)");
  ASSERT_TRUE(result) << result.error();
  ASSERT_EQ(result->size(), 2u);
  EXPECT_EQ(hex((*result)[0].bytes), v2_ack);
  EXPECT_FALSE((*result)[0].without_link_header_hint);
  EXPECT_EQ((*result)[0].time_ns, 1650970190668829000);
  EXPECT_EQ(hex((*result)[1].bytes), v1_ack);
  EXPECT_FALSE((*result)[1].without_link_header_hint);
  EXPECT_EQ((*result)[1].time_ns, 1650970190668846000);
}

TEST(HexText, TcpdumpDestinationMacThatLooksLikeIp) {
  // MAC 45:02:00:30:00:00 and an IPv4 header behind it: a link header.
  const auto result = read_hex_text(
      "1650970190.668829 IP a > b: UDP, length 20\n"
      "\t0x0000:  4502 0031 0000 183d 5ebf 5192 0800 4502\n"
      "\t0x0010:  0030 0000 4000 4011 2d60 c0a8 4606 c0a8\n");
  ASSERT_TRUE(result) << result.error();
  EXPECT_FALSE((*result)[0].without_link_header_hint);
}

TEST(HexText, TcpdumpVerboseWithoutTimes) {
  const auto result =
      read_hex_text(R"(IP (tos 0x2,ECT(0), ttl 64, id 0, offset 0, flags [DF], proto UDP (17), length 48)
    192.168.70.6.72 > 192.168.70.4.4791: UDP, length 20
	0x0000:  4502 0030 0000 4000 4011 2d60 c0a8 4606
	0x0010:  c0a8 4604
ARP, Request who-has 192.168.70.6 tell 192.168.70.4, length 28
	0x0000:  0001 0800
)");
  ASSERT_TRUE(result) << result.error();
  ASSERT_EQ(result->size(), 2u);
  EXPECT_FALSE((*result)[0].time_ns);
  EXPECT_EQ(hex((*result)[1].bytes), "00010800");
}

TEST(HexText, TsharkSeveralPackets) {
  EXPECT_EQ(packets(R"(    1   0.000000 192.168.70.6 → 192.168.70.4 RRoCE 62 RC Acknowledge QP=0x000045 

0000  18 3d 5e bf 43 71 18 3d 5e bf 51 92 08 00 45 02   .=^.Cq.=^.Q...E.
0010  00 30 00 00 40 00 40 11 2d 60 c0 a8 46 06 c0 a8   .0..@.@.-`..F...
0020  46 04 00 48 12 b7 00 1c 00 00 11 40 ff ff 00 00   F..H.......@....
0030  00 45 00 00 00 00 06 00 00 01 25 9c c2 16         .E........%...

0000  7c fe 90 75 3c d8 7c fe 90 75 3c d8 89 15 60 20   |..u<.|..u<...` 
0010  00 00 00 14 1b 40 00 00 00 00 00 00 00 00 00 00   .....@..........
0020  ff ff 0f 00 00 02 00 00 00 00 00 00 00 00 00 00   ................
0030  ff ff 0f 00 00 02 11 40 ff ff 00 00 01 09 00 a7   .......@........
0040  88 c0 00 00 00 05 25 f0 c0 38                     ......%..8
)"),
            (Packets{std::string(v2_ack), std::string(v1_ack)}));
}

TEST(HexText, TsharkReassembledDataIsNoPacket) {
  EXPECT_EQ(
      packets("Frame (3 bytes):\n0000  01 02 03   ...\n\nReassembled data (4 bytes):\n0000  09 09 09 09   ....\n\n"
              "Frame (1 byte):\n0000  07   .\n"),
      (Packets{"010203", "07"}));
}

TEST(HexText, AsciiColumnThatReadsAsHex) {
  const Packets want = {std::string(text_as_hex)};
  EXPECT_EQ(packets(R"(0000  02 00 00 00 00 02 02 00 00 00 00 01 08 00 45 00   ..............E.
0010  30 30 20 31 31 20 32 32 20 64 65 61 64 62 65 65   00 11 22 deadbee
0020  66 61 62 20 63 64 65 66 20 30 31 20 32 33 20 61   fab cdef 01 23 a
0030  62                                                b
)"),
            want);
  EXPECT_EQ(packets(R"(	0x0000:  0200 0000 0002 0200 0000 0001 0800 4500  ..............E.
	0x0010:  3030 2031 3120 3232 2064 6561 6462 6565  00.11.22.deadbee
	0x0020:  6661 6220 6364 6566 2030 3120 3233 2061  fab.cdef.01.23.a
	0x0030:  62                                       b
)"),
            want);
  EXPECT_EQ(packets(R"(00000000: 0200 0000 0002 0200 0000 0001 0800 4500  ..............E.
00000010: 3030 2031 3120 3232 2064 6561 6462 6565  00 11 22 deadbee
00000020: 6661 6220 6364 6566 2030 3120 3233 2061  fab cdef 01 23 a
00000030: 62                                       b
)"),
            want);
  EXPECT_EQ(packets(R"(00000000  02 00 00 00 00 02 02 00  00 00 00 01 08 00 45 00  |..............E.|
00000010  30 30 20 31 31 20 32 32  20 64 65 61 64 62 65 65  |00 11 22 deadbee|
00000020  66 61 62 20 63 64 65 66  20 30 31 20 32 33 20 61  |fab cdef 01 23 a|
00000030  62                                                |b|
00000031
)"),
            want);
  // A last line whose text got damaged: the column tells.
  EXPECT_EQ(packets("0000  30 30 20 31 31 20 32 32   00 11 22\n0008  64 65                     d? 11\n"),
            Packets{"3030203131203232"
                    "6465"});
  // One line only.
  EXPECT_EQ(packets("00000000: 61 62 20 63 64 20 65 66  ab cd ef\n"), Packets{"6162206364206566"});
}

TEST(HexText, GapInTheMiddleOfOldWiresharkDumps) {
  EXPECT_EQ(packets("0000  18 3d 5e bf 43 71 18 3d  5e bf 51 92 08 00 45 02   .=^.Cq.= ^.Q...E.\n"
                    "0010  00 30 00 00 40 00 40 11  2d 60                     .0..@.@. -`\n"),
            Packets{std::string(v2_ack.substr(0, 52))});
}

TEST(HexText, Od) {
  const Packets want = {std::string(v2_ack)};
  EXPECT_EQ(packets(R"(000000 18 3d 5e bf 43 71 18 3d 5e bf 51 92 08 00 45 02
000010 00 30 00 00 40 00 40 11 2d 60 c0 a8 46 06 c0 a8
000020 46 04 00 48 12 b7 00 1c 00 00 11 40 ff ff 00 00
000030 00 45 00 00 00 00 06 00 00 01 25 9c c2 16
00003e
)"),
            want);
  EXPECT_EQ(packets(R"(000000 18 3d 5e bf 43 71 18 3d 5e bf 51 92 08 00 45 02  >.=^.Cq.=^.Q...E.<
000010 00 30 00 00 40 00 40 11 2d 60 c0 a8 46 06 c0 a8  >.0..@.@.-`..F...<
000020 46 04 00 48 12 b7 00 1c 00 00 11 40 ff ff 00 00  >F..H.......@....<
000030 00 45 00 00 00 00 06 00 00 01 25 9c c2 16        >.E........%...<
00003e
)"),
            want);
}

TEST(HexText, OdCountsInOctalOrDecimal) {
  const Packets want = {std::string(v2_ack)};
  EXPECT_EQ(packets(R"(0000000 18 3d 5e bf 43 71 18 3d 5e bf 51 92 08 00 45 02
0000020 00 30 00 00 40 00 40 11 2d 60 c0 a8 46 06 c0 a8
0000040 46 04 00 48 12 b7 00 1c 00 00 11 40 ff ff 00 00
0000060 00 45 00 00 00 00 06 00 00 01 25 9c c2 16
0000076
)"),
            want);
  EXPECT_EQ(packets(R"(0000000 18 3d 5e bf 43 71 18 3d 5e bf 51 92 08 00 45 02
0000016 00 30 00 00 40 00 40 11 2d 60 c0 a8 46 06 c0 a8
0000032 46 04 00 48 12 b7 00 1c 00 00 11 40 ff ff 00 00
0000048 00 45 00 00 00 00 06 00 00 01 25 9c c2 16
0000062
)"),
            want);
}

TEST(HexText, WordsInMachineOrderAreRefused) {
  EXPECT_EQ(
      error("0000000 3d18 bf5e 7143 3d18 bf5e 9251 0008 0245\n0000010 3000 0000\n0000014\n"),
      "line 1, column 1: these are 16-bit words in the byte order of the machine that printed them; use hexdump -C "
      "or od -A x -t x1");
}

TEST(HexText, XxdAndHexdump) {
  const Packets want = {std::string(v2_ack)};
  EXPECT_EQ(packets(R"(00000000: 183d 5ebf 4371 183d 5ebf 5192 0800 4502  .=^.Cq.=^.Q...E.
00000010: 0030 0000 4000 4011 2d60 c0a8 4606 c0a8  .0..@.@.-`..F...
00000020: 4604 0048 12b7 001c 0000 1140 ffff 0000  F..H.......@....
00000030: 0045 0000 0000 0600 0001 259c c216       .E........%...
)"),
            want);
  EXPECT_EQ(packets(R"(00000000  18 3d 5e bf 43 71 18 3d  5e bf 51 92 08 00 45 02  |.=^.Cq.=^.Q...E.|
00000010  00 30 00 00 40 00 40 11  2d 60 c0 a8 46 06 c0 a8  |.0..@.@.-`..F...|
00000020  46 04 00 48 12 b7 00 1c  00 00 11 40 ff ff 00 00  |F..H.......@....|
00000030  00 45 00 00 00 00 06 00  00 01 25 9c c2 16        |.E........%...|
0000003e
)"),
            want);
}

TEST(HexText, RepetitionLine) {
  EXPECT_EQ(packets("000000 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n*\n"
                    "000020 00 00 00 00 00 00 00 00 01 02\n00002a\n"),
            Packets{std::string(zeros)});
  EXPECT_EQ(packets("00000000  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|\n*\n"
                    "00000020  00 00 00 00 00 00 00 00  01 02                    |..........|\n0000002a\n"),
            Packets{std::string(zeros)});
  EXPECT_EQ(packets("00000000  07 07 |..|\n*\n00000005\n"), Packets{"0707070707"});
}

TEST(HexText, RepetitionIsBounded) {
  EXPECT_EQ(error("000000 00 00\n*\nffffff 00\n"), "line 2, column 1: \"*\" makes the packet longer than 256 KiB");
  EXPECT_EQ(error("000000 00 00\n*\n"),
            "line 2, column 1: \"*\" repeats the line before it, but no offset follows to say how often");
  EXPECT_EQ(error("*\n000010 00\n"), "line 1, column 1: \"*\" repeats the dump line before it, but there is none");
  std::string many;
  for (int i = 0; i < 65; ++i) many += "000000 00\n*\n040000\n";
  EXPECT_EQ(error(many), "line 193, column 1: more than 16 MiB of packet bytes in one text; split the input");
}

TEST(HexText, CompletionEntryDumps) {
  const Packets want = {
      "00736565"
      "6e000000"
      "00000000"
      "00000000"
      "00000000"
      "00000000"
      "00000000"
      "00000000"
      "00000013"
      "00000000"
      "00000000"
      "00000000"
      "00000000"
      "9d005304"
      "0a001542"
      "0019b0d2",
      "00736565"
      "6e000000"
      "00000000"
      "00000000"
      "00000000"
      "00000000"
      "00000000"
      "00000000"
      "0000000c"
      "00000000"
      "00000000"
      "00000000"
      "00000000"
      "9d005304"
      "0a001534"
      "005a98d2"};
  EXPECT_EQ(packets(R"(# packet 1: CQE 1, 64 bytes
0000  00 73 65 65 6e 00 00 00 00 00 00 00 00 00 00 00
0010  00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
0020  00 00 00 13 00 00 00 00 00 00 00 00 00 00 00 00
0030  00 00 00 00 9d 00 53 04 0a 00 15 42 00 19 b0 d2

#
# packet 2: CQE 2, 64 bytes
0000  00 73 65 65 6e 00 00 00 00 00 00 00 00 00 00 00
0010  00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
0020  00 00 00 0c 00 00 00 00 00 00 00 00 00 00 00 00
0030  00 00 00 00 9d 00 53 04 0a 00 15 34 00 5a 98 d2
)"),
            want);
  // The kernel's forms, old and new, and libmlx5's.
  EXPECT_EQ(packets(R"([  812.100001] mlx5_0:dump_cqe:272:(pid 0): dump error cqe
[  812.100003] 00736565 6e000000 00000000 00000000
[  812.100004] 00000000 00000000 00000000 00000000
[  812.100005] 00000013 00000000 00000000 00000000
[  812.100006] 00000000 9d005304 0a001542 0019b0d2
[  813.100001] infiniband mlx5_0: dump_cqe:272:(pid 0): dump error cqe
[  813.100003] 00000000: 00 73 65 65 6e 00 00 00 00 00 00 00 00 00 00 00
[  813.100004] 00000010: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
[  813.100005] 00000020: 00 00 00 0c 00 00 00 00 00 00 00 00 00 00 00 00
[  813.100006] 00000030: 00 00 00 00 9d 00 53 04 0a 00 15 34 00 5a 98 d2
)"),
            want);
}

std::vector<std::string> hints(std::string_view text) {
  const auto result = read_hex_text(text);
  if (!result) return {"error: " + result.error()};
  std::vector<std::string> out;
  for (const HexPacket& packet : *result) out.emplace_back(packet.start_hint);
  return out;
}

TEST(CqeLog, EntriesAmongOtherLines) {
  const std::string_view zero_words = "00000000 00000000 00000000 00000000";
  const std::string last = "00000000 00008115 0a0001f2 001100d1";
  const std::string log = fmt::format(
      "Apr 26 10:49:50 node7 kernel: mlx5_0: dump error cqe\n"
      "Apr 26 10:49:50 node7 kernel: {0}\nusb 1-1: new device\nkernel: {0}\nkernel: {0}\nkernel: {1}\n"
      "mlx4_ib: CQE contents 0000004a {0} 00000000 00088115 0000005e\n"
      "mlx5: node7: got completion with error:\n{0}\n{0}\n{0}\n{1}\nprogram: gave up\n",
      zero_words, last);
  const std::string mlx5 = std::string(96, '0') + "00000000000081150a0001f2001100d1";
  EXPECT_EQ(packets(log), (Packets{mlx5, "0000004a" + std::string(40, '0') + "000881150000005e", mlx5}));
  EXPECT_EQ(hints(log), (Packets{"cqe:mlx5", "cqe:mlx4", "cqe:mlx5"}));
}

TEST(CqeLog, NothingIsLeftOutSilently) {
  // Another dump besides: everything is read as hex dumps, or refused.
  const std::string row = "00 11 22 33 44 55 66 77 88 99 aa bb cc dd ee ff\n";
  const std::string entry = "dump error cqe\n" + row + row + row + row;
  EXPECT_EQ(hints(entry), Packets{"cqe:mlx5"});
  EXPECT_EQ(hints(row + entry), (Packets{"", ""}));
  EXPECT_EQ(hints(entry + row), Packets{""});
  // An entry that is not whole.
  EXPECT_EQ(hints("dump error cqe\n" + row + row), Packets{""});
  EXPECT_TRUE(hints("dump error cqe\n" + row + row + "dump error cqe\nnothing\n" + row)[0].starts_with("error: "));
  EXPECT_TRUE(hints("mlx4_ib: CQE contents 0000004a 00000000\n")[0].starts_with("error: "));
}

TEST(HexText, OffsetZeroStartsAPacketAndEmptyLinesNeedNot) {
  EXPECT_EQ(packets(R"(# packet 1: RC Acknowledge, 48 bytes
0000  45 00 00 30 00 00 00 00 40 11 00 00 0b 01 d4 d2
0010  0b 01 d4 d1
0000  45 00
)"),
            (Packets{"4500003000000000401100000b01d4d20b01d4d1", "4500"}));
  EXPECT_EQ(packets("0000  45 00 00 30\n\n0004  00 01\n\n0000  46 00\n"), (Packets{"450000300001", "4600"}));
  EXPECT_EQ(packets("0000  45 00 00 30\n\n07 08"), (Packets{"45000030", "0708"}));
}

TEST(HexText, FirstWordThatIsNoOffset) {
  EXPECT_EQ(packets("0200 00 00"), Packets{"02000000"});
  EXPECT_EQ(packets("00000000 00000000"), Packets{"0000000000000000"});
  EXPECT_EQ(packets("0000 0002 00"), Packets{"0000000200"});
}

TEST(HexText, ErrorsNameThePlace) {
  EXPECT_EQ(error(""), "no packet in the text: expected hex digits or a hex dump");
  EXPECT_EQ(error("# nothing\n"), "no packet in the text: expected hex digits or a hex dump");
  EXPECT_EQ(error("02 00\n02 0"), "line 2, column 4: \"0\" has an odd number of hex digits, 1");
  EXPECT_EQ(error("02000"), "line 1, column 1: \"02000\" has an odd number of hex digits, 5");
  EXPECT_EQ(error("02 zz"), "line 1, column 4: \"zz\" is not hexadecimal");
  EXPECT_EQ(error("hello world"), "line 1, column 1: \"hello\" is not hexadecimal");
  EXPECT_EQ(error("02 \x1b[31m"), "line 1, column 4: \"\\x1b[31m\" is not hexadecimal");
  EXPECT_EQ(error("\\x02ab"), "line 1, column 5: \"ab\" is not a byte in the form \\xHH");
  EXPECT_EQ(error("\\x0"), "line 1, column 1: \"\\x0\" is not a byte in the form \\xHH");
  EXPECT_EQ(error("02 \\"), "none");
  EXPECT_EQ(error("0000  00 11 zz 33   ....\n0004  44\n"),
            "line 1, column 13: \"zz\" is neither a byte in hex nor the text of the bytes before it");
  EXPECT_EQ(error("0000  00 11 22 33\n0008  44\n"),
            "line 2, column 1: the offset is \"0008\" but the lines before it hold 4 bytes (hex 0004)");
  EXPECT_EQ(error("0010  00 11 22 33\n0014  44\n"),
            "line 1, column 1: the dump starts at offset \"0010\"; its beginning is missing");
  EXPECT_EQ(error("0000  00 11\n22 33\n"),
            "line 2, column 1: \"22\" stands where the offset of a dump line is expected");
  EXPECT_EQ(error("0x0000:  00 11\n0xZZ10: 00\n"), "line 2, column 1: \"0xZZ10:\" is not hexadecimal");
}

TEST(HexText, PacketLengthIsBounded) {
  EXPECT_EQ(packets(std::string(2 * max_hex_packet_bytes, '0')).front().size(), 2 * max_hex_packet_bytes);
  EXPECT_EQ(error(std::string(2 * max_hex_packet_bytes + 2, '0')),
            "line 1, column 1: the packet is longer than 256 KiB");
}

// --- management datagrams in traces ---

// 256 bytes 01 81 02 03 ... behind an envelope of zeros, in the form that `put` gives each byte.
template <class Put>
std::string mad_text(std::size_t envelope, Put put) {
  std::string out;
  for (std::size_t i = 0; i < envelope + 256; ++i) {
    const std::size_t n = i < envelope ? 0 : i - envelope;
    out += put(i, i < envelope ? 0u : n == 0 ? 1u : n == 1 ? 0x81u : static_cast<unsigned>(n));
  }
  return out;
}
std::string escaped(std::size_t envelope) {
  return mad_text(envelope, [](std::size_t, unsigned byte) { return fmt::format("\\x{:02x}", byte); });
}

void expect_mads(const Result<std::vector<HexPacket>>& packets, const std::vector<std::size_t>& lines) {
  ASSERT_TRUE(packets) << packets.error();
  ASSERT_EQ(packets->size(), lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const HexPacket& mad = (*packets)[i];
    EXPECT_EQ(mad.line, lines[i]);
    ASSERT_EQ(mad.bytes.size(), 256u);
    EXPECT_EQ(mad.bytes[0], 1);
    EXPECT_EQ(mad.bytes[1], 0x81);
    EXPECT_EQ(mad.bytes[255], 255);
    EXPECT_EQ(mad.start_hint, "infiniband.mad");
  }
}

TEST(MadLog, SystemCalls) {
  std::string text = "1234 read(5, \"\\x31\\x0a\", 32)           = 2\n";
  text += "1234 write(3, \"" + escaped(32) + "\", 288) = 288\n";                  // ibsim
  text += "[pid 7] 12:00:00.5 read(3, \"" + escaped(64) + "\"..., 320) = 320\n";  // umad
  text += "write(3, \"" + escaped(56) + "\", 312) = 312\nread(3, \"" + escaped(0) + "\", 256) = 256\n";
  text += "write(3, \"" + escaped(1) + "\", 257) = 257\nexit_group(0) = ?\n";  // of something else
  expect_mads(read_hex_text(text), {2, 3, 4, 5});
}

TEST(MadLog, BuffersOfLibibmad) {
  const auto four = [](std::size_t i, unsigned byte) {
    return fmt::format("{:02x}{}", byte, i % 2 == 0 ? "" : i % 16 == 15 ? "\n" : " ");
  };
  std::string text = "ibwarn: [17] _do_madrpc: >>> sending: len 256 pktsz 320\nsend buf\n" + mad_text(64, four);
  text += "ibwarn: [17] umad_send: fd 1024\nibwarn: [17] _do_madrpc: rcv buf:\nrcv buf\n" + mad_text(0, four);
  expect_mads(read_hex_text(text + "# Node info: DR path\nBaseVers:....1\n"), {3, 26});
  expect_mads(read_hex_text(text), {3, 26});  // it ends with the buffer
}

TEST(MadLog, TracesOfTheSimulator) {
  const std::string hex = mad_text(0, [](std::size_t, unsigned byte) { return fmt::format("{:02x}", byte); });
  expect_mads(read_hex_text("in 4 " + hex + "\nout 5 " + hex + "\n"), {1, 2});
  EXPECT_FALSE(read_hex_text("in 4 " + hex.substr(2) + "\n"));  // 255 bytes: no datagram, and no other form either
}

}  // namespace
}  // namespace rdmascope::capture
