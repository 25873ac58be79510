// BLAS 2 of banded and packed matrices and updates of rank 2, by Fortran's names and by CBLAS' in both orders: beside
// sums over whole matrices. BLAS 1 that moves and rotates.
#include "interpose/library.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace heddle::test::banded_test {
namespace {

constexpr int row_major = 101;
constexpr int column_major = 102;

int operation_of(char op) {
  return op == 'N' ? 111 : op == 'T' ? 112 : 113;
}
int triangle_of(char part) {
  return part == 'U' ? 121 : 122;
}

// A matrix, its elements where the routines want them.
template <class T> struct Square {
  int n;
  int m;
  std::vector<T> all;  // By columns.
  Square(int rows, int columns) : n(columns), m(rows), all(static_cast<std::size_t>(rows * columns)) {}
  T& operator()(int i, int j) { return all[static_cast<std::size_t>(i + j * m)]; }
  const T& operator()(int i, int j) const { return all[static_cast<std::size_t>(i + j * m)]; }

  // Diagonals `lower` below the main one and `upper` above it.
  [[nodiscard]] std::vector<T> banded(int order, int lower, int upper, int leading) const {
    const bool by_rows = order == row_major;
    std::vector<T> stored(static_cast<std::size_t>(leading * std::max(m, n)), T(77));
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < m; ++i) {
        if (i - j > lower || j - i > upper) continue;
        const int at = by_rows ? lower + j - i + i * leading : upper + i - j + j * leading;
        stored[static_cast<std::size_t>(at)] = (*this)(i, j);
      }
    }
    return stored;
  }
  // A triangle, column after column of it, or row after row.
  [[nodiscard]] std::vector<T> packed(int order, char part) const {
    std::vector<T> stored;
    for (int outer = 0; outer < n; ++outer) {
      for (int inner = 0; inner < n; ++inner) {
        const int i = order == row_major ? outer : inner;
        const int j = order == row_major ? inner : outer;
        if (part == 'U' ? i <= j : i >= j) stored.push_back((*this)(i, j));
      }
    }
    return stored;
  }
  [[nodiscard]] std::vector<T> whole(int order) const {
    if (order == column_major) return all;
    std::vector<T> turned(all.size());
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < m; ++i) turned[static_cast<std::size_t>(i * n + j)] = (*this)(i, j);
    }
    return turned;
  }
};

template <class T> class Banded : public testing::Test {
 protected:
  int pick(int least, int most) { return std::uniform_int_distribution<int>(least, most)(engine_); }
  T number() { return random_number<T>(engine_); }
  std::vector<T> numbers(int count) { return random_numbers<T>(engine_, count); }
  char letter_of(const char* letters) { return letters[pick(0, static_cast<int>(std::strlen(letters)) - 1)]; }

  // CBLAS passes complex scalars by address.
  static auto argument(const T& x) {
    if constexpr (is_complex<T>) {
      return static_cast<const void*>(&x);
    } else {
      return x;
    }
  }
  using Passed = std::conditional_t<is_complex<T>, const void*, T>;
  std::string cblas(const std::string& stem) const { return std::string("cblas_") + letter<T> + stem; }
  std::string fortran(const std::string& stem) const { return letter<T> + stem + "_"; }

  static void expect_near(const std::vector<T>& mine, const std::vector<T>& expected, const std::string& what) {
    ASSERT_EQ(mine.size(), expected.size());
    for (std::size_t e = 0; e < mine.size(); ++e) {
      const double bound =
          60.0 * static_cast<double>(unit_roundoff<T>) *
          std::max(1.0, std::abs(real_of<double>(expected[e])) + std::abs(imaginary_of<double>(expected[e])));
      ASSERT_NEAR(real_of<double>(mine[e]), real_of<double>(expected[e]), bound) << what << ", element " << e;
      ASSERT_NEAR(imaginary_of<double>(mine[e]), imaginary_of<double>(expected[e]), bound) << what << ", element " << e;
    }
  }
  // alpha op(A) x + beta y.
  std::vector<T> product(char op, const T& alpha, const Square<T>& A, const std::vector<T>& x, const T& beta,
                         const std::vector<T>& y) const {
    std::vector<T> result(y.size());
    for (std::size_t i = 0; i < y.size(); ++i) {
      T sum{0};
      for (std::size_t k = 0; k < x.size(); ++k) {
        const auto row = static_cast<int>(i);
        const auto column = static_cast<int>(k);
        const T a = op == 'N' ? A(row, column) : op == 'T' ? A(column, row) : conjugate(A(column, row));
        sum += a * x[k];
      }
      result[i] = alpha * sum + beta * y[i];
    }
    return result;
  }
  // Symmetric, or Hermitian where complex, with so many diagonals.
  Square<T> symmetric(int n, int width) {
    Square<T> A(n, n);
    for (int j = 0; j < n; ++j) {
      for (int i = j; i < n; ++i) {
        if (i - j > width) continue;
        A(i, j) = i == j ? T(real_of<Real<T>>(number())) : number();
        A(j, i) = conjugate(A(i, j));
      }
    }
    return A;
  }
  Square<T> triangle(int n, int width, char part) {
    Square<T> A(n, n);
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) {
        if (std::abs(i - j) <= width && (part == 'U' ? i <= j : i >= j)) {
          A(i, j) = i == j ? number() * Real<T>(0.1) + T(2) : number() * Real<T>(0.1);
        }
      }
    }
    return A;
  }

  std::mt19937 engine_{17};
};
using Types = testing::Types<float, double, Kokkos::complex<float>, Kokkos::complex<double>>;
TYPED_TEST_SUITE(Banded, Types);

