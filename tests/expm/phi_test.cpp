// phi functions against the exponential of a larger matrix in 256 bits, and against their identities.
#include "expm/hard_matrices.hpp"
#include "support/errors.hpp"
#include "support/matrices.hpp"
#include "support/multiprecision.hpp"
#include <heddle/expm/phi.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace heddle::phi_test {
namespace {

using test::Complex;
using test::narrow;
using test::WideMatrix;
using test::widen;

double uniform(std::size_t i, std::size_t j, int seed) {
  return test::random_number(static_cast<Index>(i), static_cast<Index>(j), seed);
}

using Entries = std::vector<Complex>;  // Row-major.

struct Problem {
  std::string name;
  std::size_t n;
  std::function<Complex(std::size_t, std::size_t)> entry;
};

std::vector<Problem> problems() {
  return {
      {"zero", 4, [](std::size_t, std::size_t) { return Complex(0.0); }},
      {"one by one", 1, [](std::size_t, std::size_t) { return Complex(-3.25); }},
      {"singular", 6, [](std::size_t i, std::size_t j) { return Complex(i < 3 ? uniform(i, j, 1) : 0.0); }},
      {"random", 7, [](std::size_t i, std::size_t j) { return Complex(uniform(i, j, 2)); }},
      {"tiny", 5, [](std::size_t i, std::size_t j) { return Complex(1e-11 * uniform(i, j, 3)); }},
      {"symmetric", 8,
       [](std::size_t i, std::size_t j) { return Complex(3.0 * uniform(std::min(i, j), std::max(i, j), 4)); }},
      // Eigenvalues from 0 to -400: phi_k decays as 1 / |z|, and exp as exp(z).
      {"diffusion", 8,
       [](std::size_t i, std::size_t j) {
         return Complex(i == j ? -200.0 : i + 1 == j || j + 1 == i ? 100.0 : 0.0);
       }},
      {"nilpotent", 6, [](std::size_t i, std::size_t j) { return Complex(j > i ? 15.0 * uniform(i, j, 5) : 0.0); }},
      {"complex", 6, [](std::size_t i, std::size_t j) { return Complex(uniform(i, j, 6), 2.0 * uniform(i, j, 7)); }},
      {"skew-Hermitian", 6,
       [](std::size_t i, std::size_t j) { return Complex(0.0, 20.0 * uniform(std::min(i, j), std::max(i, j), 8)); }},
      {"overscaled", 2,
       [](std::size_t i, std::size_t j) {
         return Complex(i == j ? 1.0 - 2.0 * i : j > i ? 100.0 : 0);
       }},
  };
}

template <Scalar T> bool fits(const Problem& problem) {
  for (std::size_t i = 0; i < problem.n; ++i) {
    for (std::size_t j = 0; j < problem.n; ++j) {
      if (!is_complex<T> && problem.entry(i, j).imag() != 0.0) return false;
    }
  }
  return true;
}

// phi_0(A) ... phi_p(A): the first blocks of the exponential of a block matrix of A, ones and zeros.
std::vector<Entries> reference_of(std::size_t n, std::size_t p, const Entries& A) {
  WideMatrix whole(n * (p + 1));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) whole.set(i, j, A[i * n + j]);
  }
  for (std::size_t i = 0; i < n * p; ++i) whole.set(i, i + n, 1.0);
  const WideMatrix found = test::wide_exponential(std::move(whole));
  std::vector<Entries> phis(p + 1);
  for (std::size_t k = 0; k <= p; ++k) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) phis[k].push_back(found.get(i, k * n + j));
    }
  }
  return phis;
}

double frobenius(const Entries& X) {
  double squares = 0.0;
  for (const Complex& x : X) squares += std::norm(x);
  return std::sqrt(squares);
}

double distance(const Entries& X, const Entries& Y) {
  double squares = 0.0;
  for (std::size_t k = 0; k < X.size(); ++k) squares += std::norm(X[k] - Y[k]);
  return std::sqrt(squares);
}

