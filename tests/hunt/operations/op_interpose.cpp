// The BLAS and LAPACK names of libheddle_blas.so, loaded as a program loads them: sums against exact ones, triangular
// and linear systems and spectra by their residuals, and the floating-point exceptions of each.
#include "hunt/matrices.hpp"
#include "hunt/operations.hpp"

#include <dlfcn.h>

#include <cfenv>
#include <stdexcept>

namespace heddle::hunt {
namespace {

template <class Function> Function* blas_function([[maybe_unused]] const std::string& name) {
#if defined(HEDDLE_BLAS_LIBRARY)
  static void* const library = dlopen(HEDDLE_BLAS_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(dlerror());
  return reinterpret_cast<Function*>(dlsym(library, name.c_str()));
#else
  return nullptr;
#endif
}
// All arguments are addresses; a routine may receive more than it reads.
using Routine = void(const void*, const void*, const void*, const void*, const void*, const void*, const void*,
                     const void*, const void*, const void*, const void*, const void*, const void*);
template <Scalar T> const char* letter() {
  return is_complex<T> ? (sizeof(T) == 16 ? "z" : "c") : sizeof(T) == 8 ? "d" : "s";
}
// Return the flags that a call raised; -1 if there is no library.
template <Scalar T> int call(const std::string& stem, std::vector<const void*> a) {
  Routine* const routine = blas_function<Routine>(letter<T>() + stem + "_");
  if (routine == nullptr) return -1;
  a.resize(13, nullptr);
  std::feclearexcept(FE_ALL_EXCEPT);
  routine(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12]);
  return std::fetestexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
}

// A vector or matrix in Fortran's layout, with NaN between its elements.
template <Scalar T> struct Stored {
  int step;
  int leading;
  int rows;
  int columns;
  std::vector<T> all;

  Stored(const Array& array, int stride, int gap)
      : step(stride),
        leading(static_cast<int>(array.rows) + gap),
        rows(static_cast<int>(array.rows)),
        columns(static_cast<int>(array.columns)) {
    const std::size_t size = columns == 1 ? static_cast<std::size_t>(rows * std::abs(step) + 1)
                                          : static_cast<std::size_t>(leading * columns + 1);
    all.assign(size, T(std::numeric_limits<Real<T>>::quiet_NaN()));
    for (Index j = 0; j < columns; ++j) {
      for (Index i = 0; i < rows; ++i) at(i, j) = test::narrow<T>(array.at(i, j));
    }
  }
  [[nodiscard]] std::size_t place(Index i, Index j) const {
    if (columns > 1) return static_cast<std::size_t>(i + j * std::max(1, leading));
    return static_cast<std::size_t>(step < 0 ? (i + 1 - rows) * step : i * step);
  }
  T& at(Index i, Index j = 0) { return all[place(i, j)]; }
  const T& at(Index i, Index j = 0) const { return all[place(i, j)]; }
};

// Return alpha s + beta y as the header of libheddle_blas promises: s is rounded once, then once more for each product.
template <Scalar T> T finished(const T& alpha, const T& sum, const T& beta, const T& y) {
  const T scaled = alpha == T(1) ? sum : multiply_add(alpha, sum, T(0));
  return beta == T(0) ? scaled : multiply_add(beta, y, scaled);
}
// Sums that neither overflow nor fall below the normal numbers are rounded before multiplication by alpha.
template <Scalar T> bool is_ordinary(const T& sum) {
  using R = Real<T>;
  const auto part = [](R x) { return std::isfinite(x) && std::abs(x) >= std::numeric_limits<R>::min(); };
  return part(Kokkos::real(sum)) && (!is_complex<T> || part(Kokkos::imag(sum)));
}
// Check that no exception is raised unless an infinity or a NaN is new.
template <Scalar T>
void judge_exceptions(Verdict& verdict, const std::string& property, int raised, bool finite_before,
                      bool finite_after) {
  if (finite_before && finite_after) {
    verdict.holds(property + " raises nothing", raised == 0, "raised " + std::to_string(raised));
  }
  if (finite_before && !finite_after) verdict.holds(property + " raises overflow", (raised & FE_OVERFLOW) != 0);
}

void draw_products(Random& random, Case& one, long most) {
  const Index m = random.extent(most);
  const Index n = random.extent(most);
  one.add("A", 'm', m, 'n', n);
  one.add("x", 'n', n);
  one.add("y", 'm', m);
  one.add("factors", '1', 2);
  for (Array& array : one.arrays) fill_hard(random, one.type, array);
  if (random.one_in(8)) sprinkle(random, one.type, one.arrays[static_cast<std::size_t>(random.below(3))]);
  for (Index k = 0; k < 2; ++k) {
    if (random.one_in(2)) one.arrays[3].at(k) = Value(random.any_of(0L, 1L, -1L), 0.0);
  }
  one.add_knob("step x", random.any_of(1L, 1L, 2L, -1L, -3L), 1);
  one.add_knob("step y", random.any_of(1L, 1L, 3L, -1L, -2L), 1);
  one.add_knob("gap", random.below(3));
}

template <Scalar T> void run_products(const World& world, const Case& one, Verdict& verdict) {
  if (!world.root()) return;
  const int gap = static_cast<int>(one.knob("gap"));
  const Stored<T> A(one.array("A"), 1, gap);
  const Stored<T> x(one.array("x"), static_cast<int>(one.knob("step x")), 0);
  Stored<T> y(one.array("y"), static_cast<int>(one.knob("step y")), 0);
  const Stored<T> before = y;
  const T alpha = test::narrow<T>(one.array("factors").at(0));
  const T beta = test::narrow<T>(one.array("factors").at(1));
  if (A.rows == 0 || A.columns == 0 || A.columns == 1) return verdict.skip();
  const int leading = std::max(1, A.leading);
  const int raised = call<T>("gemv", {"N", &A.rows, &A.columns, &alpha, A.all.data(), &leading, x.all.data(), &x.step,
                                      &beta, y.all.data(), &y.step});
  if (raised < 0) return verdict.skip();
  const bool finite_before = is_finite(one.array("A")) && is_finite(one.array("x")) && is_finite(one.array("y")) &&
                             is_finite(one.array("factors"));
  bool finite_after = true;
  if (alpha == T(0)) return;
  for (Index i = 0; i < A.rows; ++i) {
    ExactSum<T> sum;
    for (Index k = 0; k < A.columns; ++k) sum.add_product(A.at(i, k), x.at(k));
    const T rounded = sum.value();
    finite_after = finite_after && is_finite(y.at(i));
    if (!is_finite(rounded) || !is_ordinary(rounded)) continue;
    const T expected = finished(alpha, rounded, beta, before.at(i));
    verdict.holds("gemv", same(y.at(i), expected), told<T>(i, 0, y.at(i), expected));
  }
  for (std::size_t e = 0; e < y.all.size(); ++e) {
    bool element = false;
    for (Index i = 0; i < y.rows; ++i) element = element || y.place(i, 0) == e;
    if (!element) verdict.holds("gemv writes its elements alone", std::isnan(Kokkos::real(y.all[e])));
  }
  judge_exceptions<T>(verdict, "gemv", raised, finite_before, finite_after);
}

// Draw D1 S D2 X = B with powers of two in D1 and D2, triangular or not, or D (S S^H + n) D.
void draw_systems(Random& random, Case& one, long most) {
  const Index n = random.extent(most);
  one.add("S", 'n', n, 'n', n);
  one.add("B", 'n', n, 'k', random.between(1, 4));
  one.add_integers("rows", 'n', n);
  one.add_integers("columns", 'n', n);
  fill_mood(random, one.type, one.arrays[0], random.one_in(3) ? Mood::integers : Mood::units);
  fill_mood(random, one.type, one.arrays[1], random.one_in(3) ? Mood::integers : Mood::units);
  const long far = random.one_in(2) ? 0 : range_of(one.type).largest / 12;
  for (Integers& all : one.integers) {
    for (std::int64_t& e : all.values) e = random.between(-far, far);
  }
  one.add_knob("lower", random.below(2));
  one.add_knob("gap", random.below(3));
}

// Return whether |b - A x| <= 4 n u (|A| |x| + |b|), part by part: the bound of substitution, and of elimination if
// growth is small beside n, with |L| |U| for |A|.
template <Scalar T, class Element>
void judge_residual(Verdict& verdict, const std::string& property, Index n, const Element& a, const Stored<T>& X,
                    const Stored<T>& B, double factor) {
  Wide::bits = 3000;
  const double unit = static_cast<double>(unit_roundoff<T>);
  for (Index j = 0; j < B.columns; ++j) {
    for (Index i = 0; i < n; ++i) {
      Wide re(static_cast<double>(Kokkos::real(B.at(i, j))));
      Wide im(static_cast<double>(Kokkos::imag(B.at(i, j))));
      Wide size(std::abs(re.to_double()) + std::abs(im.to_double()));
      for (Index k = 0; k < n; ++k) {
        const Value u = test::widen(a(i, k));
        const Value v = test::widen(X.at(k, j));
        re.subtract_product(Wide(u.real()), Wide(v.real()));
        re.add_product(Wide(u.imag()), Wide(v.imag()));
        im.subtract_product(Wide(u.real()), Wide(v.imag()));
        im.subtract_product(Wide(u.imag()), Wide(v.real()));
        size.add_product(Wide(std::abs(u.real()) + std::abs(u.imag())), Wide(std::abs(v.real()) + std::abs(v.imag())));
      }
      if (size.is_zero()) continue;
      const double share = std::abs((re / size).to_double()) + std::abs((im / size).to_double());
      verdict.within(property, share, factor * static_cast<double>(n + 4) * unit, told<T>(i, j, X.at(i, j), "less"));
    }
  }
}

template <Scalar T> void run_systems(const World& world, const Case& one, Verdict& verdict) {
  if (!world.root()) return;
  using R = Real<T>;
  const int gap = static_cast<int>(one.knob("gap"));
  const bool lower = one.knob("lower") != 0;
  const auto n = static_cast<int>(one.array("S").rows);
  const auto columns = static_cast<int>(one.array("B").columns);
  if (n == 0 || columns == 0) return verdict.skip();
  Stored<T> A(one.array("S"), 1, gap);
  if (n == 1) A.columns = 1;
  Stored<T> B(one.array("B"), 1, gap);
  const auto scale = [&](const char* name, Index i) { return static_cast<int>(one.integer(name).at(i)); };
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      // Without growth, bounds without |L| |U| hold.
      T s = test::narrow<T>(one.array("S").at(i, j)) / static_cast<R>(16 * n);
      if (i == j) s += R(1);
      A.at(i, j) = s * std::ldexp(R(1), scale("rows", i) + scale("columns", j));
    }
    for (Index k = 0; k < columns; ++k) B.at(j, k) *= std::ldexp(R(1), scale("rows", j));
  }
  const int leading = n + gap;
  const T alpha(1);
  const char* const triangle = lower ? "L" : "U";
  Stored<T> X = B;
  const int raised =
      call<T>("trsm", {"L", triangle, "N", "N", &n, &columns, &alpha, A.all.data(), &leading, X.all.data(), &leading});
  if (raised < 0) return verdict.skip();
  verdict.holds("trsm raises nothing", raised == 0);
  const auto stored = [&](Index i, Index k) { return (lower ? i >= k : i <= k) ? A.at(i, k) : T(0); };
  judge_residual<T>(verdict, "trsm", n, stored, X, B, 4.0);
  Stored<T> LU = A;
  X = B;
  std::vector<int> pivots(static_cast<std::size_t>(n));
  int info = -1;
  call<T>("gesv", {&n, &columns, LU.all.data(), &leading, pivots.data(), X.all.data(), &leading, &info});
  verdict.holds("gesv finds a solution", info == 0);
  // For diagonally dominant rows |L| |U| is at most a few times |A|; different scales cause interchanges.
  bool same_rows = true;
  for (Index i = 1; i < n; ++i) same_rows = same_rows && scale("rows", i) == scale("rows", 0);
  if (same_rows) {
    judge_residual<T>(
        verdict, "gesv", n, [&](Index i, Index k) { return A.at(i, k); }, X, B, 16.0);
  }
}

