// Management datagrams that follow each other: what must not be taken for a fault, and what is remembered of how many.
// That each rule fires is shown by mutants (tests/check/mutants_mad.py).
#include "check/mads.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "check/checker.h"
#include "tests/unit/frames.h"

namespace rdmascope::check {
namespace {

using namespace rdmascope::test;
using dissect::Mad;

class Heard final : public Listener {
 public:
  std::vector<std::string> found;
  std::size_t questions = 0, talks = 0;
  void finding(const Finding& f, const Connection*) override {
    found.push_back(std::string(f.rule->id) + ' ' + std::string(name(f.kind)) + " in " + std::to_string(f.frame));
  }
  void end_of_mads(const Mads& mads) override {
    questions = mads.questions();
    talks = mads.talks().size();
  }
  std::string text() const {
    std::string out;
    for (const std::string& f : found) out += (out.empty() ? "" : ", ") + f;
    return out;
  }
};

// One MAD, between host 0 and host 1.
struct Datagram {
  int from = 0;
  std::vector<std::uint8_t> mad;
  std::int64_t wait_us = 100;
};

Datagram gmp(int from, std::uint8_t method, std::uint64_t tid, std::uint32_t modifier = 0, std::uint8_t mad_class = 4,
             std::uint16_t attribute = 0x12, std::int64_t wait_us = 100) {
  std::vector<std::uint8_t> mad(dissect::mad_bytes);
  dissect::put<Mad, "baseversion">(mad.data(), 1);
  dissect::put<Mad, "mgmtclass">(mad.data(), mad_class);
  dissect::put<Mad, "classversion">(mad.data(), mad_class == 4 ? 1 : 2);
  mad[3] = method;
  dissect::put<Mad, "transactionid">(mad.data(), tid);
  dissect::put<Mad, "attributeid">(mad.data(), attribute);
  dissect::put<Mad, "attributemodifier">(mad.data(), modifier);
  return {from, std::move(mad), wait_us};
}
Datagram get(std::uint64_t tid, std::uint32_t modifier = 0) { return gmp(0, 0x01, tid, modifier); }
Datagram response(std::uint64_t tid, std::uint32_t modifier = 0) { return gmp(1, 0x81, tid, modifier); }
Datagram after_ms(Datagram d, std::int64_t ms) {
  d.wait_us = ms * 1000;
  return d;
}

Heard check(const std::vector<Datagram>& datagrams) {
  std::vector<std::vector<std::uint8_t>> bytes;
  std::vector<Frame> frames;
  std::int64_t now_ns = 1;
  std::uint32_t psn[2] = {};
  for (const Datagram& d : datagrams) {
    Sent sent{d.from, 0x64, psn[d.from]++, 0, 1};
    sent.mad = d.mad;
    bytes.push_back(frame_of(sent, 0));
  }
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    Frame frame;
    frame.bytes = bytes[i];
    frame.info.number = i + 1;
    frame.info.time_ns = now_ns += datagrams[i].wait_us * 1000;
    frame.info.wire_bytes = static_cast<std::uint32_t>(bytes[i].size());
    frame.info.link_type = link_ethernet;
    frames.push_back(frame);
  }
  Heard heard;
  Checker checker({}, heard);
  checker.batch(frames);
  checker.finish();
  EXPECT_EQ(checker.totals().mads, datagrams.size());
  return heard;
}
std::string found(const std::vector<Datagram>& datagrams) { return check(datagrams).text(); }

TEST(Mads, AnswersFindTheirQuestions) {
  EXPECT_EQ(found({get(1), response(1), get(2), get(3), response(3), response(2)}), "");
  EXPECT_EQ(found({get(1, 5), response(1, 6)}), "MAD-ECHO violation in 2");
}

TEST(Mads, MirrorsShowEverythingTwice) {
  Datagram again_get = get(1), again_response = response(1), later_get = get(1);
  again_get.wait_us = again_response.wait_us = later_get.wait_us = 30;
  EXPECT_EQ(found({get(1), again_get, response(1), again_response}), "");
  EXPECT_EQ(found({get(1), response(1), later_get, again_response}), "");
}

TEST(Mads, ACaptureMayLackWhatItLikes) {
  EXPECT_EQ(found({response(1), response(2, 3), response(1)}), "") << "no questions";
  EXPECT_EQ(found({get(1), get(2), after_ms(get(3), 9000)}), "") << "no answers";
  EXPECT_EQ(found({get(1), response(1), get(2), after_ms(get(3), 500), response(3)}), "")
      << "the end came too early to tell";
  EXPECT_EQ(found({get(1), response(1), get(2), after_ms(get(3), 5000), response(3)}), "MAD-TIMEOUT anomaly in 3");
}

TEST(Mads, NeighboursMayBeCapturedInTheWrongOrder) {
  Datagram late = get(2);
  late.wait_us = 20;
  EXPECT_EQ(found({get(1), response(1), response(2), late, after_ms(get(3), 5000), response(3)}), "");
}

// Tools such as saquery use one transaction ID for all they ask.
TEST(Mads, TransactionsAreUsedAgain) {
  EXPECT_EQ(found({get(0x77), response(0x77), get(0x77, 1), response(0x77, 1)}), "");
  // From the second question on it is known; those that the capture lacks then do no harm.
  EXPECT_EQ(found({get(0x77), response(0x77), get(0x77, 1), response(0x77, 2), get(0x77, 3), response(0x77, 3)}), "");
  EXPECT_EQ(found({get(0x77), response(0x77), response(0x77, 2)}), "") << "a question that was not captured";
  EXPECT_EQ(found({get(0x77), response(0x77), after_ms(get(0x77), 50), response(0x77), after_ms(get(0x77), 50),
                   response(0x77)}),
            "");
  EXPECT_EQ(found({get(0), response(0, 4)}), "") << "0 is nobody's own";
}

TEST(Mads, OneTransactionForTwoQuestionsAtATime) {
  EXPECT_EQ(found({get(7, 1), get(7, 2), response(7, 1), response(7, 2)}), "MAD-TIDDUP anomaly in 3");
  EXPECT_EQ(found({get(7, 1), get(7, 2), response(7, 2)}), "") << "the first answer may only be missing";
}

TEST(Mads, RetriesAreTheSameQuestion) {
  EXPECT_EQ(found({get(1), after_ms(get(1), 1000), after_ms(get(1), 1000), response(1), response(1)}), "");
  Datagram other = after_ms(get(1), 1000);
  other.mad[100] = 1;
  EXPECT_EQ(found({get(1), other, response(1)}), "MAD-RETRY anomaly in 2");
  Datagram second = after_ms(response(1), 10);
  second.mad[100] = 1;
  EXPECT_EQ(found({get(1), response(1), second}), "MAD-UNSOL anomaly in 3");
}

TEST(Mads, AnotherTransactionInTheAnswer) {
  EXPECT_EQ(found({get(1), response(2)}), "MAD-TID anomaly in 2");
  EXPECT_EQ(found({get(1), response(2, 9)}), "");
}

TEST(Mads, OnlySoManyAreRemembered) {
  std::vector<Datagram> datagrams;
  for (std::uint64_t i = 0; i < 66000; ++i) {
    datagrams.push_back(get(i + 1));
    datagrams.back().wait_us = 1;
  }
  datagrams.push_back(response(66000));
  datagrams.push_back(response(1));  // forgotten: an answer to nothing, while the last one was answered
  const Heard heard = check(datagrams);
  EXPECT_EQ(heard.questions, 65536u);
  EXPECT_EQ(heard.text(), "");
}

TEST(CmTalks, OnlySoManyAreRemembered) {
  std::vector<Datagram> datagrams;
  for (std::uint32_t i = 0; i < 66000; ++i) {
    Datagram d{0, cm_request(0x11, 1, 4).mad};
    dissect::put<dissect::CmReq, "localcommid">(d.mad.data() + Mad::bytes, i + 1);
    dissect::put<dissect::CmReq, "maxcmretr">(d.mad.data() + Mad::bytes, 15);
    datagrams.push_back(std::move(d));
  }
  EXPECT_EQ(check(datagrams).talks, 65536u);
}

TEST(CmTalks, OneDirectionIsNoFault) {
  const auto rtu = [] {
    Datagram d = gmp(0, 3, 1, 0, 7, 0x14);
    dissect::put<dissect::CmRtu, "localcommid">(d.mad.data() + Mad::bytes, 0x77);
    dissect::put<dissect::CmRtu, "remotecommid">(d.mad.data() + Mad::bytes, 0x88);
    return d;
  };
  const Datagram request{0, cm_request(0x11, 1, 4).mad}, reply{1, cm_reply(0x22, 2).mad};
  EXPECT_EQ(found({request, rtu()}), "");
  EXPECT_EQ(found({request, reply, rtu()}), "");
  EXPECT_EQ(found({reply, rtu()}), "");
}

// A MAD of ibsim or opensm on a native link. Answers come from LID 2.
std::vector<std::uint8_t> native(const std::vector<std::uint8_t>& mad, std::uint8_t psn) {
  const bool smp = mad[1] == 0x01 || mad[1] == 0x81, back = (mad[3] & 0x80) != 0 || mad[3] == 7;
  const std::uint8_t source = mad[1] == 0x81 ? 0xff : back ? 2 : 1, destination = mad[1] == 0x81 ? 0xff : back ? 1 : 2;
  const std::uint8_t high = mad[1] == 0x81 ? 0xff : 0;
  std::vector<std::uint8_t> b = {std::uint8_t(smp ? 0xf0 : 0), 2, high, destination, 0, 72, high, source};
  const std::uint8_t qp = smp ? 0 : 1;
  b.insert(b.end(), {0x64, 0x40, 0xff, 0xff, 0, 0, 0, qp, 0, 0, 0, psn});
  b.insert(b.end(), {std::uint8_t(smp ? 0 : 0x80), std::uint8_t(smp ? 0 : 1), 0, 0, 0, 0, 0, qp});
  b.insert(b.end(), mad.begin(), mad.end());
  b.insert(b.end(), 4, 0);
  dissect::Packet p;
  p.frame.link_type = link_infiniband;
  p.frame.wire_bytes = static_cast<std::uint32_t>(b.size());
  dissect::walk(p, b, {});
  const std::uint32_t crc = p.icrc().expected;
  for (int i = 0; i < 4; ++i)
    b[b.size() - 4 + static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(crc >> (24 - 8 * i));
  return b;
}

// What real senders sent gives what is known of them, and nothing else. ibsim writes its own number into transaction
// IDs on the way; opensm leaves version and type of RMPP to the kernel, which ibsim has not.
TEST(Mads, VectorsOneAfterTheOther) {
  std::ifstream file(RDMASCOPE_SOURCE "/tests/golden/mad-vectors.txt");
  std::vector<std::vector<std::uint8_t>> bytes;
  std::string line, hex;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#') continue;
    hex += line;
    if (hex.size() == 512) {
      bytes.push_back(native(from_hex(hex), static_cast<std::uint8_t>(bytes.size())));
      hex.clear();
    }
  }
  ASSERT_EQ(bytes.size(), 28u);
  std::vector<Frame> frames(bytes.size());
  for (std::size_t i = 0; i < frames.size(); ++i) {
    frames[i].bytes = bytes[i];
    frames[i].info.number = i + 1;
    frames[i].info.time_ns = static_cast<std::int64_t>(i + 1) * 10'000'000;
    frames[i].info.wire_bytes = static_cast<std::uint32_t>(bytes[i].size());
    frames[i].info.link_type = link_infiniband;
  }
  Heard heard;
  Checker checker({}, heard);
  checker.batch(frames);
  checker.finish();
  EXPECT_EQ(checker.totals().mads, 28u);
  EXPECT_EQ(heard.text(),
            "MAD-TID anomaly in 2, MAD-TID anomaly in 9, MAD-TID anomaly in 20, MAD-TID anomaly in 21, MAD-TID anomaly "
            "in 23, "
            "RMPP-VER violation in 24");
}

}  // namespace
}  // namespace rdmascope::check
