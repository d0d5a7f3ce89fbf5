// check for programs: one JSON object. The schema is in docs/check.md and stays stable.
#include "check/cdi.h"
#include "cli/check_json.h"
#include "cli/check_report_forms.h"

namespace rdmascope::cli {
namespace {

using check::Class;
using check::Connection;

// Connections that ended while the capture went on wait here until the findings are all out.
constexpr std::size_t most_waiting_bytes = 16 << 20;

class JsonReport final : public Report {
 public:
  explicit JsonReport(ReportOptions options) : Report(std::move(options)), json_(out()), waiting_json_(waiting_), cdi_json_(cdi_) {
    json_.open('{');
    json_.key("files").open('[');
    for (const std::string& file : options_.files) json_.value(std::string_view(file));
    json_.close(']');
    json_.line();
    json_.key("findings").open('[');
  }

 private:
  void put_finding(const check::Finding& f, const Connection* connection) override {
    json_.line();
    json_.open('{');
    json_.member("rule", f.rule->id);
    json_.member("class", name(f.kind));
    json_.member("severity", name(f.rule->severity));
    if (f.frame != 0) {
      json_.member("frame", f.frame);
      json_.key("time").time(f.time_ns);
    }
    if (f.connection != 0) {
      json_.member("connection", connection ? connection->id : f.connection);
      json_.member("side", std::uint64_t{f.side});
    }
    if (f.cdi_flow != 0) {
      json_.member("cdi", f.cdi_flow);
      json_.member("side", f.side == 0 ? "transmitter" : "receiver");
    }
    if (!f.field.empty()) json_.member("field", f.field);
    if (f.expected) json_.member("expected", *f.expected);
    if (f.actual) json_.member("actual", *f.actual);
    if (!f.text.empty()) json_.member("text", std::string_view(f.text));
    json_.close('}');
  }

  void put_connection(const Connection& c) override {
    if (waiting_.size() > most_waiting_bytes) {
      ++left_out_;
      return;
    }
    JsonOut& j = waiting_json_;
    j.line();
    j.open('{');
    j.member("id", c.id);
    if (c.other_half_id != 0) j.member("other_half_id", c.other_half_id);
    j.member("transport", transport_name(c.transport));
    if (c.paired != check::PairedBy::nothing) j.member("paired_by", name(c.paired));
    if (c.pmtu != 0) j.member("path_mtu", c.pmtu);
    if (c.pmtu != 0) j.member("path_mtu_from", c.pmtu_told ? "CM" : "payload");
    if (c.p_key) j.member("p_key", std::uint64_t{*c.p_key});
    j.member("first_frame", c.first_frame);
    j.member("last_frame", c.last_frame);
    j.key("first_time").time(c.first_ns);
    j.key("last_time").time(c.last_ns);
    j.key("ends").open('[');
    for (std::size_t side = 0; side < 2; ++side) put_end_of(c, side);
    j.close(']');
    j.key("found").open('{');
    j.member("violations", c.found[0]);
    j.member("anomalies", c.found[1]);
    j.member("artifacts", c.found[2]);
    j.close('}');
    j.member("not_judged", c.not_judged);
    j.close('}');
  }

  void put_cdi(const check::CdiFlow& flow, const std::vector<std::string>& story) override {
    if (waiting_.size() + cdi_.size() > most_waiting_bytes) {
      ++cdi_left_out_;
      return;
    }
    JsonOut& j = cdi_json_;
    j.line();
    j.open('{');
    j.member("number", flow.number);
    j.member("transmitter", std::string_view(to_text(flow.tx().end)));
    j.member("receiver", std::string_view(to_text(flow.rx().end)));
    if (!flow.stream_name.empty()) j.member("stream", std::string_view(flow.stream_name));
    if (flow.version()) j.member("version", std::string_view(to_text(*flow.version())));
    j.member("first_frame", flow.first_frame);
    j.member("last_frame", flow.last_frame);
    j.member("times_connected", flow.times_connected);
    j.member("pings", flow.pings);
    j.member("pings_answered", flow.pongs);
    for (const auto& [key, side] : {std::pair("transmitter_state", &flow.tx()), std::pair("receiver_state", &flow.rx())})
      if (side->state != dissect::ProbeState::unknown)
        j.member(key, dissect::probe_states[static_cast<std::size_t>(side->state)].name);
    j.key("story").open('[');
    for (const std::string& line : story) j.value(std::string_view(line));
    j.close(']');
    j.key("found").open('{');
    j.member("violations", flow.found[0]);
    j.member("anomalies", flow.found[1]);
    j.member("artifacts", flow.found[2]);
    j.close('}');
    j.close('}');
  }

