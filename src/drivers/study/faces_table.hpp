// The table of `heddle study faces`, and what is said of it.
#pragma once

#include "drivers/support/context.hpp"
#include <heddle/search/algorithm.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace heddle::driver {

/// One run.
struct FacesRow {
  std::string backend;    ///< "serial", "openmp", "cuda", "hip".
  std::string device;     ///< "2 CPU threads", a GPU's name.
  std::string method;     ///< Algorithm, and hash function where it has one: "sort+fnv1a", "partition".
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
  Index memory = 0;    ///< Bytes.
  std::string digest;  ///< SHA-256 of the external faces.
  std::vector<search::Phase> phases;
};

void write_faces_rows(const std::filesystem::path& path, const std::vector<FacesRow>& rows);

/// Throws Error(input), naming file and line, for what is no such table.
[[nodiscard]] std::vector<FacesRow> read_faces_rows(const std::filesystem::path& path);

/// Medians over the trials of one method, numbering and size.
struct FacesMedian {
  FacesRow row;  ///< The run with the median of the times; its phases are medians of their own.
  int trials = 0;
};
[[nodiscard]] std::vector<FacesMedian> medians_of(const std::vector<FacesRow>& rows);

/// Two tables for people, at the largest size that all methods ran at: phases, and the numberings beside each other.
void say_faces_tables(const Context& context, const std::vector<FacesMedian>& medians);

[[nodiscard]] nlohmann::ordered_json as_json(const FacesMedian& median);

}  // namespace heddle::driver
