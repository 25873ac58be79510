// Recorder of a search's report: the times of its phases and the memory it takes.
#pragma once

#include "search/duplicates/workspace.hpp"
#include <heddle/search/algorithm.hpp>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <utility>

namespace heddle::search::impl {

class SearchRecorder {
 public:
  /// `workspace`, the source of arrays, must outlive it.
  SearchRecorder(Workspace& workspace, SearchReport& report, bool timed)
      : workspace_(workspace), report_(report), timed_(timed) {
    if (timed_) space().fence("heddle::search::phase");
    last_ = std::chrono::steady_clock::now();
  }
  /// Ends a phase that began at the last call or the constructor. A repeated name adds to its time.
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
  /// Returns an uninitialised array, whose memory counts until drop().
  template <class T> Kokkos::View<T*, MemorySpace> array(const std::string& label, Index size) {
    const Index bytes = size * static_cast<Index>(sizeof(T));
    hold(bytes);
    const Kokkos::View<T*, MemorySpace> made = workspace_.template take<T>(label, size);
    if (size > 0) arrays_[made.data()] = bytes;
    return made;
  }
  /// Gives back an array; `view` may be only its beginning.
  template <class T> void drop(Kokkos::View<T*, MemorySpace>& view) {
    if (const auto found = arrays_.find(view.data()); found != arrays_.end()) {
      hold(-found->second);
      arrays_.erase(found);
    }
    view = {};
  }
  /// Records that array `now` replaced `before`, which is given back.
  void replace(const void* before, const void* now) {
    if (before == now) return;
    if (auto node = arrays_.extract(before); !node.empty()) {
      node.key() = now;
      arrays_.insert(std::move(node));
    }
  }
  /// Counts bytes that something else takes, or (negative) gives back.
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
  std::map<const void*, Index> arrays_;  // Bytes of each array.
  std::chrono::steady_clock::time_point last_;
};

}  // namespace heddle::search::impl
