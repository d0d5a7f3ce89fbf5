// A block of bytes that is handed around, without a value at first: what will be read into it is all it ever holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace rdmascope {

class Memory {
 public:
  Memory() = default;
  explicit Memory(std::size_t bytes) { grow(bytes); }

  std::uint8_t* data() const { return bytes_.get(); }
  std::size_t size() const { return size_; }

  // Makes it at least that large; what is in it stays, but may move.
  void grow(std::size_t bytes) {
    if (bytes <= size_) return;
    void* const moved = std::realloc(bytes_.get(), bytes);
    if (!moved) throw std::bad_alloc();
    static_cast<void>(bytes_.release());
    bytes_.reset(static_cast<std::uint8_t*>(moved));
    size_ = bytes;
  }

 private:
  struct Free {
    void operator()(std::uint8_t* p) const { std::free(p); }
  };
  std::unique_ptr<std::uint8_t, Free> bytes_;
  std::size_t size_ = 0;
};

}  // namespace rdmascope
