// Residues of emulated products: moduli, reconstruction, rounding, leading bits and memory.
#include "emulation/assemble.hpp"
#include "emulation/emulated.hpp"
#include "emulation/planes.hpp"
#include "support/errors.hpp"
#include "support/multiprecision.hpp"
#include <heddle/core/error.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <random>
#include <vector>

namespace heddle::impl::residues_test {
namespace {

constexpr Field fields[] = {Field::real, Field::complex};

TEST(Moduli, ArePairwiseCoprimeAndOfEightBits) {
  for (const auto& moduli : {real_moduli, complex_moduli}) {
    for (std::size_t k = 0; k < moduli.size(); ++k) {
      EXPECT_LE(moduli[k], 256);
      for (std::size_t l = 0; l < k; ++l) EXPECT_EQ(std::gcd(moduli[k], moduli[l]), 1) << moduli[k] << " " << moduli[l];
    }
  }
  for (const Field field : fields) {
    test::expect_refusal(ErrorKind::argument, "emulation: 6 moduli; expected 7 to 31",
                         [&] { ResidueSystem(field, least_moduli - 1); });
    test::expect_refusal(ErrorKind::argument, "emulation: 32 moduli; expected 7 to 31",
                         [&] { ResidueSystem(field, most_moduli + 1); });
  }
}

TEST(Moduli, OfComplexNumbersHaveRootsOfMinusOne) {
  const ResidueSystem system(Field::complex, most_moduli);
  ASSERT_EQ(system.split, split_moduli);
  int planes = 0;
  for (int l = 0; l < most_moduli; ++l) {
    const auto p = static_cast<int>(system.modulus[l]);
    int roots = 0;
    for (int j = 1; j < p; ++j) roots += (j * j + 1) % p == 0 ? 1 : 0;
    const bool split = l < system.split;
    EXPECT_EQ(roots > 0, split) << p;
    const auto root = static_cast<int>(system.root[l]);
    if (split) {
      EXPECT_EQ((root * root + 1) % p, 0) << p;
      EXPECT_LT(2 * root, p);
    }
    for (int part = 0; part < (split ? 2 : 3); ++part) EXPECT_EQ(system.modulus_of(planes++), l);
    EXPECT_EQ(ResidueSystem::planes(Field::complex, l + 1), planes);
  }
}

TEST(Slices, HoldWhatTheModuliReach) {
  for (const Field field : fields) {
    for (int count = least_moduli; count <= most_moduli; ++count) {
      const double reach = ResidueSystem(field, count).reach;
      const int slices = slices_for(reach);
      // -128 ... 127 in each slice.
      const auto most = [](int number) { return 127.0 / 255.0 * (std::ldexp(1.0, 8 * number) - 1.0); };
      EXPECT_GE(most(slices), reach) << count;
      EXPECT_LT(most(slices - 1), reach) << count;
      EXPECT_LE(slices, most_slices);
    }
  }
  EXPECT_EQ(slices_for(ResidueSystem(Field::real, 14).reach), 7);
  EXPECT_EQ(slices_for(ResidueSystem(Field::complex, 15).reach), 8);
}

// An integer of up to 256 bits, and its sign.
struct Signed {
  test::Number size;
  bool negative;

