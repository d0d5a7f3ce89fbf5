// Test frames whose CRCs are known: published samples (V), real captures (V) and derived ones (D).
// Reference: ib-wire.md 5.5 to 5.7.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace rdmascope::test {

inline std::vector<std::uint8_t> from_hex(std::string_view hex) {
  std::vector<std::uint8_t> bytes;
  unsigned digits = 0, value = 0;
  for (char c : hex) {
    const int d = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (d < 0) continue;
    value = value << 4 | static_cast<unsigned>(d);
    if (++digits % 2 == 0) {
      bytes.push_back(static_cast<std::uint8_t>(value));
      value = 0;
    }
  }
  return bytes;
}

inline constexpr std::uint16_t link_ethernet = 1, link_infiniband = 247;

struct Vector {
  std::string_view name;
  std::uint16_t link_type;
  std::string_view hex;
};

inline constexpr Vector v1{"V1 RoCEv2 IPv4 RC ACK", link_ethernet,
    "183d5ebf4371183d5ebf51920800450200300000400040112d60c0a84606c0a8"
    "4604004812b7001c00001140ffff000000450000000006000001259cc216"};
inline constexpr Vector v2{"V2 RoCEv2 IPv4 UC SEND Only", link_ethernet,
    "248a07a8fa22248a07a8fa22080045010040047840004011b4d5c0a80007c0a8"
    "0007c00012b7002c00002460ffff000000d300cf17104630818be28935d90e9a"
    "95505401be885e50000078f353f3"};
inline constexpr Vector v3{"V3 RoCEv2 IPv6 UC SEND Only", link_ethernet,
    "248a07a8fa22248a07a8fa2286dd6e21face002c11ff20220000000000000000"
    "00000000102320230000000000000000000000001024c00012b7002ce7c52460"
    "ffff000000d300cf17104630818be28935d90e9a95505401be885e5000003e5b"
    "743b"};
inline constexpr Vector v4{"V4 RoCEv1 RC RDMA WRITE Only", link_ethernet,
    "7cfe90753cd87cfe90753cd889156020000000281b4000000000000000000000"
    "ffff0f00000200000000000000000000ffff0f0000020a70ffff0000010a80a7"
    "88bc000055d4c0726000000047b3000000050000000001000000e3d856bb"};
inline constexpr Vector v5{"V5 RoCEv1 RC ACK", link_ethernet,
    "7cfe90753cd87cfe90753cd889156020000000141b4000000000000000000000"
    "ffff0f00000200000000000000000000ffff0f0000021140ffff0000010900a7"
    "88c00000000525f0c038"};
inline constexpr Vector v6{"V6 RoCEv2 CNP", link_ethernet,
    "e41d2dab2bc27cfe90643b32080045c2003c718c4000401191610a0011010a00"
    "1201000012b7002800008100ffff400001180000000000000000000000000000"
    "00000000000082fd002a"};
// The IBTA sample without its CRCs, then ICRC and the derived VCRC.
inline constexpr Vector v7{"V7 IBTA Vol 1 table 29 sample", link_infiniband,
    "7012375c000e17d20a2024870087b1b3000dec2a01710a1c015d400238f27a05"
    "0000000ebb884d85fd5cfba4728bc0690ed40000"
    "9625b75a45fa"};
inline constexpr Vector v8{"V8 RC ACK, LNH 2", link_infiniband,
    "00020004000700011140ffff0087040800d40a551f000001a80355503081"};
inline constexpr Vector v9{"V9 UD SEND Only multicast, LNH 3", link_infiniband,
    "0003c000002100046000000000541b00fe800000000000000002c9020024f636"
    "ff12401bffff000000000000ffffffff6440ffff00ffffff000020af00000b1b"
    "0000040508060000002008001404000180000405fe800000000000000002c902"
    "0024f6360a00012200000000000000000000000000000000000000000a00003a"
    "bd6bd6a88883"};
inline constexpr Vector d1{"D1 RC READ Request", link_ethernet,
    "02000000000202000000000108004502003c000040004011b6abc0000201c0000202c00012b7002800000c40ffff0000001180fffffe"
    "000000000099900000012345000003002bb49cfc"};
inline constexpr Vector d2{"D2 RC READ Response Last", link_ethernet,
    "020000000002020000000001080045020038000040004011b6afc0000202c0000201c00012b7002400000f70ffff0000002200000000"
    "1f0000010102030405000000313f08f2"};
inline constexpr Vector d3{"D3 RC READ Response Only, zero length", link_ethernet,
    "020000000002020000000001080045020030000040004011b6b7c0000202c0000201c00012b7001c00001040ffff0000002200000010"
    "1f000002aba2ccba"};
inline constexpr Vector d4{"D4 RC NAK PSN sequence error", link_ethernet,
    "020000000002020000000001080045020030000040004011b6b7c0000202c0000201c00012b7001c00001140ffff0000002200000005"
    "6000000394abfff8"};
inline constexpr Vector d5{"D5 RC RNR NAK code 31", link_ethernet,
    "020000000002020000000001080045020030000040004011b6b7c0000202c0000201c00012b7001c00001140ffff0000002200000006"
    "3f000003b0ce312c"};
inline constexpr Vector d6{"D6 RC FLUSH", link_ethernet,
    "020000000002020000000001080045020040000040004011b6a7c0000201c0000202c00012b7002c00001c40ffff0000001180000007"
    "000000010000000000999000000123450000004025f0bec9"};
inline constexpr Vector d7{"D7 RC ATOMIC WRITE", link_ethernet,
    "020000000002020000000001080045020044000040004011b6a3c0000201c0000202c00012b7003000001d40ffff0000001180000008"
    "000000000099900000012345000000081122334455667788cafe3d94"};
inline constexpr Vector d8{"D8 native RC READ Request", link_infiniband,
    "00020002000a00010c40ffff0000001180000064000000000099900000012345000003006648d0247c41"};
inline constexpr Vector d9{"D9 native RC READ Response Only", link_infiniband,
    "00020001000700021040ffff00000022000000641f000001c5533c0286fb"};
inline constexpr Vector d10{"D10 XRC SEND Only", link_ethernet,
    "020000000002020000000001080045020034000040004011b6b3c0000201c0000202c00012b700200000a440ffff0000001180000009"
    "00000033deadbeefaa97bc52"};

inline constexpr const Vector* all_vectors[] = {&v1, &v2, &v3, &v4, &v5, &v6, &v7, &v8, &v9, &d1,
                                                &d2, &d3, &d4, &d5, &d6, &d7, &d8, &d9, &d10};

}  // namespace rdmascope::test
