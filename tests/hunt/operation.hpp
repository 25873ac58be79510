// What the hunt asks of an operation: a drawing of hard inputs, and a run that judges what came out.
//
// A new operation is one file with two functions and a name in the list of operations.hpp: `draw` fills a Case from a
// Random, `run` computes it on every rank and tells a Verdict what it found. Arrays, integers and knobs of the case are
// all that `run` may depend on, so that a case can be shrunk and repeated; `run` must take whatever shrinking makes of
// them (extents of 0, knobs at their simple values). Runs are collective: every rank makes the same calls, and rank 0
// judges what is gathered there.
#pragma once

#include "hunt/case.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace heddle::hunt {

/// An instance of one thread, where the backend has threads: what is reproducible has the same bits there.
template <class Space = ExecutionSpace> Space one_thread() {
#if defined(KOKKOS_ENABLE_OPENMP)
  if constexpr (std::is_same_v<Space, Kokkos::OpenMP>) return Space(1);
#endif
  return Space();
}

/// The ranks; a communicator of each rank alone, and another on an instance of one thread.
struct World {
  Communicator all{MPI_COMM_WORLD};
  Communicator alone{MPI_COMM_SELF};
  Communicator single{MPI_COMM_SELF, one_thread()};
  [[nodiscard]] bool root() const { return all.rank() == 0; }
};

/// What a run found.
class Verdict {
 public:
  struct Failure {
    std::string property;
    std::string text;
  };

  /// error <= bound, where the bound is a promise of a header or a theorem; a NaN fails.
  void within(const std::string& property, double error, double bound, const std::string& text = {}) {
    const double share = error <= 0 ? 0.0 : error / bound;
    double& worst = worst_[property];
    worst = std::max(worst, std::isnan(share) ? std::numeric_limits<double>::infinity() : share);
    if (!(error <= bound)) {
      fail(property, "error " + shown(error) + ", bound " + shown(bound) + (text.empty() ? "" : ": ") + text);
    }
  }
  /// The shares of bounds that another one found.
  void take_shares(const Verdict& other) { worst_ = other.worst_; }
  /// A promise that holds or does not.
  void holds(const std::string& property, bool true_one, const std::string& text = {}) {
    if (!true_one) fail(property, text);
  }
  void fail(const std::string& property, const std::string& text) {
    if (std::none_of(failures_.begin(), failures_.end(), [&](const auto& old) { return old.property == property; })) {
      failures_.push_back({property, text});
    }
  }
  /// A number without a bound, of which the table at the end gives some quantiles.
  void observe(const std::string& name, double value) { observed_[name].push_back(value); }
  /// Nothing was judged: the reference was out of reach.
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

/// All of them.
[[nodiscard]] const std::vector<HuntedOperation>& operations();

/// "found X, expected Y at (i, j)".
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
/// Equal as numbers, part by part: NaN equals NaN, -0 equals 0.
template <class R> bool same_real(R x, R y) {
  return x == y || (std::isnan(x) && std::isnan(y));
}
template <Scalar T> bool same(const T& x, const T& y) {
  return same_real(Kokkos::real(x), Kokkos::real(y)) && same_real(Kokkos::imag(x), Kokkos::imag(y));
}
/// The first element in which two matrices differ, in words; empty where there is none.
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
/// The message of the Error that `work` throws, with its kind; nothing where it throws none.
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