TYPED_TEST(Banded, ProductsOfWholeMatrices) {
  using T = TypeParam;
  using P = typename TestFixture::Passed;
  using General = void(int, int, int, int, P, const T*, int, const T*, int, P, T*, int);
  for (int number = 0; number < 150; ++number) {
    const int m = this->pick(1, 20);
    const int n = this->pick(1, 20);
    Square<T> A(m, n);
    for (T& a : A.all) a = this->number();
    const T alpha = this->number();
    const T beta = this->number();
    for (const char op : {'N', 'T', 'C'}) {
      const auto x = this->numbers(op == 'N' ? n : m);
      const auto y = this->numbers(op == 'N' ? m : n);
      const auto expected = this->product(op, alpha, A, x, beta, y);
      for (const int order : {row_major, column_major}) {
        std::vector<T> stored = A.all;
        for (int i = 0; i < m && order == row_major; ++i) {
          for (int j = 0; j < n; ++j) stored[static_cast<std::size_t>(j + i * n)] = A(i, j);
        }
        auto mine = y;
        blas_function<General>(this->cblas("gemv"))(order, operation_of(op), m, n, this->argument(alpha), stored.data(),
                                                    order == row_major ? n : m, x.data(), 1, this->argument(beta),
                                                    mine.data(), 1);
        this->expect_near(mine, expected, std::string("gemv ") + op + (order == row_major ? " by rows" : ""));
      }
    }
  }
}

TYPED_TEST(Banded, ProductsOfBands) {
  using T = TypeParam;
  using P = typename TestFixture::Passed;
  using General = void(int, int, int, int, int, int, P, const T*, int, const T*, int, P, T*, int);
  using Symmetric = void(int, int, int, int, P, const T*, int, const T*, int, P, T*, int);
  for (int number = 0; number < 150; ++number) {
    const int m = this->pick(1, 20);
    const int n = this->pick(1, 20);
    const int lower = this->pick(0, m + 1);
    const int upper = this->pick(0, n + 1);
    const char op = this->letter_of("NTC");
    const int order = number % 2 == 0 ? row_major : column_major;
    Square<T> A(m, n);
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < m; ++i) A(i, j) = i - j > lower || j - i > upper ? T{0} : this->number();
    }
    const T alpha = this->number();
    const T beta = number % 3 == 0 ? T{0} : this->number();
    const auto x = this->numbers(op == 'N' ? n : m);
    const auto y = this->numbers(op == 'N' ? m : n);
    const int lda = lower + upper + 1 + this->pick(0, 2);
    const auto expected = this->product(op, alpha, A, x, beta, y);
    auto mine = y;
    blas_function<General>(this->cblas("gbmv"))(order, operation_of(op), m, n, lower, upper, this->argument(alpha),
                                                A.banded(order, lower, upper, lda).data(), lda, x.data(), 1,
                                                this->argument(beta), mine.data(), 1);
    this->expect_near(mine, expected, "gbmv");
    auto again = y;
    const auto stored = A.banded(column_major, lower, upper, lda);
    const int one = 1;
    call(blas_function<Routine>(this->fortran("gbmv")),
         {&op, &m, &n, &lower, &upper, &alpha, stored.data(), &lda, x.data(), &one, &beta, again.data(), &one});
    EXPECT_EQ(std::memcmp(mine.data(), again.data(), mine.size() * sizeof(T)), 0);
    this->expect_near(again, expected, "gbmv");

    const int width = this->pick(0, n + 1);
    const char part = this->letter_of("UL");
    const Square<T> S = this->symmetric(n, width);
    const auto u = this->numbers(n);
    const auto v = this->numbers(n);
    const auto wanted = this->product('N', alpha, S, u, beta, v);
    const int ldb = width + 1 + this->pick(0, 2);
    auto result = v;
    const auto band = S.banded(order, part == 'U' ? 0 : width, part == 'U' ? width : 0, ldb);
    blas_function<Symmetric>(this->cblas(is_complex<T> ? "hbmv" : "sbmv"))(
        order, triangle_of(part), n, width, this->argument(alpha), band.data(), ldb, u.data(), 1, this->argument(beta),
        result.data(), 1);
    this->expect_near(result, wanted, "sbmv");
  }
}

