// Least squares by the QR factorization of a matrix with its columns scaled to one size.
#include "core/instantiate.hpp"
#include "core/memory/shared_storage.hpp"
#include "solve/grid/host_copy.hpp"
#include "solve/grid/over_ranks.hpp"
#include "solve/grid/over_rows.hpp"
#include "solve/qr/columns.hpp"
#include "solve/qr/engine.hpp"
#include "solve/system/equilibration.hpp"
#include "solve/system/residuals.hpp"
#include "solve/system/right_hand_sides.hpp"
#include "solve/system/solve_rounded.hpp"
#include "solve/system/system.hpp"
#include <heddle/exact/reduce.hpp>
#include <heddle/exact/vector.hpp>
#include <heddle/solve/qr.hpp>
#include <heddle/solve/solve.hpp>
#include <heddle/transpose/distributed.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

namespace heddle {
namespace impl {
namespace {

// The QR factorization of A, or, if it is wider than high, of its conjugate transpose, with columns scaled to one size.
template <Scalar T> struct ScaledQr {
  ScaledQr(const Communicator& comm, const DistributedMatrix<T>& A, const QrOptions& options)
      : is_wide(A.rows() < A.columns()),
        plan(comm, std::max(A.rows(), A.columns()), std::min(A.rows(), A.columns()), options),
        factors(comm, plan.placement(), "heddle::solve::qr_factors") {
    if (is_wide) {
      transpose(comm, T(1), A, Operation::conjugate_transpose, factors);
    } else {
      redistribute(A, factors);
    }
    const Kokkos::View<double*, MemorySpace> mine(
        Kokkos::view_alloc(comm.space(), Kokkos::WithoutInitializing, "heddle::solve::qr_powers"),
        factors.local().extent(1));
    scale_columns<T>(comm.space(), factors.local(), 0, mine);
    powers = on_every_rank<Added>(OptionalRanks(comm), factors.columns(), mine,
                                  [&](Index j) { return factors.global_column(j); });
    report = plan.execute(factors);
  }
  /// R, with zeros below its diagonal.
  [[nodiscard]] DistributedMatrix<T> triangle() const {
    const Communicator& comm = factors.communicator();
    const Index n = factors.columns();
    const DistributedMatrix<T> R(comm, placement_of_columns(n, factors.placement().column_axis()), "heddle::solve::R");
    take_triangle(comm.space(), factors.local(), factors.placement().column_axis(), comm.rank(), R.local());
    return R;
  }
  static void take_triangle(const ExecutionSpace& space, const MatrixView<T>& from, const CyclicAxis& columns, int rank,
                            const MatrixView<T>& to) {
    const Elements<T> source(from);
    const Elements<T> target(to);
    for_each_element(
        space, "heddle::solve::qr_triangle", static_cast<Index>(to.extent(0)), static_cast<Index>(to.extent(1)),
        KOKKOS_LAMBDA(Index i, Index j) { target(i, j) = i <= columns.global(rank, j) ? source(i, j) : T(0); });
  }
  /// The powers of two that A's columns (if A is wide, its rows) are multiplied by.
  [[nodiscard]] std::vector<Index> exponents() const {
    std::vector<Index> exponents(powers.size());
    std::transform(powers.begin(), powers.end(), exponents.begin(),
                   [](double power) { return -static_cast<Index>(power); });
    return exponents;
  }

  bool is_wide;
  QrPlan<T> plan;
  DistributedMatrix<T> factors;
  std::vector<double> powers;
  QrReport<T> report;
};

// Copy the first rows of a matrix, from `tall` into `flat` or the reverse with zeros below; their columns are placed
// alike.
template <Scalar T> void copy_first_rows(const DistributedMatrix<T>& from, const DistributedMatrix<T>& to) {
  const ExecutionSpace& space = from.communicator().space();
  const Index rows = std::min(from.rows(), to.rows());
  const auto columns = static_cast<Index>(to.local().extent(1));
  if (to.rows() > rows) fill(to, T(0));
  copy_elements<T>(space, "heddle::solve::first_rows", block_of<const T>(from.local(), 0, rows, 0, columns),
                   block_of<T>(to.local(), 0, rows, 0, columns));
}

// Return the 2-norms of rows [first, ...) of each column, times 2^-power of this rank's columns, on every rank.
template <Scalar T>
std::vector<double> norms_below(const DistributedMatrix<T>& C, Index first, const OfColumns& powers) {
  const Communicator& comm = C.communicator();
  std::vector<double> norms(static_cast<std::size_t>(C.columns()), 0.0);
  const auto columns = static_cast<Index>(C.local().extent(1));
  const auto power = host_copy(comm.space(), powers);
  for (Index j = 0; j < columns && first < C.rows(); ++j) {
    const auto below =
        Kokkos::subview(C.local(), Kokkos::pair<Index, Index>(first, static_cast<Index>(C.local().extent(0))), j);
    norms[static_cast<std::size_t>(C.global_column(j))] =
        times_power(static_cast<double>(exact::nrm2(comm.space(), below)), -power(static_cast<std::size_t>(j)));
  }
  comm.all_reduce(std::span<double>(norms), Reduction::sum);
  return norms;
}

template <Scalar T>
double condition_of(const Communicator& comm, const DistributedMatrix<T>& R, const FactorOptions& options) {
  // R solves as factors L = I and U = R.
  LuReport factors;
  for (Index k = 0; k < R.rows(); ++k) factors.pivots.push_back(k);
  return condition(comm, R, factors, static_cast<double>(norm(R, Norm::one)), options);
}

// The system of order m + n of which exact least squares, or a shortest solution, are a part.
template <Scalar T> class AugmentedSystem {
 public:
  // `size` is a power of two near the smallest singular value of A, scaled by columns (rows) times 2^`exponents`.
  AugmentedSystem(const DistributedMatrix<T>& A, Index size, const std::vector<Index>& exponents)
      : communicator_(A.communicator()),
        is_wide_(A.rows() < A.columns()),
        height_(std::max(A.rows(), A.columns())),
        order_(A.rows() + A.columns()),
        matrix_(OptionalRanks(communicator_), Placement::column_bands(order_, order_, communicator_.size()),
                "heddle::solve::augmented"),
        exponents_(static_cast<std::size_t>(height_), 0) {
    exponents_.insert(exponents_.end(), exponents.begin(), exponents.end());
    const DistributedMatrix<T> bands(
        communicator_, Placement::column_bands(A.rows(), A.columns(), communicator_.size()), "heddle::solve::bands");
    redistribute(A, bands);
    std::vector<std::vector<T>> columns;
    for (Index j = 0; j < A.columns(); ++j) columns.push_back(column_of<T>(bands, j));
    // Element (i, j) of the tall matrix, A or its conjugate transpose.
    const auto tall = [&](Index i, Index j) {
      return is_wide_ ? conjugate(columns[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)])
                      : columns[static_cast<std::size_t>(j)][static_cast<std::size_t>(i)];
    };
    for (Index j = 0; j < order_; ++j) {
      std::vector<T> column(static_cast<std::size_t>(order_), T(0));
      if (j < height_) {
        column[static_cast<std::size_t>(j)] = times_power_of_two(T(1), size);
        for (Index i = height_; i < order_; ++i) column[static_cast<std::size_t>(i)] = conjugate(tall(j, i - height_));
      } else {
        for (Index i = 0; i < height_; ++i) column[static_cast<std::size_t>(i)] = tall(i, j - height_);
      }
      set_column(matrix_, j, column);
    }
  }

