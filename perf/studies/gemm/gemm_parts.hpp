// A complex product as four real ones, equation (4) of Choi and Stegailov, each part of each matrix whole on one rank.
#pragma once

#include <heddle/dist/split_matrix.hpp>
#include <heddle/gemm/gemm.hpp>

#include <array>
#include <vector>

namespace heddle::driver {

/// The parts of complex matrices with C = A B: those of C, B and A on ranks 0 to 5, round-robin if ranks are fewer.
template <RealScalar R> struct ProductParts {
  using Complex = DistributedMatrix<Kokkos::complex<R>>;
  SplitMatrix<R> A, B, C;

  /// Collective.
  ProductParts(const Complex& from_a, const Complex& from_b, const Complex& from_c)
      : A(spread(from_a, 4)), B(spread(from_b, 2)), C(spread(from_c, 0)) {}

 private:
  static SplitMatrix<R> spread(const Complex& X, int first) {
    const Communicator& comm = X.communicator();
    const SplitMatrix<R> parts = split(X);
    const auto moved = [&](const DistributedMatrix<R>& part, int rank) {
      const DistributedMatrix<R> result(comm, Placement::on_rank(X.rows(), X.columns(), rank % comm.size()), "part");
      redistribute(part, result);
      return result;
    };
    return {moved(*parts.real, first), moved(*parts.imaginary, first + 1)};
  }
};

/// The four products, one after the other, with one tile.
template <RealScalar R> class PartsPlan {
 public:
  /// Collective. The tile is options.tile, or the one chosen for the first product.
  PartsPlan(const Communicator& comm, const ProductParts<R>& parts, GemmOptions options)
      : steps_{{{*parts.A.real, *parts.B.real, *parts.C.real, R(1), R(0)},
                {*parts.A.imaginary, *parts.B.imaginary, *parts.C.real, R(-1), R(1)},
                {*parts.A.real, *parts.B.imaginary, *parts.C.imaginary, R(1), R(0)},
                {*parts.A.imaginary, *parts.B.real, *parts.C.imaginary, R(1), R(1)}}} {
    for (const Step& step : steps_) {
      plans_.emplace_back(comm, Operation::none, step.A.placement(), Operation::none, step.B.placement(),
                          step.C.placement(), options);
      options.tile = plans_.front().tile();
    }
  }

  /// Collective. Times, bytes and flops are those of all four.
  GemmReport execute() {
    timeline_.clear();
    GemmReport all;
    for (std::size_t k = 0; k < steps_.size(); ++k) {
      const Step& step = steps_[k];
      const GemmReport one = plans_[k].execute(step.alpha, step.A, step.B, step.beta, step.C);
      for (TimelineInterval interval : plans_[k].timeline()) {
        interval.begin += all.seconds;
        interval.end += all.seconds;
        timeline_.push_back(interval);
      }
      if (k == 0) {
        all = one;
        continue;
      }
      const double flops = all.gflops * all.seconds + one.gflops * one.seconds;
      all.products += one.products;
      all.seconds += one.seconds;
      all.gflops = flops / all.seconds;
      if (all.predicted_seconds) *all.predicted_seconds += one.predicted_seconds.value_or(0.0);
      all.bytes_received += one.bytes_received;
      all.bytes_between_nodes += one.bytes_between_nodes;
      all.wait_seconds += one.wait_seconds;
    }
    return all;
  }
  /// Returns the timelines of the four products of the last execute() on this rank, one after the other.
  [[nodiscard]] const Timeline& timeline() const { return timeline_; }

 private:
  struct Step {
    DistributedMatrix<R> A, B, C;
    R alpha, beta;
  };
  std::array<Step, 4> steps_;
  std::vector<GemmPlan<R>> plans_;
  Timeline timeline_;
};

}  // namespace heddle::driver
