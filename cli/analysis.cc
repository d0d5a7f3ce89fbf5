#include "cli/analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "cli/check_input.h"

namespace rdmascope::cli {

using check::Annotator;

std::optional<std::string> first_unrepeatable(const std::vector<std::string>& files) {
  const auto found = std::find_if(files.begin(), files.end(), [](const std::string& file) {
    std::error_code ignored;
    return file == "-" || (std::filesystem::exists(file, ignored) && !std::filesystem::is_regular_file(file, ignored));
  });
  if (found == files.end()) return std::nullopt;
  return *found == "-" ? "standard input" : *found;
}

std::shared_ptr<const Annotator> read_ahead(const std::vector<std::string>& files, check::CheckOptions options) {
  const auto annotator = std::make_shared<Annotator>(Annotator::Readings::two);
  options.packets = options.messages = true;
  CheckPlan plan;
  plan.files = files;
  plan.options = std::move(options);
  check::Checker checker(plan.options, *annotator);
  feed(plan, checker, Faults::ignored);
  checker.finish();
  annotator->settle();
  return annotator;
}

// The checker goes along with the reading, a batch ahead of what is shown.
class Analysis::Live {
 public:
  explicit Live(const dissect::WalkOptions& walk) : checker_(options(walk), annotator) {}

  void batch(std::span<const capture::Frame> frames, const std::vector<capture::Interface>& interfaces) {
    annotator.forget();
    batch_.resize(frames.size());
    for (std::size_t i = 0; i < frames.size(); ++i) {
      const std::uint32_t interface = frames[i].interface_id;
      batch_[i].bytes = frames[i].bytes;
      times_.fill(batch_[i].info, frames[i], interface < interfaces.size() ? &interfaces[interface] : nullptr);
    }
    checker_.batch(batch_);
  }

  Annotator annotator{Annotator::Readings::one};

 private:
  static check::CheckOptions options(const dissect::WalkOptions& walk) {
    check::CheckOptions out;
    out.walk = walk;
    out.packets = out.messages = out.at_once = true;
    return out;
  }
  FrameTimes times_;
  std::vector<check::Frame> batch_;
  check::Checker checker_;
};

Analysis::Analysis(const std::vector<std::string>& files, const dissect::WalkOptions& walk) {
  if (const std::optional<std::string> once = first_unrepeatable(files)) {
    note(fmt::format(
        "{} can be read only once: infiniband.response_in and findings that later packets bring are not shown, "
        "rdmascope.flow and rdmascope.message are as known when a packet came; give a file for all of it",
        *once));
    live_ = std::make_unique<Live>(walk);
    return;
  }
  check::CheckOptions options;
  options.walk = walk;
  options.workers = std::max(1u, std::thread::hardware_concurrency());
  known_ = read_ahead(files, std::move(options));
}

Analysis::~Analysis() = default;

void Analysis::batch(std::span<const capture::Frame> frames, const std::vector<capture::Interface>& interfaces) {
  if (live_) live_->batch(frames, interfaces);
}

void Analysis::annotate(dissect::Packet& packet) {
  annotations_ = (live_ ? live_->annotator : *known_).of(packet.frame.number);
  if (live_) annotations_.response_in = 0;  // known by chance, if it is in the same batch
  dissect::annotate(packet, annotations_);
}

}  // namespace rdmascope::cli
