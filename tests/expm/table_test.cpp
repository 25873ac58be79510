// Every method of the exponential against every structure that it keeps, compared with references of sufficient
// precision, on any number of ranks; nilpotent matrices at the ends of the range.
#include "hunt/exponentials.hpp"
#include "support/errors.hpp"
#include "support/matrices.hpp"
#include "support/on_host.hpp"
#include <heddle/expm/batched.hpp>
#include <heddle/expm/expm.hpp>
#include <heddle/expm/frechet.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

namespace heddle::table_test {
namespace {

using hunt::Array;
using hunt::reached;
using hunt::Wide;
using hunt::WideMatrix;
using test::Complex;
using test::narrow;

using Filled = std::function<bool(Index i, Index j)>;

struct Structure {
  const char* name;
  Index n;
  Filled filled;
  bool shuffled = false;  // Whether its indices are shuffled.
};

// Blocks of 1 to 3 indices.
Index block_of(Index i) {
  constexpr std::array<Index, 9> blocks = {0, 0, 1, 2, 2, 2, 3, 4, 4};
  return blocks[static_cast<std::size_t>(i)];
}

std::vector<Structure> structures() {
  return {
      {"full", 6, [](Index, Index) { return true; }},
      {"upper triangular", 9, [](Index i, Index j) { return i <= j; }},
      {"lower triangular", 9, [](Index i, Index j) { return i >= j; }},
      {"strictly upper triangular", 8, [](Index i, Index j) { return i < j; }},
      {"strictly lower triangular", 8, [](Index i, Index j) { return i > j; }},
      {"lower bidiagonal", 9, [](Index i, Index j) { return i == j || i == j + 1; }},
      {"upper block triangular", 9, [](Index i, Index j) { return block_of(i) <= block_of(j); }},
      {"lower block triangular", 9, [](Index i, Index j) { return block_of(i) >= block_of(j); }},
      {"block diagonal", 9, [](Index i, Index j) { return block_of(i) == block_of(j); }},
      {"block nilpotent", 9, [](Index i, Index j) { return block_of(i) > block_of(j); }},
      {"upper Hessenberg", 7, [](Index i, Index j) { return i <= j + 1; }},
      {"lower Hessenberg", 7, [](Index i, Index j) { return i + 1 >= j; }},
      {"permuted triangular", 9, [](Index i, Index j) { return i >= j; }, true},
      {"permuted nilpotent", 8, [](Index i, Index j) { return i < j; }, true},
      {"permuted block triangular", 9, [](Index i, Index j) { return block_of(i) <= block_of(j); }, true},
      {"permuted block diagonal", 9, [](Index i, Index j) { return block_of(i) == block_of(j); }, true},
  };
}

// Exponents of the powers of two by which rows are multiplied and columns divided; 0 without a grading.
int exponent_of(Index i, int range) {
  return static_cast<int>(std::lround(range * test::random_number(i, 5, 77)));
}

// The largest exponents for which powers of the scaled matrix are in the range of the type.
template <Scalar T> constexpr int widest = std::is_same_v<Real<T>, float> ? 30 : 300;

// A number of the type, or -i times that of a real matrix if `turned`.
template <Scalar T> Complex entry_of(const Structure& structure, Index i, Index j, bool turned) {
  const auto place = [&](Index k) { return structure.shuffled ? (5 * k + 3) % structure.n : k; };
  const Index row = place(i);
  const Index column = place(j);
  if (!structure.filled(row, column)) return 0.0;
  const auto number = [&](int seed) {
    return static_cast<double>(static_cast<Real<T>>(1.5 * test::random_number(row, column, seed)));
  };
  if (turned) return {0.0, -number(1)};
  return {number(1), is_complex<T> ? number(2) : 0.0};
}

template <Scalar T> Array array_of(const Structure& structure, bool turned) {
  Array A;
  A.rows = A.columns = structure.n;
  for (Index j = 0; j < A.columns; ++j) {
    for (Index i = 0; i < A.rows; ++i) A.values.push_back(entry_of<T>(structure, i, j, turned));
  }
  return A;
}

// D X D^-1 for `range`, undone for -range.
WideMatrix scaled(WideMatrix X, int range) {
  for (Index j = 0; j < X.columns; ++j) {
    for (Index i = 0; i < X.rows; ++i) X.at(i, j).scale(exponent_of(i, range) - exponent_of(j, range));
  }
  return X;
}

// Rounded to T, as a double.
template <Scalar T> Complex narrow_to(const Complex& x) {
  return test::widen(narrow<T>(x));
}

struct Truth {
  WideMatrix E;
  double condition;  // |exp(A + F) - exp(A)| / |exp(A)| relative to |F| / |A|, for a random F of that structure.
};
Truth truth_of(const Array& A) {
  Wide::bits = 600;
  const WideMatrix X(A);
  WideMatrix moved = X;
  for (std::size_t k = 0; k < moved.values.size(); ++k) {
    Wide change(test::random_number(static_cast<Index>(k), 1, 5));
    change.scale(-120);
    if (!moved.values[k].is_zero()) moved.values[k].re += change;
  }
  const auto E = hunt::wide_exponential(X);
  const auto there = hunt::wide_exponential(moved);
  const Wide relative = hunt::distance1(moved, X) / hunt::norm1(X);
  return {*E, (hunt::distance1(*there, *E) / hunt::norm1(*E) / relative).to_double()};
}

struct Method {
  const char* name;
  ExpmMethod method;
  Arithmetic arithmetic = Arithmetic::native;
  bool batched = false, frechet = false;
  bool balances = true;  // Whether it balances if there is a grading.
};
std::vector<Method> methods() {
  return {
      {"automatic", ExpmMethod::automatic},
      {"taylor", ExpmMethod::taylor},
      {"paterson-stockmeyer", ExpmMethod::paterson_stockmeyer},
      {"few-products", ExpmMethod::few_products},
      {"pade", ExpmMethod::pade},
      {"automatic, emulated", ExpmMethod::automatic, Arithmetic::emulated},
      {"pade, emulated", ExpmMethod::pade, Arithmetic::emulated},
      {"batched", ExpmMethod::automatic, Arithmetic::native, true},
      {"frechet", ExpmMethod::automatic, Arithmetic::native, false, true, false},
      {"frechet, few-products", ExpmMethod::few_products, Arithmetic::native, false, true, false},
  };
}

template <class T> class ExponentialTable : public ::testing::Test {
 protected:
  struct Found {
    HostMatrix<T> E;
    int squarings = 0;
  };
  // Return the exponential on rank 0.
  Found exponential(const Communicator& ranks, const Method& method, const HostMatrix<T>& A) {
    const auto n = static_cast<Index>(A.extent(0));
    if (method.batched) return {batched(A), 0};
    const DistributedMatrix<T> given(ranks, Placement::row_bands(n, n, ranks.size()));
    const DistributedMatrix<T> E(ranks, given.placement());
    scatter(A, 0, given);
    Found found;
    if (method.frechet) {
      const auto D = test::random_matrix<T>(ranks, given.placement(), 3);
      const DistributedMatrix<T> L(ranks, given.placement());
      ExpmFrechetOptions options;
      options.method = method.method;
      options.gemm.tile = 4;
      found.squarings = expm_frechet(ranks, given, D, E, L, options).squarings;
    } else {
      ExpmOptions options;
      options.method = method.method;
      options.degree = 60;
      options.gemm.arithmetic = method.arithmetic;
      options.gemm.tile = 4;
      found.squarings = expm(ranks, given, E, options).squarings;
    }
    found.E = gather(E, 0);
    return found;
  }
  HostMatrix<T> of(const WideMatrix& X) const {
    return test::host_matrix<T>(X.rows, X.columns, [&](Index i, Index j) {
      return narrow<T>(Complex(X.at(i, j).re.to_double(), X.at(i, j).im.to_double()));
    });
  }

  Communicator comm = test::world();
  Communicator alone{MPI_COMM_SELF};

 private:
  HostMatrix<T> batched(const HostMatrix<T>& A) const {
    const auto n = A.extent(0);
    const Kokkos::View<T***, Kokkos::LayoutLeft, MemorySpace> X("heddle::test::X", n, n, 1);
    const auto mirror = Kokkos::create_mirror_view(X);
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = 0; i < n; ++i) mirror(i, j, 0) = A(i, j);
    }
    Kokkos::deep_copy(X, mirror);
    expm_batched(ExecutionSpace(), X, X);
    Kokkos::fence("heddle::test");
    Kokkos::deep_copy(mirror, X);
    return test::host_matrix<T>(static_cast<Index>(n), static_cast<Index>(n), [&](Index i, Index j) {
      return mirror(static_cast<std::size_t>(i), static_cast<std::size_t>(j), 0);
    });
  }
};
TYPED_TEST_SUITE(ExponentialTable, test::AllScalars);