// Relative change of each phi for a relative change of A, from a few random changes.
std::vector<double> sensitivity_of(std::size_t n, std::size_t p, const Entries& A, const std::vector<Entries>& at) {
  std::vector<double> found(p + 1, 1.0);
  const double size = frobenius(A);
  const double change = 0x1p-20 / std::max(size, 1.0);
  for (const int seed : {31, 32, 33}) {
    Entries random;
    for (std::size_t k = 0; k < A.size(); ++k) random.push_back(uniform(k / n, k % n, seed));
    Entries moved = A;
    for (std::size_t k = 0; k < A.size(); ++k) moved[k] += change * size / frobenius(random) * random[k];
    const auto there = reference_of(n, p, moved);
    for (std::size_t k = 0; k <= p; ++k) {
      found[k] = std::max(found[k], distance(there[k], at[k]) / change / frobenius(at[k]));
    }
  }
  return found;
}

template <Scalar T> Entries by_rows(const HostMatrix<T>& X) {
  Entries entries;
  for (std::size_t i = 0; i < X.extent(0); ++i) {
    for (std::size_t j = 0; j < X.extent(1); ++j) entries.push_back(widen(X(i, j)));
  }
  return entries;
}

template <Scalar T, class Entry> HostMatrix<T> host_of(Index rows, Index columns, const Entry& entry) {
  return test::host_matrix<T>(rows, columns, [&](Index i, Index j) {
    return narrow<T>(entry(static_cast<std::size_t>(i), static_cast<std::size_t>(j)));
  });
}

template <Scalar T, class Entry>
DistributedMatrix<T> matrix_of(const Communicator& comm, const Placement& placement, const Entry& entry) {
  DistributedMatrix<T> X(comm, placement);
  const HostMatrix<T> whole = host_of<T>(placement.rows(), placement.columns(), entry);
  scatter(comm.rank() == 0 ? whole : HostMatrix<T>(), 0, X);
  return X;
}

template <Scalar T> LocalMatrix<T> device_of(const Communicator& comm, const HostMatrix<T>& X) {
  const LocalMatrix<T> copy("heddle::test::block", X.extent(0), X.extent(1));
  const auto host = Kokkos::create_mirror_view(Kokkos::HostSpace(), copy);
  for (std::size_t i = 0; i < X.extent(0); ++i) {
    for (std::size_t j = 0; j < X.extent(1); ++j) host(i, j) = X(i, j);
  }
  Kokkos::deep_copy(comm.space(), copy, host);
  comm.space().fence("heddle::test::device_of");
  return copy;
}

template <class T> class Phi : public ::testing::Test {
 protected:
  Communicator comm = test::world();
  [[nodiscard]] Placement bands(Index n) const { return Placement::row_bands(n, n, comm.size()); }
  [[nodiscard]] std::vector<DistributedMatrix<T>> results(Index n, std::size_t p) const {
    std::vector<DistributedMatrix<T>> phis;
    for (std::size_t k = 0; k <= p; ++k) {
      // Alternately in the placement of the computation, and elsewhere.
      phis.emplace_back(comm, k % 2 == 0 ? bands(n) : Placement::column_bands(n, n, comm.size()));
    }
    return phis;
  }
};
TYPED_TEST_SUITE(Phi, test::AllScalars);

TYPED_TEST(Phi, AgreesWith256Bits) {
  using T = TypeParam;
  const double u = unit_roundoff<T>;
  for (const Problem& problem : problems()) {
    if (!fits<T>(problem)) continue;
    const auto n = static_cast<Index>(problem.n);
    const auto A = matrix_of<T>(this->comm, Placement::column_bands(n, n, this->comm.size()), problem.entry);
    const auto a = by_rows(gather(A, 0));
    for (const std::size_t p : {0U, 1U, 4U}) {
      std::vector<Entries> expected;
      std::vector<double> sensitivity;
      if (this->comm.rank() == 0) {
        expected = reference_of(problem.n, p, a);
        sensitivity = sensitivity_of(problem.n, p, a, expected);
      }
      for (const Arithmetic arithmetic : {Arithmetic::native, Arithmetic::emulated}) {
        PhiOptions options;
        options.gemm.arithmetic = arithmetic;
        options.gemm.tile = 3;
        const auto phis = this->results(n, p);
        const PhiReport report = phi<T>(this->comm, A, phis, options);
        EXPECT_LE(report.error, u) << problem.name;
        for (std::size_t k = 0; k <= p; ++k) {
          const auto found = by_rows(gather(phis[k], 0));
          if (this->comm.rank() != 0) continue;
          EXPECT_LE(distance(found, expected[k]),
                    30.0 * static_cast<double>(problem.n) * u * sensitivity[k] * frobenius(expected[k]))
              << problem.name << ", phi_" << k << " of " << p << ", " << to_string(arithmetic) << ", degree "
              << report.degree << ", " << report.squarings << " doublings";
        }
      }
    }
  }
}