TYPED_TEST(Banded, ProductsOfPackedMatricesAndUpdates) {
  using T = TypeParam;
  using P = typename TestFixture::Passed;
  using R = Real<T>;
  using Multiply = void(int, int, int, P, const T*, const T*, int, P, T*, int);
  using Update = void(int, int, int, R, const T*, int, T*);
  using Whole = void(int, int, int, P, const T*, int, const T*, int, T*, int);
  using Packed = void(int, int, int, P, const T*, int, const T*, int, T*);
  const bool hermitian = is_complex<T>;
  for (int number = 0; number < 150; ++number) {
    const int n = this->pick(1, 20);
    const char part = this->letter_of("UL");
    const int order = number % 2 == 0 ? row_major : column_major;
    const Square<T> A = this->symmetric(n, n);
    const T alpha = this->number();
    const T beta = this->number();
    const auto x = this->numbers(n);
    const auto y = this->numbers(n);
    auto mine = y;
    blas_function<Multiply>(this->cblas(hermitian ? "hpmv" : "spmv"))(
        order, triangle_of(part), n, this->argument(alpha), A.packed(order, part).data(), x.data(), 1,
        this->argument(beta), mine.data(), 1);
    this->expect_near(mine, this->product('N', alpha, A, x, beta, y), "spmv");

    Square<T> one = A;
    Square<T> two = A;
    const T scale(real_of<R>(alpha));
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const auto to = static_cast<std::size_t>(j);
        one(i, j) += scale * x[at] * conjugate(x[to]);
        two(i, j) += alpha * x[at] * conjugate(y[to]) + conjugate(alpha) * y[at] * conjugate(x[to]);
      }
    }
    auto packed = A.packed(order, part);
    blas_function<Update>(this->cblas(hermitian ? "hpr" : "spr"))(order, triangle_of(part), n, real_of<R>(alpha),
                                                                  x.data(), 1, packed.data());
    this->expect_near(packed, one.packed(order, part), "spr");
    packed = A.packed(order, part);
    blas_function<Packed>(this->cblas(hermitian ? "hpr2" : "spr2"))(order, triangle_of(part), n, this->argument(alpha),
                                                                    x.data(), 1, y.data(), 1, packed.data());
    this->expect_near(packed, two.packed(order, part), "spr2");
    // Only one triangle of a whole matrix changes.
    auto whole = A.whole(order);
    blas_function<Whole>(this->cblas(hermitian ? "her2" : "syr2"))(order, triangle_of(part), n, this->argument(alpha),
                                                                   x.data(), 1, y.data(), 1, whole.data(), n);
    Square<T> expected = A;
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) {
        if (part == 'U' ? i <= j : i >= j) expected(i, j) = two(i, j);
      }
    }
    this->expect_near(whole, expected.whole(order), "syr2");
    // And by Fortran, backwards.
    std::vector<T> turned = x;
    std::reverse(turned.begin(), turned.end());
    packed = A.packed(column_major, part);
    const int back = -1;
    const int ahead = 1;
    call(blas_function<Routine>(this->fortran(hermitian ? "hpr2" : "spr2")),
         {&part, &n, &alpha, turned.data(), &back, y.data(), &ahead, packed.data()});
    this->expect_near(packed, two.packed(column_major, part), "spr2_");
  }
}