  std::uint32_t modulo(std::uint32_t p) const {
    // Horner's rule over its 32-bit digits.
    test::Number rest = size;
    std::uint64_t residue = 0;
    for (int k = 7; k >= 0; --k) {
      test::Number digit = rest;
      digit.scale_by_power_of_two(-32L * k);
      const auto whole = static_cast<std::uint64_t>(digit.to_double_down());
      test::Number taken(static_cast<double>(whole));
      taken.scale_by_power_of_two(32L * k);
      rest -= taken;
      residue = (residue * ((std::uint64_t{1} << 32) % p) + whole) % p;
    }
    return static_cast<std::uint32_t>(negative ? (p - residue) % p : residue);
  }
  double rounded() const { return negative ? -size.to_double() : size.to_double(); }
};

// Expect x, and for complex numbers the imaginary part y, to be reconstructed from residues as 32-bit sums have them,
// with any multiples of the moduli added.
template <int digits>
void expect_back(const ResidueSystem& system, const Signed& x, const Signed& y, std::mt19937_64& random) {
  ASSERT_EQ(system.digits, digits);
  const bool complex = system.field == Field::complex;
  ResidueSums<digits, 2> real(system.start);
  ResidueSums<digits, 2> imaginary(system.imaginary_start);
  for (int l = 0; l < system.count; ++l) {
    const std::uint32_t p = system.modulus[l];
    const std::uint32_t a = x.modulo(p);
    const std::uint32_t b = y.modulo(p);
    const auto j = static_cast<std::uint32_t>(system.root[l]);
    const std::uint32_t plus = (a + j * b) % p;
    const std::uint32_t minus = (a + (p - j) * b) % p;
    const bool split = l < system.split;
    // x + 2^31 modulo p represents x: the sum of two has twice 2^31, which the imaginary part of three planes
    // subtracts.
    const auto lift = static_cast<std::uint32_t>((std::uint64_t{1} << 31) % p);
    const auto add = [&](std::uint32_t residue, const std::uint32_t* weight, auto& sums) {
      const auto lifted = [&] { return static_cast<std::uint32_t>(residue % p + random() % 6 * p); };
      sums.add({lifted(), lifted()}, weight);
    };
    add(split ? plus + minus + 2 * lift : complex ? a : a + lift, system.weight[l], real);
    add(split ? plus + p - minus : b + p - lift, split ? system.imaginary_weight[l] : system.weight[l], imaginary);
  }
  const auto expect = [&](const auto& sums, const Signed& number) {
    double found[2];
    sums.values(system, {0, -300}, found);
    EXPECT_EQ(found[0], number.rounded()) << system.count;
    EXPECT_EQ(found[1], std::ldexp(number.rounded(), -300)) << system.count;
  };
  expect(real, x);
  if (complex) expect(imaginary, y);
}

void expect_back(const ResidueSystem& system, const Signed& x, const Signed& y, std::mt19937_64& random) {
  switch (system.digits) {
    case 3:
      return expect_back<3>(system, x, y, random);
    case 4:
      return expect_back<4>(system, x, y, random);
    case 5:
      return expect_back<5>(system, x, y, random);
    case 6:
      return expect_back<6>(system, x, y, random);
    default:
      return expect_back<8>(system, x, y, random);
  }
}

// An integer of any length up to that of P / 2.
Signed any_integer(const ResidueSystem& system, std::mt19937_64& random) {
  const auto bits = static_cast<int>(random() % static_cast<std::uint64_t>(system.log2_product - 1.01));
  test::Number x;
  for (int k = 0; k <= bits / 32; ++k) {
    test::Number digit(static_cast<double>(static_cast<std::uint32_t>(random())));
    digit.scale_by_power_of_two(32L * k);
    x += digit;
  }
  return {test::Number::floor_scaled(x, bits - 32 * (bits / 32 + 1)), random() % 2 == 0};
}

TEST(Residues, PutIntegersTogetherAgain) {
  std::mt19937_64 random(1);
  for (const Field field : fields) {
    for (int count = least_moduli; count <= most_moduli; ++count) {
      const ResidueSystem system(field, count);
      for (int trial = 0; trial < 60; ++trial) {
        const Signed x = any_integer(system, random);
        expect_back(system, x, any_integer(system, random), random);
      }
    }
  }
}

// The quotient by P is hardest to find for the largest possible sums.
TEST(Residues, PutTheLargestIntegersTogetherAgain) {
  std::mt19937_64 random(2);
  for (const Field field : fields) {
    for (int count = least_moduli; count <= most_moduli; ++count) {
      const ResidueSystem system(field, count);
      test::Number largest(system.reach);
      largest *= test::Number(system.reach);
      const auto nearly = [&] {
        test::Number x = largest;
        x -= test::Number(static_cast<double>(random() % 1000000));
        return Signed{test::Number::floor_scaled(x, 0), random() % 2 == 0};
      };
      for (int trial = 0; trial < 200; ++trial) {
        const Signed x = nearly();
        expect_back(system, x, nearly(), random);
      }
    }
  }
}

// Residues are congruent and have 8 bits, also next to rounding boundaries and up to the largest integers.
TEST(Residues, AreCongruentAndOfEightBits) {
  std::mt19937_64 random(3);
  for (const Field field : fields) {
    const int count = field == Field::real ? 14 : 15;
    const ResidueSystem system(field, count);
    for (int l = 0; l < count; ++l) {
      const auto p = static_cast<std::int64_t>(system.modulus[l]);
      const auto expect = [&](std::int64_t x) {
        const auto value = static_cast<double>(x);
        const int near = near_residue_of<0>(value, system.divisor[l], system.inverse[l]);
        EXPECT_EQ((static_cast<std::int64_t>(value) - near) % p, 0) << x << " " << p;
        EXPECT_LE(24 * std::abs(near), 13 * p) << x << " " << p;
        if (field == Field::real) {
          const int residue = residue_of<0>(value, system.divisor[l], system.inverse[l]);
          EXPECT_EQ((static_cast<std::int64_t>(value) - residue) % p, 0) << x << " " << p;
        }
      };
      const auto reach = static_cast<std::int64_t>(system.reach);
      for (int trial = 0; trial < 2000; ++trial) {
        const auto size = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(reach >> random() % 54));
        const std::int64_t odd = size / p * p + p / 2;
        for (const std::int64_t x : {size, odd, odd + 1, reach - size % 1000}) {
          expect(std::min(x, reach));
          expect(-std::min(x, reach));
        }
        // Quotients of large numbers have the largest errors, near the middle between two multiples of p.
        const std::int64_t large = reach - static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(reach / 8));
        const std::int64_t middle = large / p * p + p / 2;
        for (std::int64_t x = middle - 6; x <= middle + 6; ++x) {
          expect(std::min(x, reach));
          expect(-std::min(x, reach));
        }
      }
    }
  }
}