TYPED_TEST(Phi, SatisfyTheirRecurrence) {
  using T = TypeParam;
  const Index n = 65;
  const std::size_t p = largest_phi;
  const auto A = matrix_of<T>(this->comm, this->bands(n), [](std::size_t i, std::size_t j) {
    return 0.5 * Complex(uniform(i, j, 41), uniform(i, j, 42));
  });
  std::vector<DistributedMatrix<T>> phis;
  for (std::size_t k = 0; k <= p; ++k) phis.emplace_back(this->comm, this->bands(n));
  const PhiReport report = phi<T>(this->comm, A, phis);
  EXPECT_GT(report.squarings, 0);
  const DistributedMatrix<T> exponential(this->comm, this->bands(n));
  expm(this->comm, A, exponential);
  const Real<T> size = norm(exponential, Norm::one);
  add(T(-1), phis[0], exponential);
  EXPECT_LE(norm(exponential, Norm::one), 100 * n * unit_roundoff<T> * size);
  double factorial = 1.0;
  for (std::size_t k = 1; k <= p; ++k) {
    // phi_(k-1) - 1 / (k-1)! - A phi_k.
    const DistributedMatrix<T> rest(this->comm, this->bands(n));
    copy(phis[k - 1], rest);
    add_identity(T(static_cast<Real<T>>(-1.0 / factorial)), rest);
    gemm<T>(this->comm, Operation::none, Operation::none, T(-1), A, phis[k], T(1), rest, {.tile = 32});
    EXPECT_LE(norm(rest, Norm::one), 100 * n * unit_roundoff<T> * norm(A, Norm::one) * norm(phis[k], Norm::one)) << k;
    factorial *= static_cast<double>(k);
  }
}

TYPED_TEST(Phi, HermitianToTheLastBit) {
  using T = TypeParam;
  const Index n = 30;
  const auto A = matrix_of<T>(this->comm, this->bands(n), [](std::size_t i, std::size_t j) {
    const std::size_t low = std::min(i, j);
    const std::size_t high = std::max(i, j);
    const double imaginary = i == j ? 0.0 : (i < j ? 1.0 : -1.0) * uniform(low, high, 44);
    return Complex(uniform(low, high, 43), imaginary);
  });
  const auto phis = this->results(n, 3);
  EXPECT_EQ(phi<T>(this->comm, A, phis).structure, ExpmStructure::hermitian);
  for (const auto& one : phis) {
    const auto X = gather(one, 0);
    for (std::size_t i = 0; i < X.extent(0); ++i) {
      for (std::size_t j = 0; j < i; ++j) ASSERT_EQ(widen(X(i, j)), std::conj(widen(X(j, i))));
    }
  }
}