TYPED_TEST(Banded, Triangles) {
  using T = TypeParam;
  using Band = void(int, int, int, int, int, int, const T*, int, T*, int);
  using Packed = void(int, int, int, int, int, const T*, T*, int);
  for (int number = 0; number < 150; ++number) {
    const int n = this->pick(1, 30);
    const int width = this->pick(0, n + 1);
    const char part = this->letter_of("UL");
    const char op = this->letter_of("NTC");
    const bool unit = this->pick(0, 1) == 1;
    const int diagonal = unit ? 132 : 131;
    const int order = number % 2 == 0 ? row_major : column_major;
    const int lda = width + 1 + this->pick(0, 2);
    Square<T> A = this->triangle(n, width, part);
    const auto x = this->numbers(n);
    const auto stored = A.banded(order, part == 'U' ? 0 : width, part == 'U' ? width : 0, lda);
    const auto packed = A.packed(order, part);
    if (unit) {
      for (int i = 0; i < n; ++i) A(i, i) = T{1};
    }
    const auto expected = this->product(op, T{1}, A, x, T{0}, x);
    auto mine = x;
    blas_function<Band>(this->cblas("tbmv"))(order, triangle_of(part), operation_of(op), diagonal, n, width,
                                             stored.data(), lda, mine.data(), 1);
    this->expect_near(mine, expected, "tbmv");
    auto packed_product = x;
    blas_function<Packed>(this->cblas("tpmv"))(order, triangle_of(part), operation_of(op), diagonal, n, packed.data(),
                                               packed_product.data(), 1);
    EXPECT_EQ(std::memcmp(mine.data(), packed_product.data(), mine.size() * sizeof(T)), 0);
    blas_function<Band>(this->cblas("tbsv"))(order, triangle_of(part), operation_of(op), diagonal, n, width,
                                             stored.data(), lda, mine.data(), 1);
    this->expect_near(mine, x, "tbsv");
    blas_function<Packed>(this->cblas("tpsv"))(order, triangle_of(part), operation_of(op), diagonal, n, packed.data(),
                                               packed_product.data(), 1);
    this->expect_near(packed_product, x, "tpsv");
  }
}

template <class T> class Moving : public testing::Test {};
TYPED_TEST_SUITE(Moving, Types);

TYPED_TEST(Moving, CopiesSwapsAndFindsTheLargest) {
  using T = TypeParam;
  using Two = void(int, const T*, int, T*, int);
  using Largest = std::size_t(int, const T*, int);
  const std::string l(1, letter<T>);
  const std::vector<T> x = {T(1), T(-4), T(4), T(2)};
  std::vector<T> y(8, T(9));
  blas_function<Two>("cblas_" + l + "copy")(4, x.data(), 1, y.data(), -2);
  EXPECT_EQ(y, (std::vector<T>{T(2), T(9), T(4), T(9), T(-4), T(9), T(1), T(9)}));
  std::vector<T> z = x;
  blas_function<void(int, T*, int, T*, int)>("cblas_" + l + "swap")(4, z.data(), 1, y.data(), 2);
  EXPECT_EQ(z, (std::vector<T>{T(2), T(4), T(-4), T(1)}));
  EXPECT_EQ(y, (std::vector<T>{T(1), T(9), T(-4), T(9), T(4), T(9), T(2), T(9)}));
  const auto largest = blas_function<Largest>("cblas_i" + l + "amax");
  EXPECT_EQ(largest(4, x.data(), 1), 1U);
  EXPECT_EQ(largest(2, x.data(), 2), 1U);
  EXPECT_EQ(largest(0, x.data(), 1), 0U);
  const int n = 4;
  const int one = 1;
  const int none = 0;
  const auto from_one = blas_function<int(const int*, const T*, const int*)>("i" + l + "amax_");
  EXPECT_EQ(from_one(&n, x.data(), &one), 2);
  EXPECT_EQ(from_one(&n, x.data(), &none), 0);
}

