// Cache of plans that calls of the Python module reuse.
#include "plans.hpp"

#include "module.hpp"

#include <algorithm>

namespace heddle::python {

// Never destroyed, as what is in it is released when heddle ends.
PlanStore& PlanStore::get() {
  static auto* const the = new PlanStore;
  return *the;
}

std::shared_ptr<void> PlanStore::take(const std::type_info& type, const std::string& key) {
  const auto found =
      std::find_if(kept_.begin(), kept_.end(), [&](const Kept& one) { return *one.type == type && one.key == key; });
  if (found == kept_.end()) return nullptr;
  std::shared_ptr<void> plan = std::move(found->plan);
  kept_.erase(found);
  return plan;
}

void PlanStore::give(const std::type_info& type, const std::string& key, std::size_t bytes,
                     std::shared_ptr<void> plan) {
  if (bytes > most_bytes) return;
  kept_.push_front({&type, key, bytes, std::move(plan)});
  std::size_t sum = 0;
  std::size_t plans = 0;
  const auto last = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& one) {
    sum += one.bytes;
    return ++plans > most_plans || sum > most_bytes;
  });
  kept_.erase(last, kept_.end());
}

void bind_plans(nb::module_& module) {
  module.def("release_memory", [] {
    if (!running()) return;
    const WithoutGil released;
    const Turn turn;
    PlanStore::get().clear();
  });
}

}  // namespace heddle::python
