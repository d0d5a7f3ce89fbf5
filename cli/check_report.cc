#include "cli/check_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "check/cdi.h"
#include "cli/check_report_forms.h"

namespace rdmascope::cli {

using check::Connection;
using check::Finding;

Report::Report(ReportOptions options)
    : options_(std::move(options)), tallies_(options_.form == ReportForm::junit ? 20 : 1) {}

void Report::finding(const Finding& finding, const Connection* connection) {
  // A half that was paired meanwhile is known under the number of the other half.
  while (connection && connection->merged_into) connection = connection->merged_into;
  tallies_.add(finding, connection);
  put_finding(finding, connection);
  output_.packet_done();
}

void Report::ended(const Connection& connection) {
  if (connection.other_half_id != 0) tallies_.joined(connection.other_half_id, connection.id);
  if (!capture_ended_) put_connection(connection);
}

void Report::end_of_cdi(const check::CdiFlows& flows, std::int64_t begin_ns, std::int64_t end_ns) {
  for (const check::CdiFlow& flow : flows.flows()) put_cdi(flow, check::story(flow, begin_ns, end_ns));
}

bool Report::finish(check::Checker& checker) {
  for (const Connection* connection : checker.connections()) put_connection(*connection);
  put_end(checker.totals());
  output_.flush();
  return output_.error().empty();
}

std::unique_ptr<Report> make_report(ReportOptions options) {
  switch (options.form) {
    case ReportForm::text:
      return make_text_report(std::move(options));
    case ReportForm::json:
      return make_json_report(std::move(options));
    case ReportForm::junit:
      return make_junit_report(std::move(options));
  }
  return nullptr;
}

}  // namespace rdmascope::cli