TYPED_TEST(Moving, Rotations) {
  using T = TypeParam;
  using R = Real<T>;
  const std::string l(1, letter<T>);
  std::mt19937 engine(2);
  const auto rotation = blas_function<void(T*, T*, R*, T*)>(l + "rotg_");
  const R huge = std::numeric_limits<R>::max() / R(4);
  const R tiny = std::numeric_limits<R>::min() / R(8);
  for (const R size : {R(1), huge, tiny}) {
    for (int number = 0; number < 50; ++number) {
      const T a = number == 0 ? T{0} : random_number<T>(engine) * size;
      const T b = number == 1 ? T{0} : random_number<T>(engine) * size;
      T r = a;
      T z = b;
      R c{};
      T s{};
      rotation(&r, &z, &c, &s);
      const double u = 20.0 * static_cast<double>(unit_roundoff<T>);
      const double sum = static_cast<double>(c) * static_cast<double>(c) + std::pow(real_of<double>(s), 2) +
                         std::pow(imaginary_of<double>(s), 2);
      EXPECT_NEAR(sum, 1.0, u);
      // c a + s b = r, c b = conj(s) a.
      const auto scaled = [&](const T& x) { return size < R(1) ? x * R(8 / unit_roundoff<T>) : x * R(0.125); };
      const T turned = scaled(a) * c + scaled(b) * s;
      const T gone = scaled(b) * c - scaled(a) * conjugate(s);
      const double bound =
          4.0 * u * (std::abs(real_of<double>(scaled(r))) + std::abs(imaginary_of<double>(scaled(r)))) +
          (size < R(1) ? static_cast<double>(tiny) : 0.0);
      EXPECT_NEAR(real_of<double>(turned), real_of<double>(scaled(r)), bound);
      EXPECT_NEAR(imaginary_of<double>(turned), imaginary_of<double>(scaled(r)), bound);
      EXPECT_NEAR(real_of<double>(gone), 0.0, bound);
      EXPECT_NEAR(imaginary_of<double>(gone), 0.0, bound);
    }
  }
  // Rotations of real cosines and sines.
  std::vector<T> x = {T(1), T(2), T(3)};
  std::vector<T> y = {T(4), T(5), T(6)};
  blas_function<void(int, T*, int, T*, int, R, R)>(is_complex<T> ? (l == "c" ? "cblas_csrot" : "cblas_zdrot")
                                                                 : "cblas_" + l + "rot")(3, x.data(), 1, y.data(), -1,
                                                                                         R(0.5), R(2));
  EXPECT_EQ(x, (std::vector<T>{T(12.5), T(11), T(9.5)}));
  EXPECT_EQ(y, (std::vector<T>{T(-4), T(-1.5), T(1)}));
}

TEST(Modified, RotationsZeroTheSecondElement) {
  const auto make = blas_function<void(double*, double*, double*, const double*, double*)>("drotmg_");
  const auto turn = blas_function<void(int, double*, int, double*, int, const double*)>("cblas_drotm");
  std::mt19937 engine(4);
  for (int number = 0; number < 300; ++number) {
    std::uniform_real_distribution<double> between(-1.0, 1.0);
    const double d1 = std::ldexp(std::abs(between(engine)), number % 3 == 0 ? 60 : number % 3 == 1 ? -60 : 0);
    const double d2 = std::ldexp(std::abs(between(engine)), number % 5 == 0 ? -50 : 0);
    const double x1 = between(engine);
    const double y1 = between(engine);
    double e1 = d1;
    double e2 = d2;
    double r = x1;
    double parameters[5] = {};
    make(&e1, &e2, &r, &y1, parameters);
    double x = x1;
    double y = y1;
    turn(1, &x, 1, &y, 1, parameters);
    EXPECT_NEAR(x, r, 1e-12 * std::abs(r));
    EXPECT_NEAR(y, 0.0, 1e-12 * (std::abs(x1) + std::abs(y1)) * 4096.0);
    // The sum of the weighted squares stays.
    const double before = d1 * x1 * x1 + d2 * y1 * y1;
    EXPECT_NEAR(e1 * r * r, before, 1e-12 * before);
    for (const double d : {e1, e2}) EXPECT_TRUE(d == 0.0 || (d > 0x1p-24 && d < 0x1p24));
  }
  double d1 = -1.0;
  double d2 = 1.0;
  double x1 = 1.0;
  const double y1 = 1.0;
  double parameters[5] = {};
  make(&d1, &d2, &x1, &y1, parameters);
  EXPECT_EQ(parameters[0], -1.0);
  EXPECT_EQ(x1, 0.0);
  d1 = 1.0;
  d2 = std::numeric_limits<double>::infinity();
  make(&d1, &d2, &x1, &y1, parameters);  // Ends.
  const double zero = 0.0;
  make(&d1, &d2, &x1, &zero, parameters);
  d2 = 1.0;
  make(&d1, &d2, &x1, &zero, parameters);
  EXPECT_EQ(parameters[0], -2.0);
}

}  // namespace
}  // namespace heddle::test::banded_test
