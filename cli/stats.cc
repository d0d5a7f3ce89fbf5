// rdmascope stats: numbers about a capture. flows: each direction of each connection; messages: one row per SEND,
// WRITE, READ or atomic; latency: how long they took; opcodes: what the packets were; mads: management datagrams,
// question by question; fabric: nodes, ports and links as these describe them; cdi: connections of AWS CDI.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <memory>

#include "cli/check_extract.h"
#include "cli/check_input.h"
#include "cli/check_json.h"
#include "cli/check_latency.h"
#include "cli/check_report.h"
#include "cli/check_table.h"
#include "cli/choices.h"
#include "cli/command.h"
#include "cli/frames.h"
#include "cli/stats_cdi.h"
#include "cli/stats_mads.h"
#include "dissect/filter.h"
#include "dissect/headers.h"

namespace rdmascope::cli {
namespace {

using check::Connection;
using check::Message;
using check::MessageState;

enum class Subject { flows, messages, latency, opcodes, mads, fabric, cdi };
constexpr Choice<Subject> subjects[] = {{"flows", Subject::flows},     {"messages", Subject::messages},
                                        {"latency", Subject::latency}, {"opcodes", Subject::opcodes},
                                        {"mads", Subject::mads},       {"fabric", Subject::fabric},
                                        {"cdi", Subject::cdi}};

struct StatsOptions {
  CheckInput input;
  Subject subject = Subject::flows;
  TableForm form = TableForm::text;
  std::uint64_t extract = 0;
  std::string output_file = "-";
};

int fail(const std::string& sentence) {
  complain(sentence);
  return exit_error;
}

const check::Rule no_rule{};  // stats judges nothing

TableCell number(std::uint64_t value) { return value; }
TableCell word(std::string_view text) { return std::string(text); }
TableCell qp(const std::optional<std::uint32_t>& value) {
  return value ? TableCell(std::uint64_t{*value}) : TableCell();
}
std::optional<std::uint32_t> qp_of(const Connection& c, std::size_t side) {
  return side == 0 && !c.qpn[0] ? c.ud_source_qp : c.qpn[side];
}

// --- Flows -----------------------------------------------------------------------------------------------------------

class Flows final : public check::Listener {
 public:
  explicit Flows(TableForm form)
      : table_(output_, form,
               {{"connection", "#"},
                {"type", "type", Shown::dec, true},
                {"from", "from", Shown::dec, true},
                {"from_qp", "QP", Shown::qp},
                {"to", "to", Shown::dec, true},
                {"to_qp", "QP", Shown::qp},
                {"paired_by", ""},
                {"path_mtu", "MTU"},
                {"packets", "packets"},
                {"bytes", "bytes"},
                {"request_packets", ""},
                {"response_packets", ""},
                {"payload_bytes", "payload"},
                {"messages", "messages"},
                {"completed", "done"},
                {"retransmitted", "resent"},
                {"gap_packets", "gaps"},
                {"missed_packets", ""},
                {"reordered", ""},
                {"timeouts", "timeouts"},
                {"sequence_naks", ""},
                {"rnr_naks", ""},
                {"fatal_naks", ""},
                {"naks", "NAKs"},
                {"ce_marks", ""},
                {"cnps", ""},
                {"icrc_bad", ""},
                {"first_frame", ""},
                {"last_frame", ""},
                {"seconds", "seconds", Shown::seconds},
                {"payload_mbit_per_s", "Mbit/s", Shown::number}}) {}

  void ended(const Connection& c) override {
    for (std::size_t side = 0; side < 2; ++side)
      if (c.packets[side] > 0) row(c, side);
  }
  Output& finish() {
    table_.end();
    return output_;
  }

