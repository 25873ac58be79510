// Relative errors of eigenvalues of positive definite matrices D (2 I + E) D against the condition of D^2, as a table
// for accuracy.py: LAPACK's dsyevd, dsyevr and dgesvj, and eigen::jacobi. References by rotations in 256 bits (MPFR).
//
//   perf_eigen_accuracy > accuracy.csv
#include <heddle/eigen/jacobi.hpp>

#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

extern "C" {
void dsyevd_(const char*, const char*, const int*, double*, const int*, double*, double*, const int*, int*, const int*,
             int*, std::size_t, std::size_t);
void dsyevr_(const char*, const char*, const char*, const int*, double*, const int*, const double*, const double*,
             const int*, const int*, const double*, int*, double*, double*, const int*, int*, double*, const int*, int*,
             const int*, int*, std::size_t, std::size_t, std::size_t);
void dgesvj_(const char*, const char*, const char*, const int*, const int*, double*, const int*, double*, const int*,
             double*, const int*, double*, const int*, int*, std::size_t, std::size_t, std::size_t);
}

namespace {

using namespace heddle;
using Matrix = Kokkos::View<double**, Kokkos::LayoutLeft, MemorySpace>;
using Symmetric = Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace>;

constexpr int n = 100;

class Number {
 public:
  Number() {
    mpfr_init2(value_, 256);
    mpfr_set_zero(value_, 1);
  }
  ~Number() { mpfr_clear(value_); }
  Number(const Number&) = delete;
  Number& operator=(const Number&) = delete;
  [[nodiscard]] mpfr_ptr get() const { return value_; }

 private:
  mutable mpfr_t value_;
};

// Returns eigenvalues in ascending order, by cyclic rotations until |a_pq| <= 2^-200 sqrt(a_pp a_qq).
std::vector<double> exact_eigenvalues(const Symmetric& A) {
  std::vector<Number> S(n * n);
  const auto at = [&](Index i, Index j) { return S[static_cast<std::size_t>(i + j * n)].get(); };
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) {
      mpfr_set_d(at(i, j), A(i, j), MPFR_RNDN);
    }
  }
  Number b_square;
  Number limit;
  Number difference;
  Number t;
  Number c;
  Number s;
  Number held;
  Number other;
  bool rotated = true;
  while (rotated) {
    rotated = false;
    for (int p = 0; p < n; ++p) {
      for (int q = p + 1; q < n; ++q) {
        mpfr_sqr(b_square.get(), at(p, q), MPFR_RNDN);
        mpfr_mul(limit.get(), at(p, p), at(q, q), MPFR_RNDN);
        mpfr_mul_2si(limit.get(), limit.get(), -400, MPFR_RNDN);
        if (mpfr_cmp(b_square.get(), limit.get()) <= 0) {
          continue;
        }
        rotated = true;
        // t = 2 b / ((d - a) +- sqrt((d - a)^2 + 4 b^2))
        mpfr_sub(difference.get(), at(q, q), at(p, p), MPFR_RNDN);
        mpfr_sqr(t.get(), difference.get(), MPFR_RNDN);
        mpfr_mul_2si(b_square.get(), b_square.get(), 2, MPFR_RNDN);
        mpfr_add(t.get(), t.get(), b_square.get(), MPFR_RNDN);
        mpfr_sqrt(t.get(), t.get(), MPFR_RNDN);
        if (mpfr_sgn(difference.get()) < 0) {
          mpfr_neg(t.get(), t.get(), MPFR_RNDN);
        }
        mpfr_add(t.get(), t.get(), difference.get(), MPFR_RNDN);
        mpfr_div(t.get(), at(p, q), t.get(), MPFR_RNDN);
        mpfr_mul_2si(t.get(), t.get(), 1, MPFR_RNDN);
        mpfr_sqr(c.get(), t.get(), MPFR_RNDN);
        mpfr_add_ui(c.get(), c.get(), 1, MPFR_RNDN);
        mpfr_rec_sqrt(c.get(), c.get(), MPFR_RNDN);
        mpfr_mul(s.get(), t.get(), c.get(), MPFR_RNDN);
        const auto turn = [&](mpfr_ptr x, mpfr_ptr y) {
          mpfr_mul(held.get(), s.get(), y, MPFR_RNDN);
          mpfr_mul(other.get(), s.get(), x, MPFR_RNDN);
          mpfr_fms(x, c.get(), x, held.get(), MPFR_RNDN);
          mpfr_fma(y, c.get(), y, other.get(), MPFR_RNDN);
        };
        for (int i = 0; i < n; ++i) {
          turn(at(i, p), at(i, q));
        }
        for (int j = 0; j < n; ++j) {
          turn(at(p, j), at(q, j));
        }
      }
    }
  }
  std::vector<double> values;
  values.reserve(n);
  for (int i = 0; i < n; ++i) {
    values.push_back(mpfr_get_d(at(i, i), MPFR_RNDN));
  }
  std::sort(values.begin(), values.end());
  return values;
}

