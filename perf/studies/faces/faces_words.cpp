// Output of `heddle study faces` for people: tables of phases, numberings and threads.
#include "drivers/support/process/text.hpp"
#include "studies/faces/faces_table.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace heddle::driver {
namespace {

// Medians at one size, by label, numbering and threads.
class Found {
 public:
  explicit Found(const std::vector<FacesMedian>& medians) : medians_(medians) {
    const auto enter = [](auto& list, const auto& value) {
      if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
    };
    for (const FacesMedian& one : medians) {
      enter(labels_, one.row.label());
      enter(numberings_, one.row.numbering);
      threads_.insert(one.row.threads);
    }
    for (const std::string& label : labels_) {
      Index largest = 0;
      for (const FacesMedian& one : medians) {
        if (one.row.label() == label) largest = std::max(largest, one.row.cubes);
      }
      cubes_ = cubes_ == 0 ? largest : std::min(cubes_, largest);
    }
  }
  [[nodiscard]] const std::vector<std::string>& labels() const { return labels_; }
  [[nodiscard]] const std::vector<std::string>& numberings() const { return numberings_; }
  [[nodiscard]] const std::set<int>& threads() const { return threads_; }
  [[nodiscard]] const FacesMedian* of(const std::string& label, const std::string& numbering, int threads) const {
    for (const FacesMedian& one : medians_) {
      if (one.row.label() == label && one.row.numbering == numbering && one.row.cubes == cubes_ &&
          one.row.threads == threads) {
        return &one;
      }
    }
    return nullptr;
  }
  /// Return the median with the most threads.
  [[nodiscard]] const FacesMedian* of(const std::string& label, const std::string& numbering) const {
    return of(label, numbering, *threads_.rbegin());
  }

 private:
  const std::vector<FacesMedian>& medians_;
  std::vector<std::string> labels_;
  std::vector<std::string> numberings_;
  std::set<int> threads_;
  Index cubes_ = 0;  // Largest size that all methods ran at.
};

void say_phases(const Context& context, const std::vector<FacesMedian>& medians, const Found& found, int width) {
  std::vector<std::string> phases;
  for (const char* name :
       {"inspect", "prepare", "hash", "sort", "fight", "find", "count", "scatter", "buckets", "list"}) {
    const bool there = std::any_of(medians.begin(), medians.end(),
                                   [&](const FacesMedian& one) { return seconds_of(one.row, name).has_value(); });
    if (there) phases.emplace_back(name);
  }
  const std::string& numbering = found.numberings().front();
  const FacesMedian& any = *found.of(found.labels().front(), numbering);
  context.say(format("seconds of each phase: %lld cells, %s numbering, medians of %d trial%s",
                     static_cast<long long>(any.row.cells), numbering.c_str(), any.trials, any.trials == 1 ? "" : "s"));
  std::string line = format("%-*s", width, "algorithm+hash");
  for (const std::string& phase : phases) line += format(" %8s", phase.c_str());
  context.say(line + format(" %8s", "total"));
  for (const std::string& label : found.labels()) {
    const FacesMedian* one = found.of(label, numbering);
    if (one == nullptr) continue;
    line = format("%-*s", width, label.c_str());
    for (const std::string& phase : phases) {
      const auto seconds = seconds_of(one->row, phase);
      line += seconds ? format(" %8.2g", *seconds) : format(" %8s", "-");
    }
    context.say(line + format(" %8.3g", one->row.seconds));
  }
}

void say_numberings(const Context& context, const std::vector<FacesMedian>& medians, const Found& found, int width) {
  const bool counted =
      std::any_of(medians.begin(), medians.end(), [](const FacesMedian& one) { return !!one.row.cache_misses; });
  context.say("");
  context.say(format("%-*s %-10s %10s %12s %13s %6s %6s %12s", width, "algorithm+hash", "mesh", "seconds", "Mcells/s",
                     "collisions", "iter.", "passes", "bytes/face") +
              (counted ? "  misses/face" : ""));
  for (const std::string& label : found.labels()) {
    for (const std::string& numbering : found.numberings()) {
      const FacesMedian* one = found.of(label, numbering);
      if (one == nullptr) continue;
      const FacesRow& row = one->row;
      const auto faces = static_cast<double>(std::max<Index>(row.faces, 1));
      std::string line =
          format("%-*s %-10s %10.3g %12.3g %13lld %6d %6d %12.1f", width, label.c_str(), numbering.c_str(), row.seconds,
                 static_cast<double>(row.cells) / row.seconds / 1e6, static_cast<long long>(row.collisions),
                 row.iterations, row.passes, static_cast<double>(row.memory) / faces);
      if (row.cache_misses) line += format("  %11.3g", static_cast<double>(*row.cache_misses) / faces);
      context.say(line);
    }
  }
}

void say_threads(const Context& context, const Found& found, int width) {
  context.say("");
  std::string line = format("%-*s %-10s", width, "seconds with threads:", "mesh");
  for (const int threads : found.threads()) line += format(" %9d", threads);
  context.say(line + "   speed-up");
  for (const std::string& label : found.labels()) {
    for (const std::string& numbering : found.numberings()) {
      line = format("%-*s %-10s", width, label.c_str(), numbering.c_str());
      const FacesMedian* fewest = nullptr;
      const FacesMedian* most = nullptr;
      for (const int threads : found.threads()) {
        const FacesMedian* one = found.of(label, numbering, threads);
        line += one == nullptr ? format(" %9s", "-") : format(" %9.3g", one->row.seconds);
        if (fewest == nullptr) fewest = one;
        if (one != nullptr) most = one;
      }
      if (most == nullptr) continue;
      context.say(line + format("   %8.3g", fewest->row.seconds / most->row.seconds));
    }
  }
}

}  // namespace

void say_faces_tables(const Context& context, const std::vector<FacesMedian>& medians) {
  if (medians.empty()) return;
  const Found found(medians);
  std::size_t width = 21;
  for (const std::string& label : found.labels()) width = std::max(width, label.size());
  say_phases(context, medians, found, static_cast<int>(width));
  say_numberings(context, medians, found, static_cast<int>(width));
  if (found.threads().size() > 1) say_threads(context, found, static_cast<int>(width));
}

}  // namespace heddle::driver
