// Errors of plain and of exact operations against the condition of the problem, as a table for accuracy.py: inner
// products, triangular systems without and with refinement, LU factorizations. References by MPFR.
//
//   perf_exact_accuracy > accuracy.csv
#include <heddle/exact/lu.hpp>

#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <utility>
#include <vector>

namespace {

using namespace heddle;
using Matrix = Kokkos::View<double**, Kokkos::LayoutLeft, MemorySpace>;
using HostMatrix = Kokkos::View<double**, Kokkos::LayoutLeft, Kokkos::HostSpace>;
using Vector = Kokkos::View<double*, MemorySpace>;

constexpr mpfr_prec_t bits = 4000;

class Number {
 public:
  Number() {
    mpfr_init2(value_, bits);
    mpfr_set_zero(value_, 1);
  }
  ~Number() { mpfr_clear(value_); }
  Number(const Number&) = delete;
  Number& operator=(const Number&) = delete;
  [[nodiscard]] mpfr_ptr get() const { return value_; }
  [[nodiscard]] double rounded() const { return mpfr_get_d(value_, MPFR_RNDN); }

 private:
  mutable mpfr_t value_;
};

double uniform(std::mt19937_64& random) {
  return std::ldexp(static_cast<double>(random() >> 11), -52) - 1;
}
Vector on_device(const std::vector<double>& values) {
  const Vector vector("x", values.size());
  Kokkos::deep_copy(vector, Kokkos::View<const double*, Kokkos::HostSpace>(values.data(), values.size()));
  return vector;
}
Matrix on_device(const HostMatrix& A) {
  const Matrix copy("A", A.extent(0), A.extent(1));
  Kokkos::deep_copy(copy, A);
  return copy;
}
std::vector<double> on_host(const Vector& x) {
  std::vector<double> values(x.extent(0));
  Kokkos::deep_copy(Kokkos::View<double*, Kokkos::HostSpace>(values.data(), values.size()), x);
  return values;
}
double shown_error(double error) {
  return error <= 1 ? error : 1;  // No digit is left; NaNs too.
}

// T. Ogita, S. Rump, S. Oishi, "Accurate sum and dot product", 2005, algorithm 6.1.
void inner_product(std::mt19937_64& random, double condition) {
  const std::size_t n = 200;
  const double log_condition = std::log2(condition);
  std::vector<double> x(n);
  std::vector<double> y(n);
  const Number sum;
  const Number sizes;
  const Number term;
  double plain = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const double share = k < n / 2 ? std::abs(uniform(random)) : static_cast<double>(n - 1 - k) / (n / 2.0);
    const int exponent = static_cast<int>(std::lround((k == 0 ? 1 : share) * log_condition / 2));
    x[k] = std::ldexp(uniform(random), exponent);
    y[k] = std::ldexp(uniform(random), exponent);
    if (k >= n / 2) {
      y[k] = (y[k] - sum.rounded()) / x[k];
    }
    mpfr_set_d(term.get(), x[k], MPFR_RNDN);
    mpfr_mul_d(term.get(), term.get(), y[k], MPFR_RNDN);
    mpfr_add(sum.get(), sum.get(), term.get(), MPFR_RNDN);
    mpfr_abs(term.get(), term.get(), MPFR_RNDN);
    mpfr_add(sizes.get(), sizes.get(), term.get(), MPFR_RNDN);
    plain += x[k] * y[k];
  }
  const double exact = sum.rounded();
  const double ours = exact::dot(ExecutionSpace(), on_device(x), on_device(y));
  std::printf("dot,%.6g,%.6g,%.6g,,\n", 2 * sizes.rounded() / std::abs(exact),
              shown_error(std::abs(plain - exact) / std::abs(exact)),
              shown_error(std::abs(ours - exact) / std::abs(exact)));
}

// Off-diagonal elements up to `growth` make a triangular matrix's inverse grow with every row.
HostMatrix triangle(std::mt19937_64& random, std::size_t n, double growth) {
  const HostMatrix L("L", n, n);
  for (std::size_t j = 0; j < n; ++j) {
    L(j, j) = 1 + std::abs(uniform(random));
    for (std::size_t i = j + 1; i < n; ++i) {
      L(i, j) = growth * uniform(random);
    }
  }
  return L;
}

// x = L^-1 b.
void substitute(const HostMatrix& L, std::vector<Number>& b) {
  const Number term;
  for (std::size_t i = 0; i < b.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      mpfr_mul_d(term.get(), b[j].get(), L(i, j), MPFR_RNDN);
      mpfr_sub(b[i].get(), b[i].get(), term.get(), MPFR_RNDN);
    }
    mpfr_div_d(b[i].get(), b[i].get(), L(i, i), MPFR_RNDN);
  }
}