TYPED_TEST(ExponentialTable, EveryMethodKeepsEveryStructure) {
  using T = TypeParam;
  for (const bool turned : {false, true}) {
    if (turned && !is_complex<T>) continue;
    for (const Structure& structure : structures()) {
      const Array A = array_of<T>(structure, turned);
      const Truth truth = truth_of(A);
      const std::vector<bool> filled = reached(A);
      for (const int range : {0, widest<T>}) {
        const HostMatrix<T> given = this->of(scaled(WideMatrix(A), range));
        for (const Method& method : methods()) {
          if (range > 0 && !method.balances) continue;
          SCOPED_TRACE(std::string(method.name) + ", " + structure.name + ", range " + std::to_string(range) +
                       (turned ? ", -i A" : ""));
          const auto found = this->exponential(this->comm, method, given);
          const auto single = this->exponential(this->alone, method, given);
          if (this->comm.rank() != 0) continue;
          EXPECT_TRUE(test::same_bits(found.E, single.E));
          EXPECT_EQ(found.squarings, single.squarings);
          Wide::bits = 600;
          const double error =
              (hunt::distance1(scaled(WideMatrix(found.E), -range), truth.E) / hunt::norm1(truth.E)).to_double();
          EXPECT_LE(error, 40.0 * static_cast<double>(structure.n) * static_cast<double>(unit_roundoff<T>) *
                               std::max(1.0, truth.condition));
          for (Index j = 0; j < structure.n; ++j) {
            for (Index i = 0; i < structure.n; ++i) {
              if (!filled[static_cast<std::size_t>(i + j * structure.n)]) {
                EXPECT_EQ(found.E(i, j), T(0)) << i << ", " << j;
              }
            }
          }
        }
      }
    }
  }
}