  // Rounds x, the solution for b, as far as that is proven; both have blocks of whole columns, placed alike.
  [[nodiscard]] RoundingReport round(const DistributedMatrix<T>& b, const DistributedMatrix<T>& x,
                                     const FactorOptions& options) const {
    const Placement placement = placement_of_columns(order_, b.placement().column_axis());
    const PlacedMatrix<T> right(matrix_.ranks(), placement, "heddle::solve::augmented_right");
    const PlacedMatrix<T> solution(matrix_.ranks(), placement, "heddle::solve::augmented_solution");
    const Index begin = is_wide_ ? height_ : 0;
    for (Index j = 0; j < b.columns(); ++j) {
      std::vector<T> column(static_cast<std::size_t>(order_), T(0));
      const std::vector<T> given = column_of<T>(b, j);
      std::copy(given.begin(), given.end(), column.begin() + begin);
      set_column(right, j, column);
    }
    const Range rows = is_wide_ ? Range{0, height_} : Range{height_, order_};
    RoundingReport report = solve_rounded<T>(matrix_, right, solution, options, scaling(), rows);
    if (report.undecided < 0) return report;
    for (Index j = 0; j < x.columns(); ++j) {
      const std::vector<T> column = column_of(solution, j);
      set_column<T>(x, j, {column.begin() + rows.begin, column.begin() + rows.end});
    }
    if (report.undecided_row >= 0) report.undecided_row -= rows.begin;
    return report;
  }

 private:
  // A's columns (rows) have one size, then all rows and columns, as rows (columns) of A may have any.
  [[nodiscard]] Equilibration<T> scaling() const {
    const PlacedMatrix<T> scaled(matrix_.ranks(), matrix_.placement(), "heddle::solve::augmented_scaled");
    redistribute(matrix_, scaled);
    scale_by(scaled, exponents_, exponents_);
    return Equilibration<T>(scaled, false).after(exponents_);
  }

