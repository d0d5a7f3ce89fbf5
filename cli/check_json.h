// Writes JSON piece by piece into a Text, with the commas in the right places. Nothing is kept, so a document may be of
// any length.
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>

#include "dissect/text.h"

namespace rdmascope::cli {

class JsonOut {
 public:
  explicit JsonOut(dissect::Text& out) : out_(out) {}

  // A value in an array, or behind key(). Inside objects give the key first.
  void open(char bracket) {
    comma();
    out_.put(bracket);
    first_ = true;
  }
  void close(char bracket) {
    out_.put(bracket);
    first_ = false;
  }
  JsonOut& key(std::string_view name) {
    comma();
    quoted(name);
    out_.put(':');
    first_ = true;  // no comma before the value
    return *this;
  }
  // The next piece stands on a line of its own.
  void line() { new_line_ = true; }

  void value(std::string_view text) {
    comma();
    quoted(text);
  }
  void value(const char* text) { value(std::string_view(text)); }
  void value(bool truth) {
    comma();
    out_.put(truth ? std::string_view("true") : std::string_view("false"));
  }
  template <std::unsigned_integral T>
  requires(!std::same_as<T, bool>) void value(T number) {
    comma();
    out_.dec(number);
  }
  // A number that is written already.
  void raw(std::string_view number) {
    comma();
    out_.put(number);
  }
  // Seconds as a string, so that no nanosecond is lost.
  void time(std::int64_t ns) {
    comma();
    out_.put('"');
    out_.seconds(ns);
    out_.put('"');
  }

  template <class T>
  void member(std::string_view name, const T& v) {
    key(name).value(v);
  }

 private:
  void comma() {
    if (!first_) out_.put(',');
    if (new_line_) out_.put('\n');
    first_ = new_line_ = false;
  }
  void quoted(std::string_view text) {
    out_.put('"');
    out_.json_escaped(text);
    out_.put('"');
  }

  dissect::Text& out_;
  bool first_ = true, new_line_ = false;
};

}  // namespace rdmascope::cli
