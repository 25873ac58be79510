// The Hermitian matrices of `heddle eig` and `heddle study jacobi`: generated, or read and looked at.
#include "drivers/eig/matrices.hpp"

#include "drivers/eig/solution.hpp"
#include "drivers/support/matrices/matrices.hpp"
#include "drivers/support/options/scalars.hpp"
#include "drivers/support/process/clock.hpp"
#include "drivers/support/process/text.hpp"
#include <heddle/blas/blas.hpp>
#include <heddle/core/strided.hpp>
#include <heddle/gemm/gemm.hpp>

#include <algorithm>
#include <cmath>

namespace heddle::driver {
namespace {

template <Scalar T> std::string shown(const T& x, int digits) {
  if constexpr (is_complex<T>) {
    return format("%.*g%+.*gi", digits, static_cast<double>(x.real()), digits, static_cast<double>(x.imag()));
  } else {
    return format("%.*g", digits, static_cast<double>(x));
  }
}
// Return the number of digits, at least nine, that show how x and conj(y) differ; seventeen distinguish any two
// doubles.
template <Scalar T> int telling_digits(const T& x, const T& y) {
  const auto alike = [](double one, double other, int digits) {
    return one != other && format("%.*g", digits, one) == format("%.*g", digits, other);
  };
  int digits = 9;
  if constexpr (is_complex<T>) {
    while (digits < 17 && (alike(x.real(), y.real(), digits) || alike(x.imag(), -y.imag(), digits))) ++digits;
  } else {
    while (digits < 17 && alike(x, y, digits)) ++digits;
  }
  return digits;
}
template <Scalar T> bool is_finite(const T& x) {
  if constexpr (is_complex<T>) {
    return std::isfinite(x.real()) && std::isfinite(x.imag());
  } else {
    return std::isfinite(x);
  }
}
template <Scalar T> double size_of(const T& x) {
  return static_cast<double>(Kokkos::abs(x));
}
template <Scalar T> HostMatrix<T> host_matrix(Index n) {
  return HostMatrix<T>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "heddle::driver::host"), n, n);
}
template <Scalar T> LocalMatrix<T> device_matrix(const std::string& label, Index n) {
  return LocalMatrix<T>(Kokkos::view_alloc(Kokkos::WithoutInitializing, label), n, n);
}

template <Scalar T> KOKKOS_INLINE_FUNCTION double square(const T& x) {
  if constexpr (is_complex<T>) {
    const auto real = static_cast<double>(x.real());
    const auto imaginary = static_cast<double>(x.imag());
    return real * real + imaginary * imaginary;
  } else {
    return static_cast<double>(x) * static_cast<double>(x);
  }
}

// Multiply x by 2^-exponent in two steps, neither of which is out of range.
template <class R> struct Down {
  R first;
  R second;
  explicit Down(int exponent)
      : first(static_cast<R>(std::ldexp(1.0, -(exponent / 2)))),
        second(static_cast<R>(std::ldexp(1.0, -(exponent - exponent / 2)))) {}
  template <class T> KOKKOS_INLINE_FUNCTION T operator()(const T& x) const { return x * first * second; }
};

// |R - V diag(w) 2^-exponent|_F
template <Scalar T>
double distance(const ExecutionSpace& space, const LocalMatrix<T>& R, const LocalMatrix<T>& V,
                const Kokkos::View<Real<T>*, MemorySpace>& w, int exponent) {
  const auto n = static_cast<Index>(R.extent(0));
  const Down<Real<T>> down(exponent);
  double sum = 0;
  Kokkos::parallel_reduce(
      "heddle::driver::distance", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, n * n),
      KOKKOS_LAMBDA(Index k, double& part) {
        const Index i = k % n;
        const Index j = k / n;
        part += square<T>(R(i, j) - V(i, j) * down(w(j)));
      },
      sum);
  return std::sqrt(sum);
}
// |A|_F, or |A - I|_F
template <Scalar T> double size(const ExecutionSpace& space, const LocalMatrix<T>& A, double subtracted = 0) {
  const auto n = static_cast<Index>(A.extent(0));
  const auto less = static_cast<Real<T>>(subtracted);
  double sum = 0;
  Kokkos::parallel_reduce(
      "heddle::driver::size", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, n * n),
      KOKKOS_LAMBDA(Index k, double& part) {
        const Index i = k % n;
        const Index j = k / n;
        part += square<T>(i == j ? A(i, j) - less : A(i, j));
      },
      sum);
  return std::sqrt(sum);
}
template <Scalar T> double largest(const ExecutionSpace& space, const LocalMatrix<T>& A) {
  const auto rows = static_cast<Index>(A.extent(0));
  double most = 0;
  Kokkos::parallel_reduce(
      "heddle::driver::largest",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, static_cast<Index>(A.size())),
      KOKKOS_LAMBDA(Index k, double& part) {
        const auto found = static_cast<double>(Kokkos::abs(A(k % rows, k / rows)));
        part = found > part ? found : part;
      },
      Kokkos::Max<double>(most));
  return most;
}

}  // namespace

