// Actions of phi functions on vectors, by the exponential of an augmented matrix.
#include "core/elementwise.hpp"
#include "core/instantiate.hpp"
#include "expm/action/methods.hpp"
#include "expm/thin/blocks.hpp"
#include "expm/thin/thin_products.hpp"
#include <heddle/expm/phi.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace heddle {
namespace impl {
namespace {

// The first `rows` rows of a block, and rows from there on.
template <class View> View upper_rows(const View& X, Index rows) {
  return View(X.data(), Kokkos::LayoutStride(static_cast<std::size_t>(rows), X.stride(0), X.extent(1), X.stride(1)));
}
template <class View> View lower_rows(const View& X, Index first) {
  const std::size_t rows = X.extent(0) - static_cast<std::size_t>(first);
  return View(X.data() + first * static_cast<Index>(X.stride(0)),
              Kokkos::LayoutStride(rows, X.stride(0), X.extent(1), X.stride(1)));
}

// Given A X in Y's upper rows, add W times the lower rows of X to them, and shift the lower rows up.
template <Scalar T>
void add_lower_rows(const ExecutionSpace& space, Index n, const MatrixView<const T>& W, const MatrixView<const T>& X,
                    const MatrixView<T>& Y) {
  const auto p = static_cast<Index>(W.extent(1));
  const Elements<const T> w(W);
  const Elements<const T> x(X);
  const Elements<T> y(Y);
  for_each_element(
      space, "heddle::phi::add_lower_rows", n + p, static_cast<Index>(X.extent(1)), KOKKOS_LAMBDA(Index i, Index j) {
        if (i >= n) {
          y(i, j) = i + 1 < n + p ? x(i + 1, j) : T(0);
          return;
        }
        T sum = y(i, j);
        for (Index k = 0; k < p; ++k) sum = heddle::multiply_add(w(i, k), x(n + k, j), sum);
        y(i, j) = sum;
      });
}

// W = the last columns of B from the last to the first, times a factor, and Z = [b_0; e_p / factor].
template <Scalar T>
void begin_blocks(const ExecutionSpace& space, Index n, Real<T> factor, const MatrixView<const T>& B,
                  const MatrixView<T>& W, const MatrixView<T>& Z) {
  const auto p = static_cast<Index>(W.extent(1));
  const Elements<const T> b(B);
  const Elements<T> w(W);
  const Elements<T> z(Z);
  for_each_element(
      space, "heddle::phi::begin", n + p, p + 1, KOKKOS_LAMBDA(Index i, Index j) {
        if (j < p && i < n) w(i, j) = factor * b(i, p - j);
        if (j == p) z(i, 0) = i < n ? b(i, 0) : i + 1 < n + p ? T(0) : T(Real<T>(1) / factor);
      });
}

// [A W; 0 J] from the products of A with blocks of n rows.
template <Scalar T> class AugmentedProducts {
 public:
  using Apply = typename ActionProblem<T>::Apply;

  AugmentedProducts(const ExecutionSpace& space, Index n, const MatrixView<const T>& W, Apply apply, Apply adjoint)
      : space_(space), n_(n), W_(W), apply_(std::move(apply)), adjoint_(std::move(adjoint)), columns_(space) {}

  [[nodiscard]] ExpmActionOperator<T> as_operator() {
    ExpmActionOperator<T> found{.n = n_ + static_cast<Index>(W_.extent(1))};
    found.apply = [this](const ExecutionSpace& /*space*/, const MatrixView<const T>& X, const MatrixView<T>& Y) {
      apply_(upper_rows(X, n_), upper_rows(Y, n_));
      add_lower_rows<T>(space_, n_, W_, X, Y);
    };
    if (adjoint_) {
      found.apply_adjoint = [this](const ExecutionSpace& /*space*/, const MatrixView<const T>& X,
                                   const MatrixView<T>& Y) {
        adjoint_(upper_rows(X, n_), upper_rows(Y, n_));
        multiply_lower_adjoint(X, Y);
      };
    }
    return found;
  }

 private:
  // The lower rows of Y: W^H times the upper rows of X, plus the lower ones shifted down. On the host: p numbers a
  // column.
  void multiply_lower_adjoint(const MatrixView<const T>& X, const MatrixView<T>& Y) {
    const auto p = W_.extent(1);
    const auto count = X.extent(1);
    const LocalMatrix<T> rows(Kokkos::view_alloc(space_, Kokkos::WithoutInitializing, "heddle::phi::rows"), p, count);
    add_scaled<T>(space_, T(1), lower_rows(X, n_), T(0), MatrixView<T>(rows));
    const auto host = Kokkos::create_mirror_view(Kokkos::HostSpace(), rows);
    Kokkos::deep_copy(space_, host, rows);
    for (std::size_t c = 0; c < count; ++c) {
      const MatrixView<const T> x(X.data() + c * X.stride(1),
                                  Kokkos::LayoutStride(static_cast<std::size_t>(n_), X.stride(0), 1, X.stride(1)));
      const std::vector<Wide<T>> sums = columns_.dots(W_, x);  // dots() blocks, so that `host` is complete too.
      for (std::size_t k = p; k-- > 0;) {
        host(k, c) = T(sums[k]) + (k > 0 ? host(k - 1, c) : T(0));
      }
    }
    Kokkos::deep_copy(space_, rows, host);
    add_scaled<T>(space_, T(1), MatrixView<const T>(rows), T(0), lower_rows(Y, n_));
    space_.fence("heddle::phi::adjoint");
  }

  ExecutionSpace space_;
  Index n_;
  MatrixView<const T> W_;
  Apply apply_;
  Apply adjoint_;
  BlockColumns<T> columns_;
};

template <Scalar T>
ExpmActionReport act_by_phis(const Communicator& comm, std::complex<double> time, Index rows, Index columns,
                             typename ActionProblem<T>::Apply apply, typename ActionProblem<T>::Apply adjoint,
                             const MatrixView<const T>& B, const MatrixView<T>& R, const ExpmActionOptions& options) {
  require(rows == columns, "phi_action: A is ", rows, " x ", columns, "; expected square");
  require(static_cast<Index>(B.extent(0)) == rows, "phi_action: B has ", B.extent(0), " rows; expected ", rows);
  require(B.extent(1) >= 1 && B.extent(1) <= static_cast<std::size_t>(largest_phi) + 1, "phi_action: B has ",
          B.extent(1), " columns for phi_0, phi_1 ...; expected 1 to ", largest_phi + 1);
  require(R.extent(0) == B.extent(0) && R.extent(1) == 1, "phi_action: R is ", R.extent(0), " x ", R.extent(1),
          "; expected ", B.extent(0), " x 1");
  require((B.size() == 0 || B.stride(0) == 1 || B.extent(0) == 1) &&
              (R.size() == 0 || R.stride(0) == 1 || R.extent(0) == 1),
          "phi_action: B and R must be column-major");
  require(options.structure == ExpmActionStructure::general && options.method != ExpmActionMethod::chebyshev &&
              !options.spectrum,
          "phi_action: the matrix with the vectors beside it is general: expected no structure, chebyshev or spectrum");
  const ExecutionSpace& space = comm.space();
  BlockColumns<T> sizes(space);
  double largest = 0.0;
  const std::vector<double> of_columns = rows > 0 ? sizes.largest(B) : std::vector<double>(B.extent(1));
  for (std::size_t k = 1; k < of_columns.size(); ++k) largest = std::max(largest, of_columns[k]);
  for (const double size : of_columns) {
    if (!std::isfinite(size)) throw Error(ErrorKind::computation, "phi_action: B holds NaN or Inf");
  }
  int exponent = 0;
  std::frexp(largest * static_cast<double>(rows), &exponent);
  // Both the factor and its reciprocal must be normal.
  exponent = std::clamp(exponent, std::numeric_limits<Real<T>>::min_exponent + 2,
                        std::numeric_limits<Real<T>>::max_exponent - 2);
  const std::size_t p = B.extent(1) - 1;
  const LocalMatrix<T> storage(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::phi::block"),
                               B.extent(0) + p, p + 1);
  const MatrixView<T> Z(storage.data() + p * (B.extent(0) + p),
                        Kokkos::LayoutStride(B.extent(0) + p, 1, 1, B.extent(0) + p));
  const MatrixView<T> W(storage.data(), Kokkos::LayoutStride(B.extent(0), 1, p, B.extent(0) + p));
  begin_blocks<T>(space, rows, static_cast<Real<T>>(std::ldexp(1.0, -exponent)), B, W, Z);
  AugmentedProducts<T> products(space, rows, MatrixView<const T>(W), std::move(apply), std::move(adjoint));
  ExpmActionReport report =
      ExpmActionPlan<T>(comm, options).execute(time, products.as_operator(), MatrixView<const T>(Z), Z);
  add_scaled<T>(space, T(1), MatrixView<const T>(upper_rows(Z, rows)), T(0), R);
  // The error is relative to all of Z, of which R is a part; for B = 0 the result R = 0 is exact.
  const bool nothing = std::all_of(of_columns.begin(), of_columns.end(), [](double size) { return size == 0.0; });
  if (!nothing && report.error > 0.0) {
    const double share = sizes.norms(MatrixView<const T>(Z)).front() / sizes.norms(MatrixView<const T>(R)).front();
    report.error = share >= 1.0 ? report.error * share : std::numeric_limits<double>::infinity();
  } else if (nothing) {
    report.error = 0.0;
  }
  space.fence("heddle::phi_action::end");
  return report;
}

}  // namespace
}  // namespace impl