Symmetric graded(double condition, std::mt19937_64& random) {
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  std::vector<double> d;
  d.reserve(n);
  for (int i = 0; i < n; ++i) {
    d.push_back(std::pow(condition, -0.5 * i / (n - 1)));
  }
  std::shuffle(d.begin(), d.end(), random);
  const Symmetric A("A", n, n);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < j; ++i) {
      A(i, j) = A(j, i) = uniform(random) / n * (d[static_cast<std::size_t>(i)] * d[static_cast<std::size_t>(j)]);
    }
    A(j, j) = 2 * d[static_cast<std::size_t>(j)] * d[static_cast<std::size_t>(j)];
  }
  return A;
}

std::vector<double> lapack(const std::string& routine, const Symmetric& A) {
  std::vector<double> copy(A.data(), A.data() + A.size());
  std::vector<double> w(n);
  std::vector<double> V(n * n);
  std::vector<double> work(4 * n * n + 100 * n);
  std::vector<int> integers(20 * n);
  std::vector<int> support(2 * n);
  const int length = static_cast<int>(work.size());
  const int integer_length = static_cast<int>(integers.size());
  const int order = n;
  const double zero = 0;
  int found = 0;
  int info = 0;
  if (routine == "dsyevd") {
    dsyevd_("V", "L", &order, copy.data(), &order, w.data(), work.data(), &length, integers.data(), &integer_length,
            &info, 1, 1);
  } else if (routine == "dsyevr") {
    dsyevr_("V", "A", "L", &order, copy.data(), &order, &zero, &zero, &order, &order, &zero, &found, w.data(), V.data(),
            &order, support.data(), work.data(), &length, integers.data(), &integer_length, &info, 1, 1, 1);
  } else {
    dgesvj_("G", "U", "V", &order, &order, copy.data(), &order, w.data(), &order, V.data(), &order, work.data(),
            &length, &info, 1, 1, 1);
    std::sort(w.begin(), w.end());
  }
  return w;
}

std::vector<double> jacobi(eigen::JacobiMethod method, const Symmetric& A) {
  const Matrix matrix("A", n, n);
  Kokkos::deep_copy(matrix, A);
  const Matrix V("V", n, n);
  const Kokkos::View<double*, MemorySpace> w("w", n);
  const eigen::JacobiReport report = eigen::jacobi(ExecutionSpace(), matrix, w, V, {.method = method});
  require(report.converged && report.accuracy == eigen::JacobiAccuracy::relative, "not converged to relative accuracy");
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), w);
  return {host.data(), host.data() + n};
}

}  // namespace

int main(int argc, char* argv[]) {
  const Kokkos::ScopeGuard kokkos(argc, argv);
  const std::vector<std::pair<std::string, std::function<std::vector<double>(const Symmetric&)>>> solvers = {
      {"dsyevd", [](const Symmetric& A) { return lapack("dsyevd", A); }},
      {"dsyevr", [](const Symmetric& A) { return lapack("dsyevr", A); }},
      {"dgesvj", [](const Symmetric& A) { return lapack("dgesvj", A); }},
      {"cyclic", [](const Symmetric& A) { return jacobi(eigen::JacobiMethod::cyclic, A); }},
      {"blocked", [](const Symmetric& A) { return jacobi(eigen::JacobiMethod::blocked, A); }},
      {"preconditioned", [](const Symmetric& A) { return jacobi(eigen::JacobiMethod::preconditioned, A); }}};
  std::printf("condition");
  for (const auto& [name, solve] : solvers) {
    std::printf(",%s", name.c_str());
  }
  std::printf("\n");
  std::mt19937_64 random(1);
  for (int power = 0; power <= 30; power += 2) {
    const double condition = std::pow(10.0, power);
    const Symmetric A = graded(condition, random);
    const std::vector<double> exact = exact_eigenvalues(A);
    std::printf("%.0e", condition);
    for (const auto& [name, solve] : solvers) {
      const std::vector<double> w = solve(A);
      double worst = 0;
      for (std::size_t i = 0; i < w.size(); ++i) {
        worst = std::max(worst, std::abs(w[i] - exact[i]) / exact[i]);
      }
      std::printf(",%.3g", worst);
    }
    std::printf("\n");
    std::fflush(stdout);
  }
  return 0;
}
