// A list of unknown length that grows without being copied.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

namespace heddle::impl {

template <class T> class Chunks {
 public:
  void append(T value) {
    if (size_ == chunks_.size() * each) chunks_.push_back(std::make_unique_for_overwrite<T[]>(each));
    chunks_.back()[size_ % each] = value;
    ++size_;
  }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  /// Moves all of it to where there is room for it, giving chunks back on the way.
  void move_to(T* to) {
    for (auto& chunk : chunks_) {
      to = std::copy_n(chunk.get(), std::min(size_, each), to);
      size_ -= std::min(size_, each);
      chunk.reset();
    }
    chunks_.clear();
  }

 private:
  static constexpr std::size_t each = std::size_t{1} << 17;
  std::vector<std::unique_ptr<T[]>> chunks_;
  std::size_t size_ = 0;
};

}  // namespace heddle::impl
