// The table of `heddle study jacobi`.
#pragma once

#include "studies/table.hpp"
#include <heddle/core/scalar.hpp>

#include <nlohmann/json.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace heddle::driver {

struct JacobiRow {
  std::string device;   ///< As device_of() names it.
  std::string scalar;   ///< As --scalar names it.
  std::string matrix;   ///< As --generate names it.
  std::string backend;  ///< "serial": one thread of a CPU; "openmp", "cuda", "hip".
  int processors = 1;   ///< p: threads, or multiprocessors.
  std::string method;
  Index order = 0;
  double seconds = 0;  ///< t_p
  int sweeps = 0;
  Index rotations = 0;
  double residual = 0;  ///< EigenErrors::residual
  /// Largest |w_i - w'_i| / max |w'|; the library computes w' from the same matrix in double with reproducible bits,
  /// the same numbers for every implementation that is compared.
  double deviation = 0;
  // The next four need the time of the cyclic order on one thread, t_s:
  std::optional<double> speed_up;      ///< S = t_s/t_p
  std::optional<double> acceleration;  ///< (S - 1) 100 %
  std::optional<double> cost;          ///< p t_p
  std::optional<double> efficiency;    ///< 100 S/p %
  /// Speed-up over the same method on one thread.
  std::optional<double> own_speed_up;
};

/// Names the columns of JacobiRow's members.
[[nodiscard]] const StudyTable& jacobi_table();

/// Fill in the values that follow from the serial rows.
void derive(std::vector<JacobiRow>& rows);

/// Write the table of `rows` and then of lines of other tables, without measurements that are among `rows`: those of
/// one thread may come from a table that is joined, too.
void write_rows(const std::filesystem::path& path, const std::vector<JacobiRow>& rows,
                const std::vector<std::string>& joined);

/// Return the serial rows of a table. Throws Error(input), naming the file, if it is no such table or has none of this
/// matrix and scalar type.
[[nodiscard]] std::vector<JacobiRow> read_serial_rows(const std::filesystem::path& path, const std::string& matrix,
                                                      const std::string& scalar);

[[nodiscard]] nlohmann::ordered_json as_json(const JacobiRow& row);

}  // namespace heddle::driver