 private:
  void row(const Connection& c, std::size_t side) {
    const check::Flow &requests = *c.flow[side], &answers = *c.flow[1 - side];  // sent by this side
    const std::int64_t ns = c.last_ns > c.first_ns ? c.last_ns - c.first_ns : 0;
    const std::uint64_t payload = requests.request_bytes + answers.response_bytes;
    const bool connected = c.transport != dissect::Transport::ud;
    const auto of_requests = [connected](std::uint64_t n) { return connected ? TableCell(n) : TableCell(); };
    table_.row({number(c.id),
                word(transport_name(c.transport)),
                word(to_text(c.address[side])),
                qp(qp_of(c, side)),
                word(to_text(c.address[1 - side])),
                qp(qp_of(c, 1 - side)),
                c.paired == check::PairedBy::nothing ? TableCell() : word(name(c.paired)),
                c.pmtu ? number(c.pmtu) : TableCell(),
                number(c.packets[side]),
                number(c.bytes[side]),
                of_requests(requests.request_packets),
                of_requests(answers.response_packets),
                of_requests(payload),
                of_requests(requests.message_count),
                of_requests(requests.completed),
                of_requests(requests.retransmitted),
                of_requests(requests.gap_packets),
                of_requests(requests.missed_packets),
                of_requests(requests.reordered),
                of_requests(requests.timeouts),
                of_requests(answers.seq_naks),
                of_requests(answers.rnr_naks),
                of_requests(answers.fatal_naks),
                of_requests(answers.seq_naks + answers.rnr_naks + answers.fatal_naks),
                number(c.ce_marks[side]),
                number(c.cnps[side]),
                number(c.bad_icrc[side]),
                number(c.first_frame),
                number(c.last_frame),
                number(static_cast<std::uint64_t>(ns)),
                connected && ns > 0
                    ? word(fmt::format("{:.3f}", static_cast<double>(payload) * 8e3 / static_cast<double>(ns)))
                    : TableCell()});
  }

  Output output_;
  Table table_;
};

// --- Messages --------------------------------------------------------------------------------------------------------

std::string state_of(const Message& m) {
  if (m.state != MessageState::naked) return std::string(name(m.state));
  return fmt::format("NAK: {}", dissect::name_of(dissect::nak_codes, m.nak_code & 31u));
}

class Messages final : public check::Listener {
 public:
  explicit Messages(TableForm form)
      : table_(output_, form,
               {{"message", "#"},
                {"connection", "conn"},
                {"from", "from", Shown::dec, true},
                {"to", "to", Shown::dec, true},
                {"to_qp", "QP", Shown::qp},
                {"operation", "operation", Shown::dec, true},
                {"first_frame", "first"},
                {"last_frame", "last"},
                {"answer_frame", "answer"},
                {"first_psn", "PSN"},
                {"psns", "PSNs"},
                {"bytes", "bytes"},
                {"va", "address", Shown::address},
                {"r_key", "R_Key", Shown::key},
                {"dma_length", ""},
                {"immediate", ""},
                {"msn", "MSN"},
                {"retransmitted", "resent"},
                {"rnr_naks", ""},
                {"sequence_naks", ""},
                {"start", "", Shown::seconds},
                {"latency_ns", "us", Shown::micros},
                {"state", "state", Shown::dec, true}}) {}

  void message(const Connection& c, std::uint8_t side, const Message& m) override {
    const bool done = m.state == MessageState::complete;
    const auto if_known = [](bool known, std::uint64_t value) { return known ? TableCell(value) : TableCell(); };
    table_.row({number(++count_),
                number(c.id),
                word(to_text(c.address[side])),
                word(to_text(c.address[1 - side])),
                qp(qp_of(c, 1u - side)),
                word(name(m.operation)),
                number(m.first_frame),
                number(m.last_frame),
                if_known(m.answer_frame != 0, m.answer_frame),
                number(m.first_psn),
                if_known(m.length_known, m.psns),
                number(m.bytes),
                if_known(m.has_reth, m.va),
                if_known(m.has_reth, m.r_key),
                if_known(m.has_reth, m.dma_length),
                if_known(m.has_immediate, m.immediate),
                if_known(done, m.msn),
                number(m.retransmitted),
                number(m.rnr_naks),
                number(m.seq_naks),
                number(static_cast<std::uint64_t>(m.start_ns)),
                if_known(done && m.done_ns >= m.start_ns, static_cast<std::uint64_t>(m.done_ns - m.start_ns)),
                word(state_of(m))});
  }
  Output& finish() {
    table_.end();
    return output_;
  }

 private:
  Output output_;
  Table table_;
  std::uint64_t count_ = 0;
};

// --- Latency ---------------------------------------------------------------------------------------------------------

class Latencies final : public check::Listener {
 public:
  explicit Latencies(TableForm form) : form_(form) {}

  void message(const Connection&, std::uint8_t, const Message& m) override {
    if (m.state != MessageState::complete || !m.has_first || m.done_ns < m.start_ns)
      ++not_measured_;
    else
      by_operation_[static_cast<std::size_t>(m.operation)].add(static_cast<std::uint64_t>(m.done_ns - m.start_ns));
  }

