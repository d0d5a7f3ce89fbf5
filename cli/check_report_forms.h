// The forms of Report, one file each.
#pragma once

#include <memory>

#include "cli/check_report.h"

namespace rdmascope::cli {

std::unique_ptr<Report> make_text_report(ReportOptions options);
std::unique_ptr<Report> make_json_report(ReportOptions options);
std::unique_ptr<Report> make_junit_report(ReportOptions options);

}  // namespace rdmascope::cli
