// Interface of an operation of the hunt: a drawing of hard inputs, and a run that judges the results.
//
// A new operation is one file with two functions and a name in the list of operations.hpp: `draw` fills a Case from a
// Random, `run` computes it on every rank and gives its findings to a Verdict. `run` may depend only on arrays,
// integers and knobs of the case, so that a case can be shrunk and repeated; it must accept every case that shrinking
// makes (extents of 0, knobs at their simple values). Runs are collective: every rank makes the same calls, and rank 0
// judges the gathered results.
#pragma once

#include "hunt/case.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace heddle::hunt {

/// Return a space with one thread, if the backend has threads: reproducible results have the same bits on it.
template <class Space = ExecutionSpace> Space one_thread() {
#if defined(KOKKOS_ENABLE_OPENMP)
  if constexpr (std::is_same_v<Space, Kokkos::OpenMP>) return Space(1);
#endif
  return Space();
}

/// The communicator of all ranks, one of each rank alone, and one with a space of one thread.
struct World {
  Communicator all{MPI_COMM_WORLD};
  Communicator alone{MPI_COMM_SELF};
  Communicator single{MPI_COMM_SELF, one_thread()};
  [[nodiscard]] bool root() const { return all.rank() == 0; }
};

/// The findings of a run.
class Verdict {
 public:
  struct Failure {
    std::string property;
    std::string text;
  };

  /// Require error <= bound, the promise of a header or a theorem; a NaN fails.
  void within(const std::string& property, double error, double bound, const std::string& text = {}) {
    const double share = error <= 0 ? 0.0 : error / bound;
    double& worst = worst_[property];
    worst = std::max(worst, std::isnan(share) ? std::numeric_limits<double>::infinity() : share);
    if (!(error <= bound)) {
      fail(property, "error " + shown(error) + ", bound " + shown(bound) + (text.empty() ? "" : ": ") + text);
    }
  }
  /// Take over the shares of bounds in another verdict.
  void take_shares(const Verdict& other) { worst_ = other.worst_; }
  /// Require a promise to hold.
  void holds(const std::string& property, bool true_one, const std::string& text = {}) {
    if (!true_one) fail(property, text);
  }
  void fail(const std::string& property, const std::string& text) {
    if (std::none_of(failures_.begin(), failures_.end(), [&](const auto& old) { return old.property == property; })) {
      failures_.push_back({property, text});
    }
  }
  /// Record a number without a bound; the table at the end gives quantiles.
  void observe(const std::string& name, double value) { observed_[name].push_back(value); }
  /// Record that nothing was judged, since the reference was out of reach.
  void skip() { skipped_ = true; }

  [[nodiscard]] const std::vector<Failure>& failures() const { return failures_; }
  [[nodiscard]] const std::map<std::string, double>& worst() const { return worst_; }
  [[nodiscard]] const std::map<std::string, std::vector<double>>& observed() const { return observed_; }
  [[nodiscard]] bool skipped() const { return skipped_; }

 private:
  std::vector<Failure> failures_;
  std::map<std::string, double> worst_;
  std::map<std::string, std::vector<double>> observed_;
  bool skipped_ = false;
};

struct HuntedOperation {
  const char* name;
  void (*draw)(Random& random, Case& drawn);
  void (*run)(const World& world, const Case& one, Verdict& verdict);
};

/// Return all operations.
[[nodiscard]] const std::vector<HuntedOperation>& operations();

/// Return "found X, expected Y at (i, j)".
template <Scalar T> std::string told(Index i, Index j, const T& found, const std::string& expected) {
  return "at (" + std::to_string(i) + ", " + std::to_string(j) + ") found " + shown(test::widen(found)) +
         ", expected " + expected;
}
template <Scalar T> std::string told(Index i, Index j, const T& found, const T& expected) {
  return told(i, j, found, shown(test::widen(expected)));
}
template <Scalar T> bool is_finite(const T& x) {
  return std::isfinite(static_cast<double>(Kokkos::real(x))) && std::isfinite(static_cast<double>(Kokkos::imag(x)));
}
inline bool is_finite(const Array& array) {
  return std::all_of(array.values.begin(), array.values.end(),
                     [](const Value& x) { return std::isfinite(x.real()) && std::isfinite(x.imag()); });
}
/// Return whether numbers are equal, part by part: NaN equals NaN, -0 equals 0.
template <class R> bool same_real(R x, R y) {
  return x == y || (std::isnan(x) && std::isnan(y));
}
template <Scalar T> bool same(const T& x, const T& y) {
  return same_real(Kokkos::real(x), Kokkos::real(y)) && same_real(Kokkos::imag(x), Kokkos::imag(y));
}
/// Describe the first element in which two matrices differ; empty if they are equal.
template <Scalar T> std::string difference(const HostMatrix<T>& found, const HostMatrix<T>& expected) {
  if (found.extent(0) != expected.extent(0) || found.extent(1) != expected.extent(1)) return "shapes differ";
  for (std::size_t j = 0; j < found.extent(1); ++j) {
    for (std::size_t i = 0; i < found.extent(0); ++i) {
      if (!same(found(i, j), expected(i, j))) {
        return told<T>(static_cast<Index>(i), static_cast<Index>(j), found(i, j), expected(i, j));
      }
    }
  }
  return {};
}
/// The message and kind of the Error that `work` throws; empty if it throws none.
struct Thrown {
  bool any = false;
  ErrorKind kind = ErrorKind::argument;
  std::string message;
};
template <class Work> Thrown thrown_by(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    return {true, error.kind(), error.what()};
  }
  return {};
}

}  // namespace heddle::hunt