eigen::KohnShamOptions model_options(const Chain& chain) {
  eigen::KohnShamOptions options;
  options.points = chain.points;
  options.electrons = chain.electrons;
  const auto atoms = static_cast<std::size_t>(chain.atoms);
  options.charges.assign(atoms, 1.0);
  options.positions.resize(atoms);
  for (std::size_t k = 0; k < atoms; ++k) {
    options.positions[k] = chain.spacing * (static_cast<double>(k) - 0.5 * static_cast<double>(atoms - 1));
  }
  return options;
}

void JacobiSolver::operator()(std::span<const double> H, std::vector<double>& w, std::vector<double>& V) {
  const auto start = std::chrono::steady_clock::now();
  w.resize(static_cast<std::size_t>(std::llround(std::sqrt(static_cast<double>(H.size())))));
  V.resize(H.size());
  if (comm_ != nullptr) {
    solve_over_ranks(H, w, V);
  } else {
    solve_here(H, w, V);
  }
  seconds_ = seconds_since(start);
}

void JacobiSolver::solve_over_ranks(std::span<const double> H, std::vector<double>& w, std::vector<double>& V) {
  const auto n = static_cast<Index>(w.size());
  const EigenSolution<double> solution = eigen_solution(*comm_, n, matrix_from<double>(H, n), options_, false);
  report_ = solution.report;
  if (!report_.converged) throw Error(ErrorKind::computation, "eigensolver " + unconverged(report_));
  w = solution.values;
  if (comm_->rank() == 0) std::copy_n(solution.vectors.data(), V.size(), V.begin());
  comm_->broadcast(std::span(V), 0);
}

void JacobiSolver::solve_here(std::span<const double> H, std::vector<double>& w, std::vector<double>& V) {
  using List = Kokkos::View<double*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
  using ConstList = Kokkos::View<const double*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
  const auto n = static_cast<Index>(w.size());
  const LocalMatrix<double> A = device_matrix<double>("heddle::driver::H", n);
  const LocalMatrix<double> vectors = device_matrix<double>("heddle::driver::vectors", n);
  const Kokkos::View<double*, MemorySpace> values(
      Kokkos::view_alloc(Kokkos::WithoutInitializing, "heddle::driver::values"), w.size());
  Kokkos::deep_copy(flat(A), ConstList(H.data(), H.size()));
  if (!plan_) plan_.emplace(space_, n, options_);
  report_ = plan_->execute(A, values, vectors);
  if (!report_.converged) throw Error(ErrorKind::computation, "eigensolver " + unconverged(report_));
  Kokkos::deep_copy(List(V.data(), V.size()), flat(vectors));
  Kokkos::deep_copy(List(w.data(), w.size()), values);
}

std::string unconverged(const eigen::JacobiReport& report) {
  const bool by_sweeps = report.end == eigen::JacobiEnd::sweep_limit;
  return format("not converged after %d sweep%s and %lld rotations: %.3g is left off the diagonal; allow more %s",
                report.sweeps, report.sweeps == 1 ? "" : "s", static_cast<long long>(report.rotations),
                report.off_norm(), by_sweeps ? "--sweeps" : "--rotations");
}

const char* reason_of(eigen::JacobiEnd end) {
  switch (end) {
    case eigen::JacobiEnd::diagonal:
      return "there was nothing to rotate";
    case eigen::JacobiEnd::tolerance:
      return "a whole sweep found nothing above the tolerance";
    case eigen::JacobiEnd::quadratic:
      return "the last sweep leaves less than the tolerance";
    case eigen::JacobiEnd::sweep_limit:
      return "the limit of sweeps was reached";
    case eigen::JacobiEnd::rotation_limit:
      return "the limit of rotations was reached";
  }
  return "";
}

template <Scalar T> HostMatrix<T> thesis_matrix(Index n) {
  HostMatrix<T> A = host_matrix<T>(n);
  const Index half = n / 2;
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) A(i, j) = T(static_cast<Real<T>>(half - std::abs(i - j)));
  }
  return A;
}

