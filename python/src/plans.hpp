// Plans that calls leave for the next call of the same shape and options.
#pragma once

#include "runtime.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace heddle::python {

/// The values, none of which has padding, as a key: equal for equal bits alone.
template <class... Values> [[nodiscard]] std::string key_of(const Values&... values) {
  std::string key;
  const auto add = [&](const auto& value) {
    const auto bytes = std::bit_cast<std::array<char, sizeof(value)>>(value);
    key.append(bytes.data(), bytes.size());
  };
  (add(values), ...);
  return key;
}

/// A call that makes a plan for itself takes some milliseconds on a GPU, most of it for memory. So plans stay for the
/// next call that asks for the same, the latest ones, as long as their memory is small beside a device's. A plan serves
/// one call at a time, and is gone where that call fails.
class PlanStore : public Resource {
 public:
  /// Limits: number of plans, and bytes of all of them.
  static constexpr std::size_t most_plans = 8;
  static constexpr std::size_t most_bytes = std::size_t{512} << 20U;

  using Progress = std::function<void(int done, int total)>;

  static PlanStore& get();

  /// work(plan) with the plan of this type and key that is there, or the one of make(), which may be given a hook of
  /// progress for its options: it calls `progress` of the call that uses the plan. `bytes`, by a bound, is what the
  /// plan holds. Under a Turn.
  template <class Plan, class Make, class Work>
  auto with(const std::string& key, std::size_t bytes, const Make& make, Progress progress, const Work& work) {
    std::shared_ptr<void> kept = take(typeid(Plan), key);
    if (!kept) kept = std::make_shared<Hooked<Plan>>(make);
    auto& hooked = *static_cast<Hooked<Plan>*>(kept.get());
    *hooked.current = std::move(progress);
    auto result = work(hooked.plan);
    *hooked.current = nullptr;
    give(typeid(Plan), key, bytes, std::move(kept));
    return result;
  }
  /// Lets all plans go. Under a Turn.
  void clear() { kept_.clear(); }
  void release() override { clear(); }

 private:
  template <class Plan> struct Hooked {
    template <class Make>
    explicit Hooked(const Make& make)
        : current(std::make_shared<Progress>()), plan(make(Progress([held = current](int done, int total) {
            if (*held) (*held)(done, total);
          }))) {}
    std::shared_ptr<Progress> current;
    Plan plan;
  };
  struct Kept {
    const std::type_info* type;
    std::string key;
    std::size_t bytes;
    std::shared_ptr<void> plan;
  };

  PlanStore() { register_complete(); }

  [[nodiscard]] std::shared_ptr<void> take(const std::type_info& type, const std::string& key);
  void give(const std::type_info& type, const std::string& key, std::size_t bytes, std::shared_ptr<void> plan);

  std::list<Kept> kept_;  // The latest first.
};

}  // namespace heddle::python
