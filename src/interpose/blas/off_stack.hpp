// Large workspaces that are not on the stack, of which a program's thread may have little.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace heddle::impl::interpose {

/// A T, not initialised, for as long as this lives; the thread keeps one for the next.
template <class T> class OffStack {
 public:
  OffStack() : the_(spare() ? std::move(spare()) : std::make_unique_for_overwrite<T>()) {}
  /// The same, constructed from these arguments.
  template <class... Arguments> explicit OffStack(std::in_place_t /*anew*/, Arguments&&... arguments) : OffStack() {
    static_assert(std::is_trivially_destructible_v<T>);
    std::construct_at(the_.get(), std::forward<Arguments>(arguments)...);
  }
  ~OffStack() { spare() = std::move(the_); }
  OffStack(const OffStack&) = delete;
  OffStack& operator=(const OffStack&) = delete;
  T& operator*() const { return *the_; }
  T* operator->() const { return the_.get(); }

 private:
  static std::unique_ptr<T>& spare() {
    thread_local std::unique_ptr<T> the;
    return the;
  }
  std::unique_ptr<T> the_;
};

}  // namespace heddle::impl::interpose
