// F-04: LRH version and reserved bits are 0.
#include "check/rules/all.h"
#include "check/rules/judge.h"

namespace rdmascope::check {
namespace {

template <class Report>
void judge(const dissect::View<dissect::Lrh>& lrh, const Report& report) {
  if (const auto version = lrh.get<"lver">(); version != 0) report("infiniband.lrh.lver", version);
  if (const auto bits = lrh.get<"reserved2">(); bits != 0) report("infiniband.lrh.reserved2", bits);
  if (const auto bits = lrh.get<"reserved5">(); bits != 0) report("infiniband.lrh.reserved5", bits);
}

void packet(const Context& c, Findings& out) {
  if (const dissect::Layer* layer = lrh_of(c.packet))
    judge(dissect::View<dissect::Lrh>(c.packet.data(*layer)), [&](std::string_view field, std::uint64_t actual) {
      out.mismatch(f04_lrh_reserved.info, c, field, 0, actual);
    });
}

// Raw packets have the header, too. One that tells the right length is no accident.
void frame(const dissect::Packet& p, Findings& out) {
  const auto lrh = p.find<dissect::Lrh>();
  if (!lrh || bad_length_of(p, dissect::header<dissect::Lrh>) || is_damaged(p)) return;
  judge(*lrh, [&](std::string_view field, std::uint64_t actual) {
    out.mismatch_in(f04_lrh_reserved.info, p, field, 0, actual);
  });
}

}  // namespace

const Rule f04_lrh_reserved{{.id = "F-04",
                             .title = "LRH version and reserved bits are 0",
                             .source = "Linux drivers/infiniband/core/ud_header.c",
                             .help = R"(A native InfiniBand packet starts with the LRH. Its version is 0, there is no
other one, and two groups of reserved bits are sent as 0. Ports drop packets of another link version.

Usual causes: bytes before the packet that are no LRH (a wrong link type of the capture, a vendor header), a generator
with shifted bit fields.

Look next at: whether the other LRH fields make sense (LNH 2 or 3, PktLen equal to the length). If they do not,
the capture does not start with an LRH.)"},
                            on_good,
                            packet,
                            nullptr,
                            frame};

}  // namespace rdmascope::check
