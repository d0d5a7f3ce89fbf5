// The table machinery: layout, load, store, lookup, and a round trip for every field of every header.
#include "dissect/field.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <vector>

#include "dissect/field_index.h"
#include "dissect/headers.h"

namespace rdmascope::dissect {
namespace {

TEST(Field, BitZeroIsTheTopBitOfByteZero) {
  const std::uint8_t bth[12] = {0x0c, 0x80, 0xff, 0xff, 0x40, 0x12, 0x34, 0x56, 0x80, 0xff, 0xff, 0xfe};
  const View<Bth> view(bth);
  EXPECT_EQ(view.get<"opcode">(), 0x0cu);
  EXPECT_EQ(view.get<"se">(), 1u);
  EXPECT_EQ(view.get<"becn">(), 1u);
  EXPECT_EQ(view.get<"fecn">(), 0u);
  EXPECT_EQ(view.get<"destqp">(), 0x123456u);
  EXPECT_EQ(view.get<"a">(), 1u);
  EXPECT_EQ(view.get<"psn">(), 0xfffffeu);
}

TEST(Field, LittleEndianRowsReadLeastSignificantByteFirst) {
  const std::uint8_t erf[16] = {1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(View<Erf>(erf).get<"ts">(), 0x0807060504030201u);
}

// Which patterns to try: all of a narrow field, walking bits and random ones of a wide field.
std::vector<std::uint64_t> patterns(const Field& f) {
  std::vector<std::uint64_t> out;
  if (f.width <= 12) {
    for (std::uint64_t v = 0; v <= f.mask(); ++v) out.push_back(v);
    return out;
  }
  out = {0, f.mask()};
  std::mt19937_64 random(f.at);
  for (unsigned bit = 0; bit < f.width; ++bit) {
    out.push_back(1ULL << bit);
    out.push_back(f.mask() ^ 1ULL << bit);
    out.push_back(random() & f.mask());
  }
  return out;
}

// Values of an array to try: the first two, one in the middle, the last.
std::set<unsigned> some_of(const Field& f) { return {0, f.count > 1 ? 1u : 0u, f.count / 2u, f.count - 1u}; }

// Bytes -> fields -> bytes, for every bit pattern of each number and over a zero and a one background: the value comes
// back, and no bit outside the field moves.
TEST(EveryHeader, StoreAndLoadAreInverse) {
  std::size_t fields = 0;
  for (const Header* h : all_headers())
    for (const Field& f : h->fields) {
      if (f.width == 0 || !f.is_number()) continue;
      ++fields;
      for (std::uint8_t background : {std::uint8_t{0x00}, std::uint8_t{0xff}}) {
        const std::vector<std::uint8_t> blank(h->bytes, background);
        for (unsigned n : some_of(f))
          for (std::uint64_t value : patterns(f)) {
            std::vector<std::uint8_t> bytes = blank;
            store(bytes.data(), f, value, n);
            ASSERT_EQ(load(bytes.data(), f, n), value) << full_name(*h, f);
            store(bytes.data(), f, background ? f.mask() : 0, n);
            ASSERT_EQ(bytes, blank) << full_name(*h, f);
          }
      }
    }
  EXPECT_GT(fields, 150u);
}

// Writing every row's value into an empty header gives the header back: rows cover all bits, none twice.
TEST(EveryHeader, RowsRebuildTheBytes) {
  std::mt19937 random(1);
  for (const Header* h : all_headers()) {
    for (int round = 0; round < 50; ++round) {
      std::vector<std::uint8_t> bytes(h->bytes), copy(h->bytes);
      for (std::uint8_t& b : bytes) b = static_cast<std::uint8_t>(random());
      for (const Field& f : h->fields) {
        if (f.kind != Field::Kind::wire) continue;
        for (unsigned n = 0; n < f.count; ++n) {
          const unsigned at = (f.at + n * f.stride) / 8;
          if (f.width <= 64 && f.show <= Show::reserved)
            store(copy.data(), f, load(bytes.data(), f, n), n);
          else
            std::copy_n(bytes.begin() + at, f.width / 8, copy.begin() + at);
        }
      }
      ASSERT_EQ(copy, bytes) << h->name;
    }
  }
}

TEST(EveryHeader, NamesAreUnique) {
  std::set<std::string> seen;
  for (const Header* h : all_headers()) {
    if (!h->annotation) {  // else its name is another's
      EXPECT_TRUE(seen.insert(std::string(h->name)).second) << h->name;
    }
    for (const Field& f : h->fields) EXPECT_TRUE(seen.insert(full_name(*h, f)).second) << full_name(*h, f);
  }
}

TEST(FieldIndex, FindsFieldsHeadersSharedNamesAndProtocols) {
  EXPECT_EQ(find_fields("infiniband.bth.psn").size(), 1u);
  EXPECT_EQ(find_fields("ip.addr").size(), 2u);
  EXPECT_EQ(find_fields("infiniband.bth").front().field, nullptr);
  EXPECT_GT(find_fields("infiniband").size(), 10u);
  EXPECT_TRUE(find_fields("infiniband.bth.pns").empty());
}

TEST(FieldIndex, SuggestsTheNearestName) {
  EXPECT_EQ(nearest_field_name("infiniband.bth.pns"), "infiniband.bth.psn");
  EXPECT_EQ(nearest_field_name("psn"), "infiniband.bth.psn");
  EXPECT_EQ(nearest_field_name("pns"), "infiniband.bth.psn");
  EXPECT_EQ(nearest_field_name("opcod"), "infiniband.bth.opcode");
  EXPECT_EQ(nearest_field_name("dmalne"), "infiniband.reth.dmalen");
  EXPECT_EQ(nearest_field_name("syndrome.opcode"), "infiniband.aeth.syndrome.opcode");
  EXPECT_EQ(nearest_field_name("infinband.aeth"), "infiniband.aeth");
  EXPECT_EQ(nearest_field_name("ip.adr"), "ip.addr");
  EXPECT_EQ(nearest_field_name("qqq"), "");
  EXPECT_EQ(nearest_field_name("nothing.like.this.at.all"), "");
}

TEST(Opcodes, FollowTheOperationTable) {
  EXPECT_EQ(opcodes[0x0c].name, "RC_RDMA_READ_REQUEST");
  EXPECT_EQ(opcodes[0x0e].extensions, 0);  // READ Response Middle has no AETH
  EXPECT_EQ(opcodes[0x1c].extensions, ext_feth | ext_reth);
  EXPECT_EQ(opcodes[0x4c].extensions, ext_rdeth | ext_deth | ext_reth);
  EXPECT_EQ(opcodes[0x51].extensions, ext_rdeth | ext_aeth);
  EXPECT_EQ(opcodes[0xab].extensions, ext_xrceth | ext_reth | ext_immdt);
  EXPECT_EQ(opcodes[0xb1].extensions, ext_aeth);
  EXPECT_EQ(opcodes[0x65].name, "UD_SEND_ONLY_WITH_IMMEDIATE");
  EXPECT_EQ(opcodes[0x81].name, "CNP");
  for (unsigned undefined : {0x15u, 0x18u, 0x1eu, 0x36u, 0x60u, 0x66u, 0x82u, 0xb5u, 0xc1u})
    EXPECT_FALSE(opcodes[undefined].defined) << undefined;
  unsigned defined = 0;
  for (const Opcode& o : opcodes) defined += o.defined;
  // ib-wire.md 3.2: RC 25, UC 12, RD 22 and FLUSH, ATOMIC WRITE, UD 2, XRC 25, CNP 2.
  EXPECT_EQ(defined, 25u + 12u + 22u + 2u + 2u + 25u + 2u);
}

TEST(Aeth, CreditAndTimerTextsComeFromTheirTables) {
  EXPECT_EQ(name_of(credit_names, 30), "32768");
  EXPECT_EQ(name_of(credit_names, 31), "no limit");
  EXPECT_EQ(name_of(rnr_timer_names, 0), "655.36 ms");
  EXPECT_EQ(name_of(rnr_timer_names, 12), "0.64 ms");
  EXPECT_EQ(name_of(rnr_timer_names, 31), "491.52 ms");
}

}  // namespace
}  // namespace rdmascope::dissect
