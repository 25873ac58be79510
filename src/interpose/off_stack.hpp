// Large workspaces that are not on the stack, of which a program's thread may have little.
#pragma once

#include <memory>

namespace heddle::impl::interpose {

/// A T, not initialised, for as long as this lives; the thread keeps one for the next.
template <class T> class OffStack {
 public:
  OffStack() : the_(spare() ? std::move(spare()) : std::make_unique_for_overwrite<T>()) {}
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
