#include "cli/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "cli/command.h"

namespace rdmascope::cli {

Output::Output(bool line_buffered) : limit_(line_buffered ? 1 : 64 * 1024), fd_(STDOUT_FILENO) {}

Result<Output> Output::to_file(const std::string& path) {
  Output out;
  out.fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (out.fd_ < 0) return Error{fmt::format("cannot write {}: {}", path, std::strerror(errno))};
  out.name_ = path;
  return out;
}

Output::Output(Output&& other) noexcept
    : text_(std::move(other.text_)),
      limit_(other.limit_),
      fd_(std::exchange(other.fd_, STDOUT_FILENO)),
      name_(std::move(other.name_)),
      open_(other.open_),
      error_(std::move(other.error_)) {}

Output::~Output() {
  if (fd_ > STDERR_FILENO) ::close(fd_);
}

bool Output::flush() {
  std::string_view left = text_.view();
  while (open_ && !left.empty()) {
    const ssize_t written = ::write(fd_, left.data(), left.size());
    if (written >= 0) {
      left.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      if (errno != EPIPE) error_ = fmt::format("cannot write to {}: {}", name_, std::strerror(errno));
      open_ = false;
    }
  }
  text_.clear();
  return open_;
}

bool use_color(ColorWhen when) {
  if (when != ColorWhen::automatic) return when == ColorWhen::always;
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return isatty(STDOUT_FILENO) && !(no_color && *no_color) && term && std::strcmp(term, "dumb") != 0;
}

bool use_utf8() {
  for (const char* variable : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(variable);
    if (value && *value) return std::strstr(value, "UTF-8") || std::strstr(value, "utf8") || std::strstr(value, "UTF8");
  }
  return false;
}

void complain(std::string_view sentence) { fmt::print(stderr, "rdmascope: {}\n", sentence); }
void note(std::string_view sentence) { fmt::print(stderr, "rdmascope: note: {}\n", sentence); }

}  // namespace rdmascope::cli