template <Scalar T, Scalar Element>
  requires std::same_as<Element, T> || std::same_as<Element, Real<T>> ExpmActionReport
  phi_action(const Communicator& comm, std::complex<double> time, const DistributedMatrix<Element>& A,
             const MatrixView<const T>& B, const MatrixView<T>& R, const ExpmActionOptions& options) {
    return comm.together([&] {
      require(A.rows() == A.columns(), "phi_action: A is ", A.rows(), " x ", A.columns(), "; expected square");
      const Placement bands = Placement::row_bands(A.rows(), A.columns(), comm.size());
      DistributedMatrix<Element> mine = A;
      if (A.placement() != bands) {
        mine = DistributedMatrix<Element>(comm, bands, "heddle::phi::rows");
        redistribute(A, mine);
      }
      impl::ThinProducts<Element, T> products(comm, mine);
      if (!std::isfinite(products.largest())) {
        throw Error(ErrorKind::computation, "phi_action: A holds NaN or Inf");
      }
      return impl::act_by_phis<T>(
          comm, time, A.rows(), A.columns(),
          [&](const MatrixView<const T>& X, const MatrixView<T>& Y) { products.multiply(1, X, Y); },
          [&](const MatrixView<const T>& X, const MatrixView<T>& Y) { products.multiply_adjoint(1, X, Y); }, B, R,
          options);
    });
  }