  void put_end_of(const Connection& c, std::size_t side) {
    JsonOut& j = waiting_json_;
    const check::Flow& flow = *c.flow[side];
    const check::EndFacts& facts = c.facts[side];
    const std::optional<std::uint32_t> qp = side == 0 && !c.qpn[0] ? c.ud_source_qp : c.qpn[side];
    const auto fact = [&j](std::string_view key, const auto& value) {
      if (value) j.member(key, std::uint64_t{*value});
    };
    j.open('{');
    j.member("address", std::string_view(to_text(c.address[side])));
    fact("qp", qp);
    j.member("packets", c.packets[side]);
    j.member("bytes", c.bytes[side]);
    j.member("icrc_good", c.good_icrc[side]);
    j.member("icrc_bad", c.bad_icrc[side]);
    j.member("icrc_unverified", c.unverified_icrc[side]);
    j.member("ce_marks", c.ce_marks[side]);
    j.member("cnps", c.cnps[side]);
    fact("start_psn", facts.start_psn);
    fact("responder_resources", facts.responder_resources);
    fact("initiator_depth", facts.initiator_depth);
    fact("ack_timeout", facts.ack_timeout);
    fact("retry_count", facts.retry_count);
    fact("rnr_retry_count", facts.rnr_retry_count);
    j.key("requests").open('{');
    j.member("packets", flow.request_packets);
    j.member("payload_bytes", flow.request_bytes);
    j.member("messages", flow.message_count);
    j.member("completed", flow.completed);
    j.member("retransmitted", flow.retransmitted);
    j.member("gap_packets", flow.gap_packets);
    j.member("missed_packets", flow.missed_packets);
    j.member("timeouts", flow.timeouts);
    j.member("reordered", flow.reordered);
    j.close('}');
    j.key("answers").open('{');
    j.member("packets", flow.response_packets);
    j.member("payload_bytes", flow.response_bytes);
    j.member("sequence_naks", flow.seq_naks);
    j.member("rnr_naks", flow.rnr_naks);
    j.member("fatal_naks", flow.fatal_naks);
    j.close('}');
    j.close('}');
  }

  void put_end(const check::Totals& t) override {
    json_.line();
    json_.close(']');
    json_.line();
    json_.key("rules").open('[');
    for (Class kind : {Class::violation, Class::anomaly, Class::artifact})
      for (const Tally* tally : tallies_.of(kind)) {
        json_.line();
        json_.open('{');
        json_.member("rule", tally->rule->id);
        json_.member("class", name(kind));
        json_.member("title", tally->rule->title);
        json_.member("count", tally->count);
        if (tally->first_frame != 0) {
          json_.member("first_frame", tally->first_frame);
          json_.member("last_frame", tally->last_frame);
        }
        json_.close('}');
      }
    json_.close(']');
    json_.line();
    json_.key("connections").open('[');
    out().put(waiting_.view());
    json_.close(']');
    json_.line();
    if (!cdi_.view().empty()) {
      json_.key("cdi").open('[');
      out().put(cdi_.view());
      json_.close(']');
      json_.line();
    }
    json_.key("totals").open('{');
    json_.member("frames", t.frames);
    json_.member("rdma", t.rdma);
    if (t.completions > 0) json_.member("completions", t.completions);
    if (t.mads > 0) json_.member("mads", t.mads);
    if (t.cdi > 0) json_.member("cdi", t.cdi);
    if (cdi_left_out_ > 0) json_.member("cdi_left_out", cdi_left_out_);
    json_.member("connections", t.connections);
    if (left_out_ > 0) json_.member("connections_left_out", left_out_);
    json_.key("first_time").time(t.first_ns);
    json_.key("last_time").time(t.last_ns);
    json_.member("icrc_good", t.icrc_good);
    json_.member("icrc_bad", t.icrc_bad);
    json_.member("icrc_unverified", t.icrc_unverified);
    json_.member("cut", t.cut);
    json_.member("not_judged", t.not_judged);
    json_.member("refused", t.refused);
    json_.member("violations", tallies_.count(Class::violation));
    json_.member("anomalies", tallies_.count(Class::anomaly));
    json_.member("artifacts", tallies_.count(Class::artifact));
    json_.close('}');
    json_.line();
    json_.member("verdict", tallies_.count(Class::violation) > 0 ? "violations"
                            : t.nothing_to_judge()               ? "nothing to judge"
                            : tallies_.unhealthy()               ? "anomalies"
                                                                 : "clean");
    json_.line();
    json_.member("sentence", std::string_view(verdict(t, tallies_)));
    json_.close('}');
    out().put('\n');
  }

  JsonOut json_;
  dissect::Text waiting_, cdi_;
  JsonOut waiting_json_, cdi_json_;
  std::uint64_t left_out_ = 0, cdi_left_out_ = 0;
};

}  // namespace

std::unique_ptr<Report> make_json_report(ReportOptions options) {
  return std::make_unique<JsonReport>(std::move(options));
}

}  // namespace rdmascope::cli
