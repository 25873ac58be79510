// Tests of products by integers.
#include "emulation/integer.hpp"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace heddle::impl::integer_test {
namespace {

using Multiply = std::function<void(const IntegerProducts&)>;

// A vendor's, our own for any processor, and those for this one.
std::vector<std::pair<std::string, Multiply>> all_ways(const ExecutionSpace& space, const blas::Context& context) {
  std::vector<std::pair<std::string, Multiply>> ways = {
      {"integer_gemm", [&](const IntegerProducts& products) { integer_gemm(context, products); }},
      {"portable", [&](const IntegerProducts& products) { portable_integer_gemm(space, products); }}};
  for (const IntegerKernel& kernel : integer_kernels()) {
    ways.emplace_back(kernel.name, [&](const IntegerProducts& products) { kernel.multiply(space, products); });
  }
  return ways;
}

// The largest sums of 32 bits, on top of what is there, in every plane.
TEST(IntegerGemm, IsExactUpToTheLastBit) {
  constexpr Index m = 16, n = 5, k = 131008;
  constexpr int count = 2;
  const Kokkos::View<std::int8_t*, MemorySpace> A("A", m * k * count);
  const Kokkos::View<std::int8_t*, MemorySpace> B("B", n * k * count);
  const Kokkos::View<std::int32_t*, MemorySpace> C("C", m * n * count);
  const auto a = Kokkos::create_mirror_view(A);
  const auto b = Kokkos::create_mirror_view(B);
  const auto entry = [](Index number, Index vector, Index plane) {
    return plane == 0 ? -128 : static_cast<int>((number * 37 + vector * 11) % 256) - 128;
  };
  for (Index plane = 0; plane < count; ++plane) {
    for (Index i = 0; i < m; ++i) {
      for (Index l = 0; l < k; ++l) a((plane * m + i) * k + l) = static_cast<std::int8_t>(entry(l, i, plane));
    }
    for (Index j = 0; j < n; ++j) {
      for (Index l = 0; l < k; ++l) b((plane * n + j) * k + l) = static_cast<std::int8_t>(entry(l, j + 3, plane));
    }
  }
  Kokkos::deep_copy(A, a);
  Kokkos::deep_copy(B, b);
  const ExecutionSpace space;
  const blas::Context context(space);
  for (const auto& [name, multiply] : all_ways(space, context)) {
    Kokkos::deep_copy(C, 255);
    for (const bool add : {true, false}) {
      multiply({m, n, k, count, A.data(), k, m * k, B.data(), k, n * k, C.data(), m, m * n, add});
      space.fence();
      const auto c = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), C);
      for (Index plane = 0; plane < count; ++plane) {
        for (Index j = 0; j < n; ++j) {
          for (Index i = 0; i < m; ++i) {
            std::int64_t sum = add ? 255 : 0;
            for (Index l = 0; l < k; ++l) sum += entry(l, i, plane) * entry(l, j + 3, plane);
            ASSERT_EQ(c(plane * m * n + i + j * m), sum) << name << plane << " " << i << " " << j << " " << add;
          }
        }
      }
    }
  }
}