void draw_spectra(Random& random, Case& one, long most) {
  const Index n = random.extent(most);
  Array& H = one.add("H", 'n', n, 'n', n);
  H.mirror = Mirror::hermitian;
  fill_hermitian(random, one.type, H);
  one.add_knob("lower", random.below(2));
}

template <Scalar T> void run_spectra(const World& world, const Case& one, Verdict& verdict) {
  if (!world.root()) return;
  using R = Real<T>;
  const Array& H = one.array("H");
  const auto n = static_cast<int>(H.rows);
  if (n < 2 || !is_finite(H)) return verdict.skip();
  Stored<T> V(H, 1, 0);
  const Stored<T> A = V;
  std::vector<R> w(static_cast<std::size_t>(n));
  std::vector<T> work(static_cast<std::size_t>(40 * n));
  std::vector<R> reals(static_cast<std::size_t>(3 * n));
  const int length = 40 * n;
  int info = -1;
  const char* const triangle = one.knob("lower") != 0 ? "L" : "U";
  std::vector<const void*> arguments = {"V", triangle, &n, V.all.data(), &n, w.data(), work.data(), &length};
  if (is_complex<T>) arguments.push_back(reals.data());
  arguments.push_back(&info);
  if (call<T>(is_complex<T> ? "heev" : "syev", arguments) < 0) return verdict.skip();
  verdict.holds("syev converges", info == 0, "info " + std::to_string(info));
  Wide::bits = 3000;
  Wide norm;
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      const Value a = test::widen(A.at(i, j));
      norm.add_product(Wide(a.real()), Wide(a.real()));
      norm.add_product(Wide(a.imag()), Wide(a.imag()));
    }
  }
  if (norm.is_zero()) return;
  // Underflow would spoil eigenvalues of such small matrices.
  if (norm.exponent() < 2 * (range_of(one.type).normal + range_of(one.type).digits)) return verdict.skip();
  for (const R& value : w) {
    if (!std::isfinite(value)) return verdict.skip();
  }
  const double unit = static_cast<double>(unit_roundoff<T>);
  for (Index k = 0; k < n; ++k) {
    Wide square;
    Wide length_of_v;
    for (Index i = 0; i < n; ++i) {
      Wide re;
      Wide im;
      for (Index j = 0; j < n; ++j) {
        const Value a = test::widen(A.at(i, j));
        const Value v = test::widen(V.at(j, k));
        re.add_product(Wide(a.real()), Wide(v.real()));
        re.subtract_product(Wide(a.imag()), Wide(v.imag()));
        im.add_product(Wide(a.real()), Wide(v.imag()));
        im.add_product(Wide(a.imag()), Wide(v.real()));
      }
      const Value v = test::widen(V.at(i, k));
      const Wide value(static_cast<double>(w[static_cast<std::size_t>(k)]));
      re.subtract_product(value, Wide(v.real()));
      im.subtract_product(value, Wide(v.imag()));
      square.add_product(re, re);
      square.add_product(im, im);
      length_of_v.add_product(Wide(v.real()), Wide(v.real()));
      length_of_v.add_product(Wide(v.imag()), Wide(v.imag()));
    }
    verdict.within("syev, residual", std::sqrt((square / norm).to_double()), 10.0 * static_cast<double>(n) * unit);
    verdict.within("syev, length", std::abs(length_of_v.to_double() - 1.0), 10.0 * static_cast<double>(n) * unit);
  }
}

}  // namespace

void draw_interpose_products(Random& random, Case& one) {
  draw_products(random, one, random.one_in(10) ? 200 : 30);
}
HEDDLE_HUNT_RUN(interpose_products, run_products)
void draw_interpose_systems(Random& random, Case& one) {
  draw_systems(random, one, random.one_in(5) ? 90 : 12);
}
HEDDLE_HUNT_RUN(interpose_systems, run_systems)
void draw_interpose_spectra(Random& random, Case& one) {
  draw_spectra(random, one, random.one_in(5) ? 40 : 12);
}
HEDDLE_HUNT_RUN(interpose_spectra, run_spectra)

}  // namespace heddle::hunt