template <Scalar T>
ExpmActionReport phi_action(const Communicator& comm, std::complex<double> time, const ExpmActionOperator<T>& A,
                            const MatrixView<const T>& B, const MatrixView<T>& R, const ExpmActionOptions& options) {
  return comm.together([&] {
    require(static_cast<bool>(A.apply), "phi_action: the operator has no apply");
    typename impl::ActionProblem<T>::Apply adjoint;
    if (A.apply_adjoint) {
      adjoint = [&](const MatrixView<const T>& X, const MatrixView<T>& Y) { A.apply_adjoint(comm.space(), X, Y); };
    }
    return impl::act_by_phis<T>(
        comm, time, A.n, A.n,
        [&](const MatrixView<const T>& X, const MatrixView<T>& Y) { A.apply(comm.space(), X, Y); }, adjoint, B, R,
        options);
  });
}

#define HEDDLE_INSTANTIATE_MATRIX(T, Element)                                                                     \
  template ExpmActionReport phi_action<T, Element>(const Communicator&, std::complex<double>,                     \
                                                   const DistributedMatrix<Element>&, const MatrixView<const T>&, \
                                                   const MatrixView<T>&, const ExpmActionOptions&)
#define HEDDLE_INSTANTIATE(T)                                                                                      \
  HEDDLE_INSTANTIATE_MATRIX(T, T);                                                                                 \
  template ExpmActionReport phi_action<T>(const Communicator&, std::complex<double>, const ExpmActionOperator<T>&, \
                                          const MatrixView<const T>&, const MatrixView<T>&, const ExpmActionOptions&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
HEDDLE_INSTANTIATE_MATRIX(Kokkos::complex<float>, float);
HEDDLE_INSTANTIATE_MATRIX(Kokkos::complex<double>, double);
#undef HEDDLE_INSTANTIATE
#undef HEDDLE_INSTANTIATE_MATRIX

}  // namespace heddle
