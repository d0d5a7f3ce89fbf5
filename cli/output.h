// Standard output, or a file: buffered, written in large pieces, quiet when the reader has gone (a closed pipe is no error).
#pragma once

#include <string>

#include "base/result.h"
#include "cli/choice.h"
#include "dissect/text.h"

namespace rdmascope::cli {

class Output {
 public:
  explicit Output(bool line_buffered = false);
  static Result<Output> to_file(const std::string& path);  // overwritten
  Output(Output&& other) noexcept;
  Output& operator=(Output&&) = delete;
  ~Output();

  dissect::Text& text() { return text_; }

  // Call after each packet: writes when enough has gathered. False: nobody reads any more, or the disk is full.
  bool packet_done() { return text_.size() < limit_ || flush(); }
  bool flush();

  // One sentence when writing failed for another reason than a closed pipe.
  const std::string& error() const { return error_; }

 private:
  dissect::Text text_;
  std::size_t limit_;
  int fd_;
  std::string name_ = "standard output";
  bool open_ = true;
  std::string error_;
};

// auto: on a terminal, unless NO_COLOR is set or TERM is "dumb".
enum class ColorWhen { automatic, always, never };
inline constexpr Choice<ColorWhen> color_choices[] = {
    {"auto", ColorWhen::automatic}, {"always", ColorWhen::always}, {"never", ColorWhen::never}};
bool use_color(ColorWhen when);

// Whether the terminal or locale shows UTF-8.
bool use_utf8();

}  // namespace rdmascope::cli