template <Scalar T> HostMatrix<T> random_hermitian(Index n, std::uint64_t seed) {
  HostMatrix<T> A = host_matrix<T>(n);
  const RandomElement<T> element{seed};
  for (Index j = 0; j < n; ++j) {
    for (Index i = j; i < n; ++i) A(i, j) = element(i, j);
  }
  mirror<T>(A, false);
  return A;
}

template <Scalar T> HostMatrix<T> matrix_from(std::span<const double> elements, Index n) {
  HostMatrix<T> A = host_matrix<T>(n);
  std::transform(elements.begin(), elements.end(), A.data(), [](double x) { return T(static_cast<Real<T>>(x)); });
  return A;
}

template <Scalar T> void require_hermitian(const std::string& name, const HostMatrix<T>& A, double tolerance) {
  const auto n = static_cast<Index>(A.extent(0));
  const auto refuse = [&](const std::string& reason) { throw Error(ErrorKind::input, name + ": " + reason); };
  if (A.extent(0) != A.extent(1)) {
    refuse(message_of("is ", A.extent(0), " x ", A.extent(1), "; expected a square matrix"));
  }
  double most = 0;
  double worst = 0;
  Index row = 0;
  Index column = 0;
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      if (!is_finite<T>(A(i, j))) {
        refuse(message_of("element (", i + 1, ", ", j + 1, ") is ", shown<T>(A(i, j), 9), "; expected finite numbers"));
      }
      most = std::max(most, size_of<T>(A(i, j)));
      if (i < j) continue;
      const double off = size_of<T>(A(i, j) - conjugate(A(j, i)));
      if (off > worst) {
        worst = off;
        row = i;
        column = j;
      }
    }
  }
  if (worst > tolerance * most) {
    const std::string kind = is_complex<T> ? "Hermitian" : "symmetric";
    if (row == column) {
      refuse(message_of("is not Hermitian: element (", row + 1, ", ", row + 1, ") is ", shown<T>(A(row, row), 9),
                        format("; twice its imaginary part may be %.3g", tolerance * most), " (--symmetry)"));
    }
    const int digits = telling_digits<T>(A(row, column), A(column, row));
    refuse(message_of("is not ", kind, ": element (", row + 1, ", ", column + 1, ") is ",
                      shown<T>(A(row, column), digits), ", but (", column + 1, ", ", row + 1, ") is ",
                      shown<T>(A(column, row), digits), format("; they may differ by %.3g", tolerance * most),
                      " (--symmetry)"));
  }
}

template <Scalar T> void mirror(const HostMatrix<T>& A, bool upper) {
  const auto n = static_cast<Index>(A.extent(0));
  for (Index j = 0; j < n; ++j) {
    if constexpr (is_complex<T>) A(j, j) = T(A(j, j).real());
    for (Index i = j + 1; i < n; ++i) {
      T& kept = upper ? A(j, i) : A(i, j);
      T& other = upper ? A(i, j) : A(j, i);
      other = conjugate(kept);
    }
  }
}

template <Scalar T> LocalMatrix<T> on_device(const HostMatrix<T>& A) {
  LocalMatrix<T> device = device_matrix<T>("heddle::driver::A", static_cast<Index>(A.extent(0)));
  Kokkos::deep_copy(flat(device), flat(A));
  return device;
}

template <Scalar T> Levelled<T> levelled(const ExecutionSpace& space, const LocalMatrix<T>& A) {
  const double most = A.size() == 0 ? 0.0 : largest<T>(space, A);
  Levelled<T> found;
  found.exponent = most > 0 && std::isfinite(most) ? std::ilogb(most) : 0;
  found.matrix = LocalMatrix<T>(Kokkos::view_alloc(Kokkos::WithoutInitializing, "heddle::driver::levelled"),
                                A.extent(0), A.extent(1));
  const LocalMatrix<T> to = found.matrix;
  const auto rows = static_cast<Index>(A.extent(0));
  const Down<Real<T>> down(found.exponent);
  Kokkos::parallel_for(
      "heddle::driver::levelled",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, static_cast<Index>(A.size())),
      KOKKOS_LAMBDA(Index k) { to(k % rows, k / rows) = down(A(k % rows, k / rows)); });
  return found;
}

