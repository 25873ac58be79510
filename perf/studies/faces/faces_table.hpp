// The table of `heddle study faces`, and what is said of it.
#pragma once

#include "drivers/support/context.hpp"
#include <heddle/search/algorithm.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace heddle::driver {

/// One run.
struct FacesRow {
  std::string backend;    ///< "serial", "openmp", "cuda", "hip".
  std::string device;     ///< "2 CPU threads", a GPU's name.
  int threads = 0;        ///< CPU threads that searched; 0 on a GPU.
  std::string method;     ///< Algorithm, and hash function where it has one: "sort+fnv1a", "partition".
  std::string sorting;    ///< "radix" or "merge"; empty: the method does not sort.
  std::string numbering;  ///< "regular", "randomised".
  Index cubes = 0;        ///< Along each axis.
  Index cells = 0;
  Index faces = 0;
  Index external = 0;
  int trial = 0;
  double seconds = 0;
  Index collisions = 0;
  int iterations = 0;
  int passes = 0;
  Index memory = 0;                   ///< Bytes.
  std::optional<Index> cache_misses;  ///< Empty if they were not counted.
  std::string digest;                 ///< SHA-256 of the external faces.
  std::vector<search::Phase> phases;

  /// For people: "sort+fnv1a", "sort+fnv1a (merge)".
  [[nodiscard]] std::string label() const { return method + (sorting == "merge" ? " (merge)" : ""); }
};

/// Return the seconds of a phase; empty if the run lacks it.
[[nodiscard]] std::optional<double> seconds_of(const FacesRow& row, const std::string& phase);

void write_faces_rows(const std::filesystem::path& path, const std::vector<FacesRow>& rows);

/// Throws Error(input), naming file and line, unless the file is such a table.
[[nodiscard]] std::vector<FacesRow> read_faces_rows(const std::filesystem::path& path);

/// Medians over the trials of one method, numbering, size and number of threads.
struct FacesMedian {
  FacesRow row;  ///< The run with the median of the times; the phases are separate medians.
  int trials = 0;
};
[[nodiscard]] std::vector<FacesMedian> medians_of(const std::vector<FacesRow>& rows);

/// Tables for people, at the largest size that all methods ran at: phases, and the numberings beside each other, both
/// with the most threads; and where several numbers of threads ran, these beside each other.
void say_faces_tables(const Context& context, const std::vector<FacesMedian>& medians);

[[nodiscard]] nlohmann::ordered_json as_json(const FacesMedian& median);

}  // namespace heddle::driver