  Communicator communicator_;
  bool is_wide_;
  Index height_;
  Index order_;
  PlacedMatrix<T> matrix_;
  std::vector<Index> exponents_;
};

// Rounds x, the solution for b, as far as that is proven; R is that of A with columns (rows) scaled by `exponents`.
template <Scalar T>
RoundingReport round_least_squares(const DistributedMatrix<T>& A, const DistributedMatrix<T>& R,
                                   const std::vector<Index>& exponents, const DistributedMatrix<T>& b,
                                   const DistributedMatrix<T>& x, const FactorOptions& options) {
  double smallest = std::numeric_limits<double>::infinity();
  for (const T& entry : diagonal_of<T>(R)) smallest = std::min(smallest, part_size(entry));
  const Index size = std::max(std::ilogb(smallest), std::numeric_limits<Real<T>>::min_exponent / 2);
  const RoundingReport report = AugmentedSystem<T>(A, size, exponents).round(b, x, options);
  // If the smallest singular value is small as rows are, it should count twice: the rows that x depends on most then
  // have small residuals.
  return report.undecided >= 0 ? report : AugmentedSystem<T>(A, 2 * size, exponents).round(b, x, options);
}

template <Scalar T>
void require_least_squares(const DistributedMatrix<T>& A, const DistributedMatrix<T>& B, const DistributedMatrix<T>& X,
                           const LeastSquaresOptions& options) {
  require_qr_options("least_squares", A.rows(), A.columns(), options.qr);
  require_rows("least_squares", "B", B, A.rows());
  require(X.rows() == A.columns() && X.columns() == B.columns(), "least_squares: X is ", X.rows(), " x ", X.columns(),
          "; expected ", A.columns(), " x ", B.columns());
  require_apart("least_squares", "A", A.local(), "X", X.local());
  require_apart("least_squares", "B", B.local(), "X", X.local());
}

}  // namespace
}  // namespace impl

template <Scalar T>
LeastSquaresReport least_squares(const Communicator& comm, const DistributedMatrix<T>& A, const DistributedMatrix<T>& B,
                                 const DistributedMatrix<T>& X, const LeastSquaresOptions& options) {
  return comm.together([&] {
    std::vector<impl::Argument> arguments =
        impl::and_placements(impl::arguments_of(options.qr), A.placement(), B.placement());
    arguments.push_back(impl::argument("X", X.placement()));
    arguments.push_back(impl::argument("condition", options.condition));
    arguments.push_back(impl::argument("rounding", to_string(options.rounding)));
    impl::require_alike(comm, "least_squares", arguments, [&] {
      impl::require_same_ranks("least_squares", "A", A, comm);
      impl::require_same_ranks("least_squares", "B", B, comm);
      impl::require_same_ranks("least_squares", "X", X, comm);
      impl::require_least_squares(A, B, X, options);
    });
    const Kokkos::Profiling::ScopedRegion region("heddle::solve::least_squares");
    const auto start = std::chrono::steady_clock::now();
    LeastSquaresReport report;
    const impl::ScaledQr<T> factored(comm, A, options.qr);
    report.qr = factored.report;
    const FactorOptions triangular{.arithmetic = factored.report.arithmetic};
    if (report.qr.info == 0) {
      const CyclicAxis right = impl::right_hand_sides(B.columns(), comm.size());
      const DistributedMatrix<T> R = factored.triangle();
      const DistributedMatrix<T> b(comm, impl::placement_of_columns(B.rows(), right), "heddle::solve::b");
      const DistributedMatrix<T> x(comm, impl::placement_of_columns(X.rows(), right), "heddle::solve::x");
      redistribute(B, b);
      const std::vector<Index> scaled = factored.exponents();
      const auto none = [](const DistributedMatrix<T>& M) {
        return std::vector<Index>(static_cast<std::size_t>(M.rows()), 0);
      };
      // Sums over a column, and reflections, exceed its numbers by at most this power of two.
      const Index room = std::ilogb(static_cast<double>(std::max<Index>(b.rows(), 1))) + 8;
      const impl::OfColumns powers = impl::scale_right<T>(b, factored.is_wide ? scaled : none(b), {}, 0, room);
      if (factored.is_wide) {
        trsm(comm, Triangle::upper, Operation::conjugate_transpose, Diagonal::stored, R, b, triangular);
        impl::copy_first_rows(b, x);
        qr_multiply(comm, Operation::none, factored.factors, factored.report.tau, x, options.qr);
      } else {
        qr_multiply(comm, Operation::conjugate_transpose, factored.factors, factored.report.tau, b, options.qr);
        impl::copy_first_rows(b, x);
        trsm(comm, Triangle::upper, Operation::none, Diagonal::stored, R, x, triangular);
      }
      impl::scale_solution<T>(x, factored.is_wide ? none(x) : scaled, powers);
      report.residual_norms = impl::norms_below(b, X.rows(), powers);
      if (options.rounding == Rounding::correct) {
        redistribute(B, b);
        static_cast<RoundingReport&>(report) = impl::round_least_squares(A, R, scaled, b, x, triangular);
      }
      redistribute(x, X);
      comm.space().fence("heddle::solve::done");
      if (options.condition) report.condition = impl::condition_of(comm, R, triangular);
    }
    const double mine = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    report.seconds = comm.all_reduce(mine, Reduction::maximum);
    return report;
  });
}

#define HEDDLE_INSTANTIATE(T)                                                                            \
  template LeastSquaresReport least_squares<T>(const Communicator&, const DistributedMatrix<T>&,         \
                                               const DistributedMatrix<T>&, const DistributedMatrix<T>&, \
                                               const LeastSquaresOptions&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