TYPED_TEST(Phi, ActionIsTheSumOfProducts) {
  using T = TypeParam;
  const double u = unit_roundoff<T>;
  for (const Index n : {1, 6, 40}) {
    const auto A =
        matrix_of<T>(this->comm, Placement::column_bands(n, n, this->comm.size()),
                     [](std::size_t i, std::size_t j) { return Complex(uniform(i, j, 51), uniform(i, j, 52)); });
    for (const std::size_t p : {0U, 1U, 3U, 8U}) {
      for (const double size : {1.0, 1e-20, 1e15}) {
        const auto B = host_of<T>(n, static_cast<Index>(p) + 1, [&](std::size_t i, std::size_t j) {
          return (j > 0 ? size : 1.0) * Complex(uniform(i, j, 53), uniform(i, j, 54));
        });
        const double time = -0.75;
        const LocalMatrix<T> R("heddle::test::R", static_cast<std::size_t>(n), 1);
        const auto b = device_of<T>(this->comm, B);
        const ExpmActionReport report = phi_action<T, T>(this->comm, time, A, MatrixView<const T>(b), MatrixView<T>(R));
        EXPECT_EQ(report.method, ExpmActionMethod::taylor);
        const DistributedMatrix<T> scaled(this->comm, A.placement());
        copy(A, scaled);
        scale(T(static_cast<Real<T>>(time)), scaled);
        const auto phis = this->results(n, p);
        phi<T>(this->comm, scaled, phis);
        Entries sum(static_cast<std::size_t>(n));
        double largest = 0.0;
        for (std::size_t k = 0; k <= p; ++k) {
          const auto X = gather(phis[k], 0);
          for (std::size_t i = 0; i < X.extent(0); ++i) {
            for (std::size_t j = 0; j < X.extent(1); ++j) {
              const Complex term = std::pow(time, static_cast<double>(k)) * widen(X(i, j)) * widen(B(j, k));
              sum[i] += term;
              largest = std::max(largest, std::abs(term));
            }
          }
        }
        const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), R);
        if (this->comm.rank() != 0) continue;
        for (std::size_t i = 0; i < sum.size(); ++i) {
          EXPECT_LE(std::abs(sum[i] - widen(found(i, 0))), 2000.0 * static_cast<double>(n) * u * largest)
              << n << ", " << p << ", " << size;
        }
      }
    }
  }
}

// An operator: A = diag(-1, -2, ...), so that each element is a number's own phi.
template <Scalar T> struct MinusRows {
  MatrixView<const T> X;
  MatrixView<T> Y;
  KOKKOS_INLINE_FUNCTION void operator()(Index k) const {
    const auto n = static_cast<Index>(X.extent(0));
    Y(k % n, k / n) = X(k % n, k / n) * static_cast<Real<T>>(-1 - k % n);
  }
};

TYPED_TEST(Phi, ActionOfAnOperator) {
  using T = TypeParam;
  const Index n = 5;
  const auto apply = [](const ExecutionSpace& space, const MatrixView<const T>& X, const MatrixView<T>& Y) {
    Kokkos::parallel_for("heddle::test::minus_rows",
                         Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(
                             space, 0, static_cast<Index>(X.extent(0) * X.extent(1))),
                         MinusRows<T>{X, Y});
  };
  // u' = A u + t c, u(0) = 0: u = t^2 phi_2(t A) c.
  const auto b = device_of<T>(this->comm, host_of<T>(n, 3, [](std::size_t i, std::size_t j) {
                                return Complex(j == 2 ? 1.0 + static_cast<double>(i) : 0.0);
                              }));
  const LocalMatrix<T> R("heddle::test::R", static_cast<std::size_t>(n), 1);
  const double t = 1.5;
  phi_action<T>(this->comm, t, ExpmActionOperator<T>{.n = n, .apply = apply, .apply_adjoint = apply},
                MatrixView<const T>(b), MatrixView<T>(R));
  const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), R);
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
    const double a = -1.0 - static_cast<double>(i);
    const double expected = (std::exp(a * t) - 1.0 - a * t) / (a * a) * (1.0 + static_cast<double>(i));
    EXPECT_NEAR(widen(found(i, 0)).real(), expected, 100.0 * unit_roundoff<T> * 10.0) << i;
  }
}

TYPED_TEST(Phi, EmulatedBitsAreTheSameOnAnyRanks) {
  using T = TypeParam;
  const Index n = 80;
  const auto compute = [&](const Communicator& ranks, Index tile) {
    const auto bands = Placement::row_bands(n, n, ranks.size());
    const auto A = matrix_of<T>(
        ranks, bands, [](std::size_t i, std::size_t j) { return 0.3 * Complex(uniform(i, j, 61), uniform(i, j, 62)); });
    const std::vector<DistributedMatrix<T>> phis = {{ranks, bands}, {ranks, bands}, {ranks, bands}};
    PhiOptions options;
    options.gemm.arithmetic = Arithmetic::emulated;
    options.gemm.tile = tile;
    phi<T>(ranks, A, phis, options);
    return gather(phis[2], 0);
  };
  const auto alone = compute(Communicator(MPI_COMM_SELF), 0);
  const auto together = compute(test::world(), 25);
  if (test::world().rank() == 0) {
    EXPECT_TRUE(test::same_bits(alone, together));
  }
}