  Output& finish() {
    for (LatencyHistogram& h : by_operation_) h.sort();
    if (form_ == TableForm::json)
      put_json();
    else
      put_table();
    return output_;
  }

 private:
  template <class Each>
  void for_each(Each each) const {
    for (std::size_t i = 0; i < by_operation_.size(); ++i)
      if (by_operation_[i].count() > 0) each(name(static_cast<check::Operation>(i)), by_operation_[i]);
  }

  void put_table() {
    Table table(output_, form_,
                {{"operation", "operation", Shown::dec, true},
                 {"messages", "messages"},
                 {"min_us", "min us", Shown::micros},
                 {"p50_us", "p50 us", Shown::micros},
                 {"p90_us", "p90 us", Shown::micros},
                 {"p99_us", "p99 us", Shown::micros},
                 {"max_us", "max us", Shown::micros}});
    for_each([&table](std::string_view operation, const LatencyHistogram& h) {
      table.row({word(operation), number(h.count()), number(h.min()), number(h.percentile(50)),
                 number(h.percentile(90)), number(h.percentile(99)), number(h.max())});
    });
    table.end();
    if (form_ == TableForm::csv) return;
    dissect::Text& out = output_.text();
    for_each([&out](std::string_view operation, const LatencyHistogram& h) {
      constexpr std::size_t width = 50;
      out.put(fmt::format("\n{}\n", operation));
      std::uint64_t most = 1;
      for (const LatencyHistogram::Step& step : h.steps()) most = std::max(most, step.count);
      for (const LatencyHistogram::Step& step : h.steps())
        out.put(fmt::format("  {:>8} to {:<8} {:>9}  {}\n", LatencyHistogram::text(step.from_ns),
                            LatencyHistogram::text(step.to_ns), step.count,
                            std::string((step.count * width + most - 1) / most, '#')));
    });
    if (not_measured_ > 0)
      out.put(fmt::format("{}{} without a latency: not complete, or the first packet is missing\n",
                          not_measured_ > 0 ? "\n" : "", counted(not_measured_, "message")));
    else if (by_operation_empty())
      out.put("no message of a reliable connection\n");
  }

  bool by_operation_empty() const {
    return std::all_of(by_operation_.begin(), by_operation_.end(), [](const auto& h) { return h.count() == 0; });
  }

  void put_json() {
    JsonOut json(output_.text());
    json.open('{');
    json.key("operations").open('[');
    for_each([&json](std::string_view operation, const LatencyHistogram& h) {
      json.line();
      json.open('{');
      json.member("operation", operation);
      json.member("messages", h.count());
      json.member("min_ns", h.min());
      json.member("p50_ns", h.percentile(50));
      json.member("p90_ns", h.percentile(90));
      json.member("p99_ns", h.percentile(99));
      json.member("max_ns", h.max());
      json.key("histogram").open('[');
      for (const LatencyHistogram::Step& step : h.steps()) {
        json.open('{');
        json.member("from_ns", step.from_ns);
        json.member("to_ns", step.to_ns);
        json.member("messages", step.count);
        json.close('}');
      }
      json.close(']');
      json.close('}');
    });
    json.close(']');
    json.member("not_measured", not_measured_);
    json.close('}');
    output_.text().put('\n');
  }