TEST(Residues, OfSmallNumbersAreTheNearestToZero) {
  const ResidueSystem system(Field::complex, split_moduli);
  for (int l = 0; l < split_moduli; ++l) {
    const auto p = static_cast<int>(system.modulus[l]);
    // Largest possible x + j y.
    EXPECT_LT(13 * p * (1 + static_cast<int>(system.root[l])), 24 << 14);
    for (int x = -(1 << 14); x <= 1 << 14; ++x) {
      const int residue = small_residue(static_cast<float>(x), system.small_divisor[l], system.small_inverse[l]);
      ASSERT_EQ((x - residue) % p, 0) << x << " " << p;
      ASSERT_LE(2 * std::abs(residue), p) << x << " " << p;
    }
  }
}

template <class T> class Nearest : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Nearest, Reals);

// Rounding agrees with MPFR's, from overflow to underflow.
TYPED_TEST(Nearest, RoundsOnceToEven) {
  using T = TypeParam;
  std::mt19937_64 random(2);
  const auto check = [](const std::array<std::uint32_t, 4>& digits, int exponent) {
    test::Number x;
    for (int k = 0; k < 4; ++k) {
      test::Number digit(digits[static_cast<std::size_t>(k)]);
      digit.scale_by_power_of_two(exponent + 32L * k);
      x += digit;
    }
    std::uint32_t magnitude[4][2];
    for (std::size_t k = 0; k < 4; ++k) magnitude[k][0] = magnitude[k][1] = digits[k];
    T found[2];
    nearest(magnitude, {0U, 1U}, {exponent, exponent}, found);
    const T expected = x.template rounded<T>();
    EXPECT_EQ(found[0], expected) << exponent;
    EXPECT_EQ(found[1], -expected) << exponent;
  };
  for (int trial = 0; trial < 20000; ++trial) {
    const int exponent = static_cast<int>(random() % 2400) - 1300;
    std::array<std::uint32_t, 4> digits{};
    // With few bits set, ties and their neighbours occur.
    for (int k = 0; k < 3; ++k) digits[random() % 4] |= std::uint32_t{1} << random() % 32;
    if (trial % 3 == 0) digits[random() % 4] = ~std::uint32_t{0};
    if (trial % 5 == 0) digits = {digits[0], digits[1], 0, 0};
    check(digits, exponent);
  }
  check({0, 0, 0, 0}, 0);
  check({1, 0, 0, 0}, -1074);
  check({1, 0, 0, 0}, -1075);
  check({3, 0, 0, 0}, -1076);
}