TYPED_TEST(Phi, SaysWhatIsWrong) {
  using T = TypeParam;
  using R = Real<T>;
  const DistributedMatrix<T> A(this->comm, this->bands(4));
  fill(A, T(0));
  const DistributedMatrix<T> flat(this->comm, Placement::row_bands(4, 5, this->comm.size()));
  fill(flat, T(0));
  test::expect_refusal(ErrorKind::argument, "expected square", [&] { phi<T>(this->comm, flat, this->results(4, 1)); });
  test::expect_refusal(ErrorKind::argument, "a result is 5 x 5", [&] { phi<T>(this->comm, A, this->results(5, 1)); });
  test::expect_refusal(ErrorKind::argument, "0 matrices", [&] { phi<T>(this->comm, A, {}); });
  test::expect_refusal(ErrorKind::argument, "10 matrices", [&] { phi<T>(this->comm, A, this->results(4, 9)); });
  test::expect_refusal(ErrorKind::argument, "tolerance",
                       [&] { phi<T>(this->comm, A, this->results(4, 1), {.tolerance = -1.0}); });
  // Results that are one matrix, or that overlap on one rank alone.
  const DistributedMatrix<T> one(this->comm, this->bands(4));
  std::vector<DistributedMatrix<T>> shared = {{this->comm, this->bands(4)}, one, {this->comm, this->bands(4)}, one};
  test::expect_refusal(ErrorKind::argument, "phi_1 and phi_3 share elements", [&] { phi<T>(this->comm, A, shared); });
  if (this->comm.size() > 1) {
    const Placement root = Placement::on_rank(4, 4, 0);
    const DistributedMatrix<T> there(this->comm, root);
    shared = {there, there};
    test::expect_refusal(ErrorKind::argument, "phi_0 and phi_1 share elements", [&] { phi<T>(this->comm, A, shared); });
  }
  const DistributedMatrix<T> bad(this->comm, this->bands(4));
  fill(bad, T(std::numeric_limits<R>::quiet_NaN()));
  test::expect_refusal(ErrorKind::computation, "NaN", [&] { phi<T>(this->comm, bad, this->results(4, 1)); });
  fill(bad, T(R(1000)));
  test::expect_refusal(ErrorKind::computation, "overflows", [&] { phi<T>(this->comm, bad, this->results(4, 1)); });
  const LocalMatrix<T> b("heddle::test::b", 4, 2);
  const LocalMatrix<T> r("heddle::test::r", 4, 2);
  test::expect_refusal(ErrorKind::argument, "R is 4 x 2",
                       [&] { phi_action<T, T>(this->comm, 1.0, A, MatrixView<const T>(b), MatrixView<T>(r)); });
  test::expect_refusal(ErrorKind::argument, "B has 5 rows", [&] {
    const LocalMatrix<T> longer("heddle::test::b", 5, 2);
    phi_action<T, T>(this->comm, 1.0, A, MatrixView<const T>(longer), MatrixView<T>(r));
  });
  test::expect_refusal(ErrorKind::argument, "B has 5 rows", [&] {
    const bool is_last = this->comm.rank() == this->comm.size() - 1;
    const LocalMatrix<T> own("heddle::test::b", is_last ? 5 : 4, 2);
    const LocalMatrix<T> result("heddle::test::r", 4, 1);
    phi_action<T, T>(this->comm, 1.0, A, MatrixView<const T>(own), MatrixView<T>(result));
  });
}

TYPED_TEST(Phi, OfNothingIsNothing) {
  using T = TypeParam;
  const DistributedMatrix<T> A(this->comm, this->bands(0));
  EXPECT_EQ(phi<T>(this->comm, A, this->results(0, 2)).norm1, 0.0);
}

}  // namespace
}  // namespace heddle::phi_test