// |L^-1| w, a column of the inverse at a time.
std::vector<Number> weighted_inverse(const HostMatrix& L, const std::vector<Number>& weights) {
  const std::size_t n = weights.size();
  std::vector<Number> sums(n);
  const Number term;
  for (std::size_t column = 0; column < n; ++column) {
    std::vector<Number> unit(n);
    mpfr_set_d(unit[column].get(), 1, MPFR_RNDN);
    substitute(L, unit);
    for (std::size_t i = column; i < n; ++i) {
      mpfr_abs(term.get(), unit[i].get(), MPFR_RNDN);
      mpfr_mul(term.get(), term.get(), weights[column].get(), MPFR_RNDN);
      mpfr_add(sums[i].get(), sums[i].get(), term.get(), MPFR_RNDN);
    }
  }
  return sums;
}

// In the lower half of the rows, what stands beside the upper half of x cancels, as in inner_product().
void triangular_system(std::mt19937_64& random, double wanted) {
  const std::size_t n = 60;
  const double log_condition = std::log2(wanted);
  const HostMatrix L = triangle(random, n, 0.1);
  std::vector<double> b(n);
  for (double& value : b) {
    value = uniform(random);
  }
  const std::size_t half = n / 2;
  std::vector<Number> upper(half);
  for (std::size_t i = 0; i < half; ++i) {
    mpfr_set_d(upper[i].get(), b[i], MPFR_RNDN);
  }
  substitute(L, upper);
  {
    const Number sum;
    const Number product;
    for (std::size_t i = half; i < n; ++i) {
      mpfr_set_zero(sum.get(), 1);
      for (std::size_t j = 0; j < half; ++j) {
        const double share = j < n / 4 ? std::abs(uniform(random)) : static_cast<double>(half - 1 - j) / (n / 4.0);
        const double rest = j < n / 4 ? 0 : sum.rounded();
        L(i, j) = (std::ldexp(uniform(random), static_cast<int>((j == 0 ? 1 : share) * log_condition)) - rest) /
                  (j < n / 4 ? 1 : upper[j].rounded());
        mpfr_mul_d(product.get(), upper[j].get(), L(i, j), MPFR_RNDN);
        mpfr_add(sum.get(), sum.get(), product.get(), MPFR_RNDN);
      }
    }
  }
  std::vector<Number> x(n);
  for (std::size_t i = 0; i < n; ++i) {
    mpfr_set_d(x[i].get(), b[i], MPFR_RNDN);
  }
  substitute(L, x);
  // Skeel's condition: max_i (|L^-1| |L| |x|)_i / max_i |x_i|, a column of the inverse at a time.
  std::vector<Number> weights(n);
  const Number term;
  double largest = 0;
  for (std::size_t i = 0; i < n; ++i) {
    largest = std::max(largest, std::abs(x[i].rounded()));
    for (std::size_t j = 0; j <= i; ++j) {
      mpfr_mul_d(term.get(), x[j].get(), L(i, j), MPFR_RNDN);
      mpfr_abs(term.get(), term.get(), MPFR_RNDN);
      mpfr_add(weights[i].get(), weights[i].get(), term.get(), MPFR_RNDN);
    }
  }
  const std::vector<Number> sums = weighted_inverse(L, weights);
  double condition = 0;
  for (const Number& sum : sums) {
    condition = std::max(condition, sum.rounded() / largest);
  }
  const auto error_of = [&](const std::vector<double>& found) {
    double worst = 0;
    for (std::size_t i = 0; i < n; ++i) {
      worst = std::max(worst, std::abs(found[i] - x[i].rounded()));
    }
    return shown_error(worst / largest);
  };
  std::vector<double> plain = b;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      plain[i] -= L(i, j) * plain[j];
    }
    plain[i] /= L(i, i);
  }
  const Matrix A = on_device(L);
  const auto solved = [&](int refinements) {
    const Vector right = on_device(b);
    exact::trsv(ExecutionSpace(), exact::Triangle::lower, Operation::none, exact::Diagonal::stored, A, right,
                refinements);
    return error_of(on_host(right));
  };
  std::printf("trsv,%.6g,%.6g,%.6g,%.6g,%.6g\n", condition, error_of(plain), solved(0), solved(1), solved(3));
}

