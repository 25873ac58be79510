// The pencils of `heddle eig --overlap`: H C = S C diag(w), solved and judged.
#include "drivers/eig/pencil.hpp"

#include "drivers/eig/matrices.hpp"
#include "drivers/support/options/scalars.hpp"
#include "drivers/support/repeats.hpp"
#include <heddle/blas/blas.hpp>
#include <heddle/core/strided.hpp>

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace heddle::driver {
namespace {

// Scalar type in which errors are computed.
template <Scalar T> using InDouble = std::conditional_t<is_complex<T>, Kokkos::complex<double>, double>;

template <Scalar T> InDouble<T> widened(const T& x, int exponent) {
  if constexpr (is_complex<T>) {
    return {std::ldexp(static_cast<double>(x.real()), exponent), std::ldexp(static_cast<double>(x.imag()), exponent)};
  } else {
    return std::ldexp(static_cast<double>(x), exponent);
  }
}

// Element (i, j) times 2^(rows[i] + columns[j]).
template <Scalar T>
HostMatrix<InDouble<T>> in_double(const HostMatrix<T>& A, const std::vector<int>& rows,
                                  const std::vector<int>& columns) {
  HostMatrix<InDouble<T>> scaled("heddle::driver::in_double", A.extent(0), A.extent(1));
  for (std::size_t j = 0; j < A.extent(1); ++j) {
    for (std::size_t i = 0; i < A.extent(0); ++i) scaled(i, j) = widened<T>(A(i, j), rows[i] + columns[j]);
  }
  return scaled;
}

template <Scalar W> double length(const W* x, std::size_t count) {
  double sum = 0;
  for (std::size_t k = 0; k < count; ++k) {
    const auto size = static_cast<double>(Kokkos::abs(x[k]));
    sum += size * size;
  }
  return std::sqrt(sum);
}

template <Scalar W>
HostMatrix<W> host_product(const ExecutionSpace& space, Operation of_A, const LocalMatrix<W>& A,
                           const LocalMatrix<W>& B) {
  const LocalMatrix<W> C("heddle::driver::product", A.extent(0), A.extent(0));
  blas::gemm<W>(blas::Context(space), of_A, Operation::none, W(1), A, B, W(0), C);
  HostMatrix<W> host("heddle::driver::host", C.extent(0), C.extent(1));
  space.fence("heddle::driver::product");
  Kokkos::deep_copy(flat(host), flat(C));
  return host;
}

template <Scalar T> int exponent_of_largest(const HostMatrix<T>& H, const std::vector<int>& down) {
  int most = -4000;
  for (std::size_t j = 0; j < H.extent(1); ++j) {
    for (std::size_t i = 0; i < H.extent(0); ++i) {
      const double size = static_cast<double>(Kokkos::abs(widened<T>(H(i, j), 0)));
      if (size > 0) most = std::max(most, std::ilogb(size) + down[i] + down[j]);
    }
  }
  return most == -4000 ? 0 : most;
}

}  // namespace

template <Scalar T>
EigenErrors pencil_errors(const ExecutionSpace& space, const HostMatrix<T>& H, const HostMatrix<T>& S,
                          const std::vector<Real<T>>& w, const HostMatrix<T>& C) {
  using W = InDouble<T>;
  const std::size_t n = w.size();
  std::vector<int> down(n);
  for (std::size_t i = 0; i < n; ++i) {
    down[i] = -static_cast<int>(std::floor(std::ilogb(real_of<double>(S(i, i))) / 2.0));
  }
  std::vector<int> up(n);
  std::transform(down.begin(), down.end(), up.begin(), [](int exponent) { return -exponent; });
  // Scale H, and with it w, to a largest element near 1: products neither overflow nor vanish.
  const int level = exponent_of_largest<T>(H, down);
  std::vector<int> down_further(down);
  for (int& exponent : down_further) exponent -= level;
  const std::vector<int> none(n);
  const HostMatrix<W> scaled_H = in_double<T>(H, down_further, down);
  const HostMatrix<W> scaled_S = in_double<T>(S, down, down);
  const HostMatrix<W> scaled_C = in_double<T>(C, up, none);
  const LocalMatrix<W> vectors = on_device<W>(scaled_C);
  const LocalMatrix<W> overlap = on_device<W>(scaled_S);
  const HostMatrix<W> HC = host_product<W>(space, Operation::none, on_device<W>(scaled_H), vectors);
  const HostMatrix<W> SC = host_product<W>(space, Operation::none, overlap, vectors);
  const HostMatrix<W> inner = host_product<W>(space, Operation::conjugate_transpose, vectors, on_device<W>(SC));

  const double norm_of_H = length(scaled_H.data(), scaled_H.size());
  const double norm_of_S = length(scaled_S.data(), scaled_S.size());
  const double unit = static_cast<double>(n) * static_cast<double>(unit_roundoff<T>);
  std::vector<double> lengths(n);
  for (std::size_t j = 0; j < n; ++j) lengths[j] = length(&scaled_C(0, j), n);
  EigenErrors errors;
  std::vector<W> residual(n);
  for (std::size_t j = 0; j < n; ++j) {
    const double value = std::ldexp(static_cast<double>(w[j]), -level);
    for (std::size_t i = 0; i < n; ++i) {
      residual[i] = HC(i, j) - SC(i, j) * value;
      const auto off = static_cast<double>(Kokkos::abs(inner(i, j) - W(i == j ? 1.0 : 0.0)));
      errors.orthogonality = larger(errors.orthogonality, off / (unit * norm_of_S * lengths[i] * lengths[j]));
    }
    const double stored = storage_error<Real<T>>(level) * norm_of_S * lengths[j];
    const double left = beyond_storage(length(residual.data(), n), stored);
    // If H = 0 and w = 0, both sides are 0.
    const double allowed = unit * (norm_of_H + std::abs(value) * norm_of_S) * lengths[j];
    errors.residual = larger(errors.residual, left == 0 ? 0.0 : left / allowed);
  }
  return errors;
}

template <Scalar T>
EigenSolution<T> pencil_solution(const Communicator& comm, const HostMatrix<T>& H, const HostMatrix<T>& S,
                                 const eigen::JacobiOptions& options, eigen::JacobiGeneralisedReport& report) {
  const LocalMatrix<T> energies = on_device<T>(H);
  const LocalMatrix<T> overlap = on_device<T>(S);
  const Kokkos::View<Real<T>*, MemorySpace> w("heddle::driver::w", H.extent(0));
  const LocalMatrix<T> C("heddle::driver::C", H.extent(0), H.extent(0));
  EigenSolution<T> solution;
  const auto solve = [&] { report = eigen::jacobi(comm.space(), energies, overlap, w, C, options); };
  solution.seconds = seconds_of_runs(comm, 1, solve).front();
  solution.report = report;
  const auto values = Kokkos::create_mirror_view(w);
  Kokkos::deep_copy(values, w);
  solution.values.assign(values.data(), values.data() + values.extent(0));
  if (report.converged) {
    solution.vectors = HostMatrix<T>("heddle::driver::host", C.extent(0), C.extent(1));
    Kokkos::deep_copy(flat(solution.vectors), flat(C));
    solution.errors = pencil_errors<T>(comm.space(), H, S, solution.values, solution.vectors);
  }
  return solution;
}

#define HEDDLE_INSTANTIATE(T)                                                                                   \
  template EigenErrors pencil_errors<T>(const ExecutionSpace&, const HostMatrix<T>&, const HostMatrix<T>&,      \
                                        const std::vector<Real<T>>&, const HostMatrix<T>&);                     \
  template EigenSolution<T> pencil_solution<T>(const Communicator&, const HostMatrix<T>&, const HostMatrix<T>&, \
                                               const eigen::JacobiOptions&, eigen::JacobiGeneralisedReport&)
HEDDLE_FOR_EACH_DRIVER_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::driver
