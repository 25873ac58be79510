// How often sums and products are taken to integers of many digits, which take a hundred times as long as others: next
// to never, whatever the values are.
#include "interpose/blas/sums.hpp"
#include "interpose/blas/vectors.hpp"
#include "interpose/hard_numbers.hpp"
#include "interpose/placed/placed_product.hpp"

#include <functional>
#include <limits>

namespace heddle::test::cliffs_test {
namespace {

namespace library = impl::interpose;

enum class Values { normal, wide, zeros, ones, nan, infinity, denormal, huge };
constexpr Values every_value[] = {Values::normal, Values::wide,     Values::zeros,    Values::ones,
                                  Values::nan,    Values::infinity, Values::denormal, Values::huge};

template <Scalar T> std::vector<T> numbers_of(std::mt19937& engine, Values values, Index count) {
  using R = Real<T>;
  using Limits = std::numeric_limits<R>;
  const auto part = [&]() -> R {
    const R unit = random_number<R>(engine);
    constexpr int spread = sizeof(R) == 8 ? 200 : 30;
    switch (values) {
      case Values::wide:
        return std::ldexp(unit, static_cast<int>(engine() % (2 * spread)) - spread);
      case Values::zeros:
        return engine() % 10 == 0 ? unit : R{0};
      case Values::ones:
        return R{1};
      case Values::denormal:
        return unit * Limits::min() / 4;
      case Values::huge:
        return unit * (Limits::max() / 8);
      default:
        return unit;
    }
  };
  std::vector<T> all;
  for (Index k = 0; k < count; ++k) {
    if constexpr (is_complex<T>) {
      const R re = part();
      all.push_back(T(re, part()));
    } else {
      all.push_back(part());
    }
  }
  const auto third = static_cast<std::size_t>(count / 3);
  if (values == Values::nan) all[third] = T(Limits::quiet_NaN());
  if (values == Values::infinity) all[third] = T(Limits::infinity());
  return all;
}

// Sums in integers during `work`.
std::uint64_t counted(const std::function<void()>& work) {
  const std::uint64_t before = library::sums_in_integers;
  work();
  return library::sums_in_integers - before;
}

template <class T> class Cliffs : public testing::Test {};
using Types = testing::Types<float, double, Kokkos::complex<float>, Kokkos::complex<double>>;
TYPED_TEST_SUITE(Cliffs, Types);

TYPED_TEST(Cliffs, SumsAreSeldomTakenToIntegers) {
  using T = TypeParam;
  std::mt19937 engine(3);
  for (const Values values : every_value) {
    for (const Index n : {16, 100, 300}) {
      const std::vector<T> A = numbers_of<T>(engine, values, n * n);
      const std::vector<T> x = numbers_of<T>(engine, values, n);
      std::vector<T> y(x.size());
      const library::Dense lower{n, n, true};
      const std::pair<const char*, std::function<void()>> routines[] = {
          {"dot", [&] { y[0] = library::dot<T>(false, n, x.data(), 1, A.data(), 1); }},
          {"dotc", [&] { y[0] = library::dot<T>(true, n, x.data(), 1, A.data(), 1); }},
          {"asum", [&] { y[0] = T(library::absolute_sum<T>(n, x.data(), 1)); }},
          {"nrm2", [&] { y[0] = T(library::norm<T>(n, x.data(), 1)); }},
          {"gemv", [&] { library::gemv<T>({}, n, n, T{1}, A.data(), n, x.data(), 1, T{0}, y.data(), 1); }},
          {"gemv, turned",
           [&] {
             library::gemv<T>({true, true}, n, n, T{1}, A.data(), n, x.data(), 1, T{0}, y.data(), 1);
           }},
          {"symv",
           [&] { library::symv<T>(lower, is_complex<T>, false, n, T{1}, A.data(), x.data(), 1, T{0}, y.data(), 1); }},
          {"trmv",
           [&] {
             y = x;
             library::trmv<T>(lower, {}, false, n, A.data(), y.data(), 1);
           }},
          {"trsv",
           [&] {
             y = x;
             library::trsv<T>(lower, {}, true, n, A.data(), y.data(), 1);
           }},
      };
      for (const auto& [name, work] : routines) {
        EXPECT_LE(counted(work), static_cast<std::uint64_t>(n) / 50)
            << name << ", n = " << n << ", values " << static_cast<int>(values);
      }
    }
  }
}

TYPED_TEST(Cliffs, ProductsOfAnyValuesArePlaced) {
  using T = TypeParam;
  if (!library::has_placed_sums()) GTEST_SKIP() << "this processor has no vectors for them";
  std::mt19937 engine(4);
  const Index shapes[][3] = {{100, 100, 3}, {60, 60, 4}, {100, 90, 1}, {1, 100, 32}, {30, 30, 30}};
  for (const Values values : every_value) {
    for (const auto& [m, n, k] : shapes) {
      const std::vector<T> A = numbers_of<T>(engine, values, m * k);
      const std::vector<T> B = numbers_of<T>(engine, values, k * n);
      std::vector<T> C(static_cast<std::size_t>(m * n));
      bool placed = false;
      const std::uint64_t taken = counted([&] {
        placed = library::multiply_placed<T>(
            {Operation::none, Operation::none, m, n, k, T{1}, A.data(), m, B.data(), k, T{0}, C.data(), m}, 1);
      });
      EXPECT_TRUE(placed) << m << " x " << n << " x " << k << ", values " << static_cast<int>(values);
      EXPECT_LE(taken, static_cast<std::uint64_t>(m * n) / 50)
          << m << " x " << n << " x " << k << ", values " << static_cast<int>(values);
    }
  }
}

}  // namespace
}  // namespace heddle::test::cliffs_test