// Any vendor's and our own, with room between vectors and between planes.
TEST(IntegerGemm, TakesAnyShape) {
  std::mt19937 random(1);
  const ExecutionSpace space;
  const blas::Context context(space);
  constexpr int count = 3;
  for (const Index m : {16, 48, 272}) {
    for (const Index n : {1, 7, 48, 250}) {
      for (const Index k : {64, 576, 2112}) {
        const Index leading = k + 64;
        const Index leading_c = m + 16;
        const auto filled = [&](Index vectors) {
          const Kokkos::View<std::int8_t*, MemorySpace> X("X", count * vectors * leading);
          const auto x = Kokkos::create_mirror_view(X);
          // Sums beyond 24 bits.
          for (std::size_t e = 0; e < x.extent(0); ++e)
            x(e) = static_cast<std::int8_t>(random() % 8 == 0 ? random() : 100 + random() % 28);
          Kokkos::deep_copy(X, x);
          return X;
        };
        const auto A = filled(m);
        const auto B = filled(n);
        const auto a = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), A);
        const auto b = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), B);
        const Kokkos::View<std::int32_t*, MemorySpace> C("C", count * n * leading_c);
        for (const auto& [name, multiply] : all_ways(space, context)) {
          Kokkos::deep_copy(C, 7);
          const IntegerProducts products{
              m,        n,       k,           count,    A.data(),  leading,       m * leading,
              B.data(), leading, n * leading, C.data(), leading_c, n * leading_c, false};
          multiply(products);
          space.fence();
          const auto c = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), C);
          for (Index plane = 0; plane < count; ++plane) {
            for (Index j = 0; j < n; ++j) {
              for (Index i = 0; i < leading_c; ++i) {
                int sum = i < m ? 0 : 7;
                for (Index l = 0; i < m && l < k; ++l) {
                  sum += int{a((plane * m + i) * leading + l)} * int{b((plane * n + j) * leading + l)};
                }
                ASSERT_EQ(c((plane * n + j) * leading_c + i), sum) << m << " " << n << " " << k << " " << name;
              }
            }
          }
        }
      }
    }
  }
}

// Every modulus, shapes at and off the edges of tiles, room between vectors and planes, on top of what is there or not.
TEST(IntegerResidues, AreThoseOfTheSums) {
  if (!has_integer_residues()) {
    GTEST_SKIP() << "no units that reduce sums";
  }
  std::mt19937 random(2);
  const ExecutionSpace space;
  const blas::Context context(space);
  const std::vector<std::uint32_t> moduli = {256, 255, 251, 129, 128, 127, 101, 64, 53};
  const auto count = static_cast<int>(moduli.size());
  using Extents = std::array<Index, 3>;
  for (const auto& extents : {Extents{16, 1, 64}, Extents{48, 37, 192}, Extents{272, 144, 320}, Extents{528, 80, 576},
                              Extents{16, 5, 131008}}) {
    const Index m = extents[0];
    const Index n = extents[1];
    const Index k = extents[2];
    const Index leading = k + 64;
    const Index leading_d = m + 32;
    const Index stride_d = leading_d * (n + 1);
    const auto filled = [&](Index vectors) {
      const Kokkos::View<std::int8_t*, MemorySpace> X("X", count * vectors * leading);
      const auto x = Kokkos::create_mirror_view(X);
      // The largest sums there are, of either sign, but for some.
      for (std::size_t e = 0; e < x.extent(0); ++e)
        x(e) = static_cast<std::int8_t>(random() % 8 == 0 ? random() : vectors == m ? 0x80 : 0x80 - random() % 2);
      Kokkos::deep_copy(X, x);
      return X;
    };
    const auto A = filled(m);
    const auto B = filled(n);
    const auto a = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), A);
    const auto b = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), B);
    const Kokkos::View<std::uint8_t*, MemorySpace> D("D", count * stride_d);
    for (const bool add : {false, true}) {
      constexpr int kept = 52;
      Kokkos::deep_copy(D, std::uint8_t{kept});
      integer_residues(context,
                       {m, n, k, count, A.data(), leading, m * leading, B.data(), leading, n * leading, nullptr,
                        leading_d, stride_d, add},
                       moduli.data(), D.data());
      space.fence();
      const auto d = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), D);
      for (int plane = 0; plane < count; ++plane) {
        const auto p = static_cast<std::int64_t>(moduli[static_cast<std::size_t>(plane)]);
        for (Index e = 0; e < stride_d; ++e) {
          const Index i = e % leading_d;
          const Index j = e / leading_d;
          const int found = d(plane * stride_d + e);
          if (i >= m || j >= n) {
            ASSERT_EQ(found, kept) << plane << " " << i << " " << j;
            continue;
          }
          std::int64_t sum = add ? kept : 0;
          for (Index l = 0; l < k; ++l) {
            sum += a((plane * m + i) * leading + l) * b((plane * n + j) * leading + l);
          }
          ASSERT_LE(found, p);
          ASSERT_EQ((sum - found) % p, 0) << m << " " << n << " " << k << ": " << plane << " " << i << " " << j;
        }
      }
    }
  }
}

}  // namespace
}  // namespace heddle::impl::integer_test