TYPED_TEST(ExponentialTable, SkewHermitianBlocksStayApart) {
  using T = TypeParam;
  for (const Structure& structure : structures()) {
    Array A = array_of<T>(structure, false);
    const Array given = A;
    for (Index j = 0; j < A.columns; ++j) {
      for (Index i = 0; i < A.rows; ++i) {
        A.at(i, j) = narrow_to<T>(0.5 * (given.at(i, j) - std::conj(given.at(j, i))));
      }
    }
    const Truth truth = truth_of(A);
    const std::vector<bool> filled = reached(A);
    std::vector<Method> all = methods();
    all.push_back({"chebyshev", ExpmMethod::chebyshev});
    all.push_back({"chebyshev, emulated", ExpmMethod::chebyshev, Arithmetic::emulated});
    for (const Method& method : all) {
      SCOPED_TRACE(std::string(method.name) + ", skew-Hermitian of " + structure.name);
      const auto found = this->exponential(this->comm, method, hunt::host_of<T>(A));
      if (this->comm.rank() != 0) continue;
      EXPECT_LE((hunt::distance1(WideMatrix(found.E), truth.E) / hunt::norm1(truth.E)).to_double(),
                40.0 * static_cast<double>(structure.n) * static_cast<double>(unit_roundoff<T>) *
                    std::max(1.0, truth.condition));
      for (std::size_t k = 0; k < filled.size(); ++k) {
        const auto i = static_cast<Index>(k) % structure.n;
        const auto j = static_cast<Index>(k) / structure.n;
        if (!filled[k]) {
          EXPECT_EQ(found.E(i, j), T(0)) << i << ", " << j;
        }
      }
    }
  }
}

// Integers times a number: every power is exact.
struct Nilpotent {
  const char* name;
  Index n;
  int index;                 // Exponent of the first power that is zero.
  std::vector<int> entries;  // Row-major.
};
std::vector<Nilpotent> nilpotents() {
  return {
      {"one above", 2, 2, {0, 1, 0, 0}},
      {"one below", 2, 2, {0, 0, 1, 0}},
      {"ones", 2, 2, {1, 1, -1, -1}},
      {"of rank one", 5, 2, {0, 0, 0, 0, 0, 1, 2, -1, 3, -4, 1, 2, -1, 3, -4, 1, 2, -1, 3, -4, 1, 2, -1, 3, -4}},
      {"permuted", 4, 3, {0, 0, 0, 0, 3, 0, 0, 1, 2, 0, 0, 0, 5, 0, 0, 0}},
      {"a chain in another basis", 3, 3, {1, 1, 0, -1, -1, 1, 0, 0, 0}},
  };
}

