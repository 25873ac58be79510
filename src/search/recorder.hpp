// What a search says of itself while it runs: the times of its phases and the memory it takes.
#pragma once

#include "search/workspace.hpp"
#include <heddle/search/algorithm.hpp>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <utility>

namespace heddle::search::impl {

class SearchRecorder {
 public:
  /// `workspace`, from which arrays are taken, outlives it.
  SearchRecorder(Workspace& workspace, SearchReport& report, bool timed)
      : workspace_(workspace), report_(report), timed_(timed) {
    if (timed_) space().fence("heddle::search::phase");
    last_ = std::chrono::steady_clock::now();
  }
  /// What was done since the last call, or the beginning, is a phase. One that comes again adds to its time.
  void phase(const std::string& name) {
    if (!timed_) return;
    space().fence("heddle::search::phase");
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - last_).count();
    const auto found = std::find_if(report_.phases.begin(), report_.phases.end(),
                                    [&](const Phase& phase) { return phase.name == name; });
    if (found == report_.phases.end()) {
      report_.phases.push_back({name, seconds});
    } else {
      found->seconds += seconds;
    }
    last_ = now;
  }
  /// An uninitialised array, which counts until drop().
  template <class T> Kokkos::View<T*, MemorySpace> array(const std::string& label, Index size) {
    const Index bytes = size * static_cast<Index>(sizeof(T));
    hold(bytes);
    const Kokkos::View<T*, MemorySpace> made = workspace_.template take<T>(label, size);
    if (size > 0) arrays_[made.data()] = bytes;
    return made;
  }
  /// Gives an array back, of which `view` may be the beginning alone.
  template <class T> void drop(Kokkos::View<T*, MemorySpace>& view) {
    if (const auto found = arrays_.find(view.data()); found != arrays_.end()) {
      hold(-found->second);
      arrays_.erase(found);
    }
    view = {};
  }
  /// `now` took the place of the array `before`, which is given back.
  void replace(const void* before, const void* now) {
    if (before == now) return;
    if (auto node = arrays_.extract(before); !node.empty()) {
      node.key() = now;
      arrays_.insert(std::move(node));
    }
  }
  /// What something else takes, or gives back.
  void hold(Index bytes) {
    held_ += bytes;
    report_.memory = std::max(report_.memory, held_);
  }
  [[nodiscard]] const ExecutionSpace& space() const { return workspace_.space(); }
  [[nodiscard]] Workspace& workspace() const { return workspace_; }
  [[nodiscard]] SearchReport& report() { return report_; }

 private:
  Workspace& workspace_;
  SearchReport& report_;
  bool timed_;
  Index held_ = 0;
  std::map<const void*, Index> arrays_;  // Bytes.
  std::chrono::steady_clock::time_point last_;
};

}  // namespace heddle::search::impl