  TableForm form_;
  Output output_;
  std::array<LatencyHistogram, 7> by_operation_;
  std::uint64_t not_measured_ = 0;
};

// --- Opcodes ---------------------------------------------------------------------------------------------------------

int run_opcodes(const CheckPlan& plan, TableForm form) {
  struct Count {
    std::uint64_t packets = 0, bytes = 0, payload = 0, bad_icrc = 0;
  };
  std::array<Count, 256> counts{};
  std::uint64_t all = 0, others = 0, other_bytes = 0;
  const int status = for_each_packet(plan.files, plan.options.walk, true, [&](dissect::Packet& p, const Origin&) {
    if (!plan.range.holds(p.frame) || (plan.options.filter && !plan.options.filter(p))) return true;
    ++all;
    const auto bth = p.bth_layer >= 0 ? p.find<dissect::Bth>() : std::nullopt;
    if (!bth) {
      ++others;
      other_bytes += p.frame.wire_bytes;
      return true;
    }
    Count& c = counts[bth->get<"opcode">()];
    ++c.packets;
    c.bytes += p.frame.wire_bytes;
    c.payload += p.payload_bytes;
    if (p.icrc().status == dissect::CrcStatus::bad) ++c.bad_icrc;
    return true;
  });
  Output output;
  Table table(output, form,
              {{"opcode", ""},
               {"name", "opcode", Shown::dec, true},
               {"packets", "packets"},
               {"bytes", "bytes"},
               {"payload_bytes", "payload"},
               {"icrc_bad", "bad ICRC"},
               {"percent", "%", Shown::number}});
  const auto percent = [&all](std::uint64_t packets) {
    return word(fmt::format("{:.1f}", 100.0 * static_cast<double>(packets) / static_cast<double>(all)));
  };
  for (std::size_t opcode = 0; opcode < counts.size(); ++opcode) {
    const Count& c = counts[opcode];
    if (c.packets == 0) continue;
    table.row({number(opcode), word(dissect::opcode_title(static_cast<std::uint8_t>(opcode))), number(c.packets),
               number(c.bytes), number(c.payload), number(c.bad_icrc), percent(c.packets)});
  }
  if (others > 0)
    table.row({TableCell(), word("no InfiniBand transport"), number(others), number(other_bytes), TableCell(),
               TableCell(), percent(others)});
  table.end();
  output.flush();
  return output.error().empty() ? status : fail(output.error());
}

// --- The command -----------------------------------------------------------------------------------------------------

template <class Listener>
int run_listener(const CheckPlan& plan, Listener& listener) {
  check::Checker checker(plan.options, listener);
  stop_on_interrupt();
  const int status = feed(plan, checker);
  checker.finish();
  Output& output = listener.finish();
  output.flush();
  return output.error().empty() ? status : fail(output.error());
}

int run_stats(const StatsOptions& options) {
  Result<CheckPlan> plan = options.input.plan();
  if (!plan) return fail(plan.error());
  plan->options.rules = {&no_rule};
  plan->options.messages = options.subject == Subject::messages || options.subject == Subject::latency;
  if (options.extract > 0) {
    if (options.subject != Subject::messages) return fail("--extract goes with `rdmascope stats FILE messages`");
    return extract_message(*plan, options.extract, options.output_file);
  }
  if (options.output_file != "-") return fail("-o goes with --extract");
  switch (options.subject) {
    case Subject::flows: {
      Flows flows(options.form);
      return run_listener(*plan, flows);
    }
    case Subject::messages: {
      Messages messages(options.form);
      return run_listener(*plan, messages);
    }
    case Subject::latency: {
      Latencies latencies(options.form);
      return run_listener(*plan, latencies);
    }
    case Subject::opcodes:
      return run_opcodes(*plan, options.form);
    case Subject::mads: {
      MadQuestions mads(options.form);
      return run_listener(*plan, mads);
    }
    case Subject::fabric: {
      FabricPorts fabric(options.form);
      return run_listener(*plan, fabric);
    }
    case Subject::cdi: {
      CdiConnections connections(options.form);
      return run_listener(*plan, connections);
    }
  }
  return exit_error;
}

}  // namespace

void add_stats_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<StatsOptions>();
  CLI::App* stats = app.add_subcommand("stats", "Count: connections, messages, how long they took, opcodes; management datagrams, the fabric; connections of CDI");
  stats->validate_positionals();  // a word that is no subject is a file, whichever comes first
  std::vector<std::string> words;
  for (const Choice<Subject>& subject : subjects) words.emplace_back(subject.word);
  stats
      ->add_option_function<std::string>(
          "SUBJECT",
          [options](const std::string& given) {
            for (const Choice<Subject>& subject : subjects)
              if (subject.word == given) options->subject = subject.value;
          },
          "what to count; flows if not given")
      ->type_name(fmt::format("{}", fmt::join(words, "|")))
      ->check(CLI::Validator(
          [words](std::string& given) {
            return std::find(words.begin(), words.end(), given) != words.end() ? "" : "no subject";
          },
          ""));
  options->input.add_to(*stats);
  add_choice(*stats, "-T,--format", options->form, table_choices, "form", "a table, or the same for programs");
  stats
      ->add_option("--extract", options->extract,
                   "with messages: rebuild the payload of this message, as numbered there, instead")
      ->type_name("N")
      ->check(CLI::PositiveNumber.description(""));
  stats->add_option("-o,--output", options->output_file, "where --extract writes; standard output if not given")
      ->type_name("FILE");
  stats->callback([options, &run] { run = [options] { return run_stats(*options); }; });
}

}  // namespace rdmascope::cli