// |P A - L U| / |A|, in the largest row sum.
double factorization_error(const HostMatrix& A, double norm, const HostMatrix& LU, const std::vector<Index>& pivots) {
  const std::size_t n = A.extent(0);
  std::vector<std::size_t> order(n);
  for (std::size_t k = 0; k < n; ++k) {
    order[k] = k;
  }
  for (std::size_t k = 0; k < n; ++k) {
    std::swap(order[k], order[static_cast<std::size_t>(pivots[k])]);
  }
  double worst = 0;
  const Number term;
  const Number rest;
  const Number row;
  for (std::size_t i = 0; i < n; ++i) {
    mpfr_set_zero(row.get(), 1);
    for (std::size_t j = 0; j < n; ++j) {
      mpfr_set_d(rest.get(), A(order[i], j), MPFR_RNDN);
      for (std::size_t k = 0; k <= std::min(i, j); ++k) {
        mpfr_set_d(term.get(), k == i ? 1 : LU(i, k), MPFR_RNDN);
        mpfr_mul_d(term.get(), term.get(), LU(k, j), MPFR_RNDN);
        mpfr_sub(rest.get(), rest.get(), term.get(), MPFR_RNDN);
      }
      mpfr_abs(rest.get(), rest.get(), MPFR_RNDN);
      mpfr_add(row.get(), row.get(), rest.get(), MPFR_RNDN);
    }
    worst = std::max(worst, row.rounded() / norm);
  }
  return shown_error(worst);
}

// Elimination in place, rounded as it goes.
std::vector<Index> plain_factors(const HostMatrix& plain) {
  const std::size_t n = plain.extent(0);
  std::vector<Index> pivots;
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t k = 0; k < j; ++k) {
      for (std::size_t i = k + 1; i < n; ++i) {
        plain(i, j) -= plain(i, k) * plain(k, j);
      }
    }
    std::size_t pivot = j;
    for (std::size_t i = j + 1; i < n; ++i) {
      pivot = std::abs(plain(i, j)) > std::abs(plain(pivot, j)) ? i : pivot;
    }
    pivots.push_back(static_cast<Index>(pivot));
    for (std::size_t k = 0; k < n && pivot != j; ++k) {
      std::swap(plain(j, k), plain(pivot, k));
    }
    for (std::size_t i = j + 1; i < n; ++i) {
      plain(i, j) /= plain(j, j);
    }
  }
  return pivots;
}

// Of a triangular matrix with its rows and columns in disorder.
void factorization(std::mt19937_64& random, double growth) {
  const std::size_t n = 100;
  const HostMatrix L = triangle(random, n, growth);
  std::vector<std::size_t> rows(n);
  std::vector<std::size_t> columns(n);
  for (std::size_t k = 0; k < n; ++k) {
    rows[k] = columns[k] = k;
  }
  std::shuffle(rows.begin(), rows.end(), random);
  std::shuffle(columns.begin(), columns.end(), random);
  const HostMatrix A("A", n, n);
  double norm = 0;
  for (std::size_t i = 0; i < n; ++i) {
    double row = 0;
    for (std::size_t j = 0; j < n; ++j) {
      A(i, j) = L(rows[i], columns[j]);
      row += std::abs(A(i, j));
    }
    norm = std::max(norm, row);
  }
  // |A^-1| from columns of the triangular inverse, in the largest row sum.
  std::vector<Number> ones(n);
  for (const Number& weight : ones) {
    mpfr_set_d(weight.get(), 1, MPFR_RNDN);
  }
  const std::vector<Number> sums = weighted_inverse(L, ones);
  double inverse = 0;
  for (const Number& sum : sums) {
    inverse = std::max(inverse, sum.rounded());
  }
  const HostMatrix plain("plain", n, n);
  Kokkos::deep_copy(plain, A);
  const std::vector<Index> pivots = plain_factors(plain);
  const Matrix LU = on_device(A);
  const exact::LuResult result = exact::lu(ExecutionSpace(), LU);
  const HostMatrix ours("ours", n, n);
  Kokkos::deep_copy(ours, LU);
  std::printf("lu,%.6g,%.6g,%.6g,,\n", norm * inverse, factorization_error(A, norm, plain, pivots),
              factorization_error(A, norm, ours, result.pivots));
}

}  // namespace

int main(int count, char** arguments) {
  const Kokkos::ScopeGuard kokkos(count, arguments);
  std::mt19937_64 random(1);
  std::printf("problem,condition,plain,exact,refined_once,refined_three_times\n");
  for (int exponent = 2; exponent <= 40; ++exponent) {
    for (int run = 0; run < 3; ++run) {
      inner_product(random, std::pow(10.0, exponent));
      triangular_system(random, std::pow(10.0, exponent));
      // Of these, conditions of 10^2 to 10^40.
      factorization(random, 0.15 * std::pow(1.1, exponent + run / 3.0));
    }
  }
  return 0;
}
