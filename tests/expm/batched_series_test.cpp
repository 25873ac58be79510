// Batches of nilpotent matrices, whose exponentials are sums of few terms, against 256 bits.
#include "support/matrices.hpp"
#include "support/multiprecision.hpp"
#include <heddle/expm/batched.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace heddle::batched_series_test {
namespace {

using test::Complex;
using test::widen;

template <class T> using Batch = Kokkos::View<T***, Kokkos::LayoutLeft, MemorySpace>;
template <class T> class NilpotentBatch : public ::testing::Test {};
TYPED_TEST_SUITE(NilpotentBatch, test::AllScalars);

// Nilpotent matrices of integers in another basis: exp(A) is a sum of few exact terms.
TYPED_TEST(NilpotentBatch, SeriesEnd) {
  using T = TypeParam;
  using R = Real<T>;
  using Entry = std::function<double(Index i, Index j)>;
  struct Nilpotent {
    std::string name;
    Index rows;
    Entry entry;
  };
  std::vector<Nilpotent> kinds;
  for (Index index = 2; index <= 6; ++index) {
    // P S P^-1 for a bidiagonal P of ones, whose inverse has ones of alternating signs, and a shift S.
    kinds.push_back({"a shift of " + std::to_string(index), index, [index](Index i, Index j) {
                       double sum = 0.0;
                       for (Index k = std::max<Index>(i - 1, 0); k <= i; ++k) {
                         if (k + 1 < index && k + 1 >= j) sum += (k + 1 - j) % 2 == 0 ? 1.0 : -1.0;
                       }
                       return sum;
                     }});
  }
  kinds.push_back({"a full block of index 4", 4, [](Index i, Index j) {
                     constexpr double entries[4][4] = {{0, 2, 0, 0}, {0, -1, 1, 0}, {0, -1, 0, 1}, {0, -1, 0, 1}};
                     return i < 4 && j < 4 ? entries[i][j] : 0.0;
                   }});
  for (const auto& [name, rows, entry] : kinds) {
    for (const Index n : {rows, Index{7}}) {
      for (int exponent = 0; exponent <= 16; ++exponent) {
        test::WideMatrix N(static_cast<std::size_t>(n));
        const Batch<T> A("heddle::test::A", n, n, 1);
        const auto given = Kokkos::create_mirror(A);
        for (Index i = 0; i < n; ++i) {
          for (Index j = 0; j < n; ++j) {
            const double x = std::ldexp(entry(i, j), exponent);
            given(i, j, 0) = T(static_cast<R>(x));
            N.set(static_cast<std::size_t>(i), static_cast<std::size_t>(j), Complex(x));
          }
        }
        Kokkos::deep_copy(A, given);
        expm_batched(ExecutionSpace(), A, A);
        const auto found = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), A);
        const test::WideMatrix expected = test::wide_exponential(N);
        double error = 0.0;
        double size = 0.0;
        for (Index i = 0; i < n; ++i) {
          for (Index j = 0; j < n; ++j) {
            const Complex e = expected.get(static_cast<std::size_t>(i), static_cast<std::size_t>(j));
            error = std::max(error, std::abs(widen(found(i, j, 0)) - e));
            size = std::max(size, std::abs(e));
          }
        }
        EXPECT_LE(error, 10 * unit_roundoff<T> * size) << name << ", n = " << n << ", 2^" << exponent;
      }
    }
  }
}

}  // namespace
}  // namespace heddle::batched_series_test