TYPED_TEST(ExponentialTable, NilpotentMatricesEndTheirOwnSeries) {
  using T = TypeParam;
  constexpr int range = std::is_same_v<Real<T>, float> ? 120 : 1015;
  for (const Nilpotent& nilpotent : nilpotents()) {
    const Index n = nilpotent.n;
    for (const int share : {0, 1, 4, 10}) {
      // A nonzero A^2 / 2 is in range too.
      const int exponent = range * share / 10 / (nilpotent.index - 1) - (nilpotent.index > 2 ? 5 : 0);
      const Complex factor = is_complex<T> ? Complex(std::ldexp(1.0, exponent), -std::ldexp(0.5, exponent))
                                           : Complex(std::ldexp(1.0, exponent));
      Array A;
      A.rows = A.columns = n;
      for (Index j = 0; j < n; ++j) {
        for (Index i = 0; i < n; ++i) {
          A.values.push_back(factor * static_cast<double>(nilpotent.entries[static_cast<std::size_t>(i * n + j)]));
        }
      }
      // I + A + A^2 / 2
      Wide::bits = 5000;
      const WideMatrix X(A);
      WideMatrix expected = X * X;
      for (std::size_t k = 0; k < expected.values.size(); ++k) {
        expected.values[k].scale(-1);
        expected.values[k].re += X.values[k].re;
        expected.values[k].im += X.values[k].im;
      }
      for (Index i = 0; i < n; ++i) expected.at(i, i).re += Wide(1.0);
      const HostMatrix<T> given = hunt::host_of<T>(A);
      for (const Method& method : methods()) {
        // The derivative in a direction of size 1 contains A D A.
        if (method.frechet && (share > 4 || nilpotent.index > 2)) continue;
        SCOPED_TRACE(std::string(method.name) + ", " + nilpotent.name + " times 2^" + std::to_string(exponent));
        const auto found = this->exponential(this->comm, method, given);
        const auto single = this->exponential(this->alone, method, given);
        if (this->comm.rank() != 0) continue;
        EXPECT_TRUE(test::same_bits(found.E, single.E));
        // Powers show that scaling is unnecessary; on GPUs they are estimated only if that saves more than two
        // squarings.
        if (method.method != ExpmMethod::few_products || exponent > 10) {
          EXPECT_LE(found.squarings, test::on_host ? 0 : 2);
        }
        Wide::bits = 5000;
        const WideMatrix result(found.E);
        for (Index j = 0; j < n; ++j) {
          for (Index i = 0; i < n; ++i) {
            const Wide size = expected.at(i, j).absolute();
            const Wide error = (result.at(i, j) - expected.at(i, j)).absolute();
            // Each element is a sum of three numbers. For small elements the zero power may go undetected.
            EXPECT_LE((size.is_zero() ? error : error / size).to_double(),
                      (exponent > 10 ? 8.0 : 60.0) * static_cast<double>(unit_roundoff<T>))
                << i << ", " << j;
          }
        }
      }
    }
  }
}

TYPED_TEST(ExponentialTable, SquaringsForOneBlockDoNotSpoilAnother) {
  using T = TypeParam;
  // A block whose square is zero, next to one that is neither large nor nilpotent.
  for (const bool cycle : {false, true}) {
    constexpr bool is_float = std::is_same_v<Real<T>, float>;
    // A cycle's powers share one scaling with the other block's: both must be in range.
    for (const int exponent : {20, cycle ? (is_float ? 45 : 400) : (is_float ? 100 : 900)}) {
      Array A;
      A.rows = A.columns = 5;
      A.values.resize(25);
      const double size = std::ldexp(1.0, exponent);
      A.at(0, 1) = size;
      if (cycle) A.at(0, 0) = size, A.at(1, 0) = A.at(1, 1) = -size;
      for (Index j = 2; j < 5; ++j) {
        for (Index i = 2; i < 5; ++i) {
          A.at(i, j) = static_cast<double>(static_cast<Real<T>>(test::random_number(i, j, 9)));
        }
      }
      Array small;
      small.rows = small.columns = 3;
      for (Index j = 2; j < 5; ++j) {
        for (Index i = 2; i < 5; ++i) small.values.push_back(A.at(i, j));
      }
      const Truth truth = truth_of(small);
      for (const Method& method : methods()) {
        // few-products has factors that are sums of powers, and pade a linear system, whose errors are relative to the
        // norm.
        const bool takes_cycles =
            (method.method == ExpmMethod::automatic || method.method == ExpmMethod::paterson_stockmeyer) &&
            !method.batched;
        if (method.frechet || (cycle && !takes_cycles)) continue;
        SCOPED_TRACE(std::string(method.name) + (cycle ? ", cycle" : "") + ", 2^" + std::to_string(exponent));
        const auto found = this->exponential(this->comm, method, hunt::host_of<T>(A));
        if (this->comm.rank() != 0) continue;
        for (Index j = 0; j < 2; ++j) {
          for (Index i = 0; i < 2; ++i) {
            const Complex expected = A.at(i, j) + (i == j ? 1.0 : 0.0);
            EXPECT_LE(std::abs(test::widen(found.E(i, j)) - expected),
                      60.0 * static_cast<double>(unit_roundoff<T>) * std::abs(expected))
                << i << ", " << j;
          }
        }
        const auto block = test::host_matrix<T>(3, 3, [&](Index i, Index j) { return found.E(i + 2, j + 2); });
        Wide::bits = 600;
        EXPECT_LE((hunt::distance1(WideMatrix(block), truth.E) / hunt::norm1(truth.E)).to_double(),
                  120.0 * static_cast<double>(unit_roundoff<T>));
      }
    }
  }
}

}  // namespace
}  // namespace heddle::table_test