// Numbers near the largest have their leading bits in plane 0 and the largest number of that width in plane 1; numbers
// 2^-10 times as large have bits there.
TEST(LeadingBits, AreThoseNearAndFarFromTheLargest) {
  const ExecutionSpace space;
  constexpr int width = 5;
  constexpr int most = (1 << width) - 1;
  const std::vector<double> x = {-0x1.fp3, 0x1.6p2, 0x1p-1, 0x1.fcp-7, -0x1.8p-8, 0x1p-11, 0x1p-12, 0.0};
  const auto n = static_cast<Index>(x.size());
  const LocalMatrix<double> X("heddle::test::x", x.size(), 1);
  const auto host = Kokkos::create_mirror_view(X);
  for (std::size_t i = 0; i < x.size(); ++i) host(i, 0) = x[i];
  Kokkos::deep_copy(X, host);
  QuantisedVectors<double> vectors(space, Factor::right, 1, n);
  vectors.measure(space, Operation::none, X);
  vectors.reserve(space, vectors.vectors(), QuantisedVectors<double>::leading_planes);
  vectors.take_leading(space, width, Operation::none, X);
  const auto plane = [&](int number) {
    const Kokkos::View<const std::int8_t*, MemorySpace, Kokkos::MemoryUnmanaged> bytes(vectors.plane(number), x.size());
    const auto mirror = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), bytes);
    return std::vector<int>(mirror.data(), mirror.data() + x.size());
  };
  // The largest is below 2^4: |x| 2^(5 - 4), and 2^10 times that.
  EXPECT_EQ(plane(0), (std::vector<int>{31, 11, 1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(plane(1), (std::vector<int>{most, most, most, most, 12, 1, 0, 0}));
  EXPECT_EQ(plane(2), (std::vector<int>{1, 1, 1, 1, 1, 1, 1, 0}));
}

// The largest width for which a sum of `inner` products stays below 2^31.
TEST(LeadingWidth, IsTheWidestThatFits) {
  const auto widest = [](Index inner) {
    int width = 7;
    while (width > 1 && static_cast<double>(inner) * std::pow(std::ldexp(1.0, width) - 1.0, 2) >= 0x1p31) --width;
    return width;
  };
  for (int width = 1; width <= 7; ++width) {
    const double square = std::pow(std::ldexp(1.0, width) - 1.0, 2);
    const auto limit = static_cast<Index>(0x1p31 / square);
    for (Index inner = std::max<Index>(limit - 3, 1); inner <= limit + 3; ++inner) {
      EXPECT_EQ(leading_width(inner), widest(inner)) << inner;
    }
  }
  EXPECT_EQ(leading_width(1), 7);
}

// Memory of a product of 2048 x 2048 doubles on CPUs besides the matrices: less than half of 14 planes of both factors
// and 64 MiB of sums.
TEST(Panels, HoldsFewColumnsAtOnceOnCpus) {
  if constexpr (!on_host) GTEST_SKIP() << "GPUs hold more";
  constexpr Index n = 2048;
  const double plane = static_cast<double>(n * n);
  for (const bool look : {false, true}) {
    const EmulationOptions options{.look = look};
    const Index at_once = columns_at_once<double>(n, n, n, options);
    EXPECT_EQ(at_once % QuantisedVectors<double>::vector_padding, 0);
    const double bytes = QuantisedVectors<double>::bytes(n, n, 14) +
                         bytes_of_right<double>(n, at_once, n, 14, options) +
                         4.0 * static_cast<double>(EmulatedProduct<double>::sums_for(n, at_once, 14, 0));
    EXPECT_LT(bytes, 0.5 * (28 * plane + 0x1p26));
    EXPECT_GE(bytes, 14 * plane);
  }
  EXPECT_EQ(columns_at_once<double>(64, 64, 64, {}), 64);
  EXPECT_EQ(columns_at_once<double>(64, 0, 64, {}), 0);
  EXPECT_EQ(columns_at_once<double>(n, n, n, {.scheme = EmulationScheme::slices}), n);
}

}  // namespace
}  // namespace heddle::impl::residues_test