template <Scalar T>
EigenErrors errors_of(const ExecutionSpace& space, const LocalMatrix<T>& A,
                      const Kokkos::View<Real<T>*, MemorySpace>& w, const LocalMatrix<T>& V) {
  const auto n = static_cast<Index>(A.extent(0));
  if (n == 0) return {};
  const blas::Context context(space);
  const LocalMatrix<T> R = device_matrix<T>("heddle::driver::residual", n);
  const double unit = static_cast<double>(n) * static_cast<double>(unit_roundoff<T>);
  const double root = std::sqrt(static_cast<double>(n));
  EigenErrors errors;
  blas::gemm<T>(context, Operation::conjugate_transpose, Operation::none, T(1), V, V, T(0), R);
  errors.orthogonality = size<T>(space, R, 1.0) / (unit * root);
  const Levelled<T> level = levelled<T>(space, A);
  const double norm_of_A = size<T>(space, level.matrix);
  if (norm_of_A == 0) return errors;
  blas::gemm<T>(context, Operation::none, Operation::none, T(1), level.matrix, V, T(0), R);
  const double residual = distance<T>(space, R, V, w, level.exponent);
  errors.residual = beyond_storage(residual, root * storage_error<Real<T>>(level.exponent)) / (unit * norm_of_A);
  return errors;
}

template <Scalar T>
EigenErrors errors_of(const DistributedMatrix<T>& A, const Kokkos::View<Real<T>*, MemorySpace>& w,
                      const DistributedMatrix<T>& V) {
  const Communicator& comm = A.communicator();
  if (A.rows() == 0) return {};
  const double unit = static_cast<double>(A.rows()) * static_cast<double>(unit_roundoff<T>);
  const double root = std::sqrt(static_cast<double>(A.rows()));
  const DistributedMatrix<T> R(comm, V.placement(), "heddle::driver::residual");
  EigenErrors errors;
  gemm(comm, Operation::conjugate_transpose, Operation::none, T(1), V, V, T(0), R);
  add_identity(T(-1), R);
  errors.orthogonality = static_cast<double>(norm(R, Norm::frobenius)) / (unit * root);
  const auto most = static_cast<double>(norm(A, Norm::maximum));
  if (most == 0) return errors;
  const int exponent = std::ilogb(most);
  const Down<Real<T>> down(exponent);
  const DistributedMatrix<T> level(comm, A.placement(), "heddle::driver::levelled");
  copy(A, level);
  scale<T>(T(down.first), level);
  scale<T>(T(down.second), level);
  gemm(comm, Operation::none, Operation::none, T(1), level, V, T(0), R);
  const MatrixView<T>& from = V.local();
  const MatrixView<T>& to = R.local();
  const CyclicAxis columns = V.placement().column_axis();
  const int q = V.grid_column();
  const auto rows = static_cast<Index>(to.extent(0));
  Kokkos::parallel_for(
      "heddle::driver::residual",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(comm.space(), 0, static_cast<Index>(to.size())),
      KOKKOS_LAMBDA(Index k) {
        to(k % rows, k / rows) -= from(k % rows, k / rows) * down(w(columns.global(q, k / rows)));
      });
  const auto residual = static_cast<double>(norm(R, Norm::frobenius));
  errors.residual = beyond_storage(residual, root * storage_error<Real<T>>(exponent)) /
                    (unit * static_cast<double>(norm(level, Norm::frobenius)));
  return errors;
}

#define HEDDLE_INSTANTIATE(T)                                                                                \
  template HostMatrix<T> thesis_matrix<T>(Index);                                                            \
  template HostMatrix<T> random_hermitian<T>(Index, std::uint64_t);                                          \
  template HostMatrix<T> matrix_from<T>(std::span<const double>, Index);                                     \
  template void require_hermitian<T>(const std::string&, const HostMatrix<T>&, double);                      \
  template void mirror<T>(const HostMatrix<T>&, bool);                                                       \
  template LocalMatrix<T> on_device<T>(const HostMatrix<T>&);                                                \
  template Levelled<T> levelled<T>(const ExecutionSpace&, const LocalMatrix<T>&);                            \
  template EigenErrors errors_of<T>(const ExecutionSpace&, const LocalMatrix<T>&,                            \
                                    const Kokkos::View<Real<T>*, MemorySpace>&, const LocalMatrix<T>&);      \
  template EigenErrors errors_of<T>(const DistributedMatrix<T>&, const Kokkos::View<Real<T>*, MemorySpace>&, \
                                    const DistributedMatrix<T>&)
HEDDLE_FOR_EACH_DRIVER_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::driver
