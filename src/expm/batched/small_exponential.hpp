// The exponential of one matrix of a batch, by one team in its scratch memory; see expm_batched() for the method.
#pragma once

#include "core/hypotenuse.hpp"
#include "expm/batched/balance.hpp"
#include "expm/batched/functions.hpp"
#include "expm/batched/polynomials.hpp"
#include <heddle/expm/batched.hpp>

namespace heddle::impl {

using BatchTeams = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::Schedule<Kokkos::Dynamic>>;

template <Scalar T> class SmallExponential {
 public:
  using R = Real<T>;
  using Member = typename BatchTeams::member_type;
  static constexpr int matrices = 7;
  static constexpr KOKKOS_INLINE_FUNCTION std::size_t bytes(int n) {
    return 64 + (matrices * static_cast<std::size_t>(SmallMatrices<T>(n).elements()) +
                 static_cast<std::size_t>(2 * SmallMatrices<T>::parts * n + SmallBalance<T>::elements(n))) *
                    sizeof(R);
  }

  KOKKOS_INLINE_FUNCTION SmallExponential(const Member& team, void* memory, int n, const Choices<R>& choices)
      : team_(team), small_(n), choices_(choices), balance_(n, nullptr) {
    auto* at = static_cast<char*>(memory);
    at += (64 - reinterpret_cast<std::size_t>(at) % 64) % 64;
    const int size = small_.elements();
    R* const first = reinterpret_cast<R*>(at);
    for (int k = 0; k < 3; ++k) power_[k + 1] = first + k * size;
    y0_ = first + 3 * size;
    f_ = first + 4 * size;
    g_ = first + 5 * size;
    y_ = first + 6 * size;
    diagonal_ = first + 7 * size;
    beside_ = diagonal_ + SmallMatrices<T>::parts * n;
    balance_ = SmallBalance<T>(n, beside_ + SmallMatrices<T>::parts * n);
  }

  KOKKOS_INLINE_FUNCTION ExpmBatchedInfo run(const compiled::ExpmBatchedItem<T>& item) {
    load(item);
    const R* const a = power_[1];
    const SmallMatrices<T>& small = small_;
    const R limit = Kokkos::Experimental::finite_max_v<R>;
    const auto not_finite = [&](const R* values) {
      return small.count(team_, [&](int at, int, int) {
        bool finite = Kokkos::abs(values[at]) <= limit;
        if (is_complex<T>) finite = finite && Kokkos::abs(values[at + (small.parts - 1) * small.plane]) <= limit;
        return !finite;
      });
    };
    if (not_finite(a) > 0) {
      return ExpmBatchedInfo::not_finite;
    }
    const auto not_zero = [&](int at) { return a[at] != R(0) || a[at + (small.parts - 1) * small.plane] != R(0); };
    const int above = small.count(team_, [&](int at, int i, int j) { return i < j && not_zero(at); });
    const int below = small.count(team_, [&](int at, int i, int j) { return i > j && not_zero(at); });
    offset_ = below == 0 ? 1 : above == 0 ? -1 : 0;
    if (above + below == 0) {
      exponentials_of_diagonal();
    } else if (!exponential()) {
      return ExpmBatchedInfo::overflow;
    }
    return not_finite(y_) > 0 ? ExpmBatchedInfo::overflow : ExpmBatchedInfo::done;
  }

  /// Store the result of run(), or NaN.
  KOKKOS_INLINE_FUNCTION void store(const compiled::ExpmBatchedItem<T>& item, bool good) const {
    const R nan = Kokkos::Experimental::quiet_NaN_v<R>;
    small_.for_each(team_, [&](int at, int i, int j) {
      if (i < small_.n) {
        item.to[i * item.to_row + j * item.to_column] = good ? get(y_, at) : T(nan);
      }
    });
  }

 private:
  [[nodiscard]] KOKKOS_INLINE_FUNCTION T get(const R* values, int at) const {
    if constexpr (is_complex<T>) {
      return T(values[at], values[at + small_.plane]);
    } else {
      return values[at];
    }
  }
  KOKKOS_INLINE_FUNCTION void set(R* values, int at, const T& value) const {
    if constexpr (is_complex<T>) {
      values[at] = value.real();
      values[at + small_.plane] = value.imag();
    } else {
      values[at] = value;
    }
  }

  KOKKOS_INLINE_FUNCTION void load(const compiled::ExpmBatchedItem<T>& item) const {
    small_.for_each(team_, [&](int at, int i, int j) {
      set(power_[1], at, i < small_.n ? item.from[i * item.from_row + j * item.from_column] : T(0));
    });
  }

  // Element i of a vector of T's.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION T entry(const R* values, int i) const {
    if constexpr (is_complex<T>) {
      return T(values[i], values[i + small_.n]);
    } else {
      return values[i];
    }
  }
  KOKKOS_INLINE_FUNCTION void set_entry(R* values, int i, const T& value) const {
    if constexpr (is_complex<T>) {
      values[i] = value.real();
      values[i + small_.n] = value.imag();
    } else {
      values[i] = value;
    }
  }

  // Keep the diagonal of a triangular A, and the adjacent one.
  KOKKOS_INLINE_FUNCTION void keep_diagonals() const {
    small_.for_each(team_, [&](int at, int i, int j) {
      if (i == j) set_entry(diagonal_, i, get(power_[1], at));
      if (i < small_.n && j == i + offset_) set_entry(beside_, i, get(power_[1], at));
    });
  }

  // (exp(b) - exp(a)) / (b - a).
  [[nodiscard]] static KOKKOS_INLINE_FUNCTION T divided_difference(const T& a, const T& b) {
    const T half = (b - a) * R(0.5);
    if (!(hypotenuse(real_of<double>(half), imaginary_of<double>(half)) < 1.0)) {
      return (kernel::exp(b) - kernel::exp(a)) / (b - a);
    }
    // sinh(x) / x.
    const T square = half * half;
    T term(1);
    T sum(1);
    for (int k = 1; k <= 10; ++k) {
      term *= square * (R(1) / (R(2 * k) * R(2 * k + 1)));
      sum += term;
    }
    return kernel::exp(a + half) * sum;
  }

  // Set the diagonal and the adjacent one of exp((A - shift I) / 2^halvings) for a triangular A, which are known
  // without products: exp(a_ii), and a_ij times the divided difference of exp (N. Higham, A. Al-Mohy 2009, code
  // fragment 2.1). If they were squared instead, small ones would lose a bit a squaring.
  KOKKOS_INLINE_FUNCTION void correct_diagonals(int halvings, const T& shift) const {
    if (offset_ == 0) {
      return;
    }
    const R factor = power_of_two(-halvings);
    small_.for_each(team_, [&](int at, int i, int j) {
      if (i >= small_.n || (i != j && j != i + offset_)) return;
      const T a = (entry(diagonal_, i) - shift) * factor;
      if (i == j) {
        set(y_, at, kernel::exp(a));
      } else {
        const T b = (entry(diagonal_, j) - shift) * factor;
        const T between = entry(beside_, i);
        set(y_, at, between == T(0) ? T(0) : between * factor * divided_difference(a, b));
      }
    });
  }

  KOKKOS_INLINE_FUNCTION void exponentials_of_diagonal() const {
    small_.for_each(team_, [&](int at, int i, int j) { set(y_, at, i == j ? kernel::exp(get(power_[1], at)) : T(0)); });
  }

  KOKKOS_INLINE_FUNCTION void scale(R* values, const T& factor) const {
    small_.for_each(team_, [&](int at, int, int) { set(values, at, factor * get(values, at)); });
  }

  // A multiple of a matrix, or nothing.
  struct Term {
    R factor = 0;
    const R* matrix = nullptr;
  };
  // to = identity I + sum_k coefficients[k] A^k + y + z, up to k = powers; `to` may be the matrix of y or z.
  KOKKOS_INLINE_FUNCTION void combine(R identity, const R* coefficients, int powers, R* to, const Term& y = {},
                                      const Term& z = {}) const {
    for (int part = 0; part < small_.parts; ++part) {
      const int offset = part * small_.plane;
      const R diagonal = part == 0 ? identity : R(0);
      small_.for_each(team_, [&](int at, int i, int j) {
        R sum = i == j ? diagonal : R(0);
        for (int k = 1; k <= powers; ++k) sum = Kokkos::fma(coefficients[k], power_[k][at + offset], sum);
        if (y.matrix != nullptr) sum = Kokkos::fma(y.factor, y.matrix[at + offset], sum);
        if (z.matrix != nullptr) sum = Kokkos::fma(z.factor, z.matrix[at + offset], sum);
        to[at + offset] = sum;
      });
    }
  }

  // Indices of the series of A if A^4 or A^6 is zero, after the polynomials of Choices.
  static constexpr int series_to_third = polynomials;
  static constexpr int series_to_fifth = polynomials + 1;
  // Sum the series, each power by itself.
  KOKKOS_INLINE_FUNCTION void evaluate_series(int last) const {
    const R series[4] = {1, 1, R(1) / 2, R(1) / 6};
    const R none[1] = {0};
    combine(R(1), series, 3, y_);
    if (last == 3) return;
    small_.multiply(team_, power_[3], power_[1], false, f_);
    combine(R(0), none, 0, y_, {R(1), y_}, {R(1) / 24, f_});
    small_.multiply(team_, f_, power_[1], false, g_);
    combine(R(0), none, 0, y_, {R(1), y_}, {R(1) / 120, g_});
  }

  // y = the polynomial, from the powers that were computed.
  KOKKOS_INLINE_FUNCTION void evaluate(int polynomial) const {
    if (polynomial >= polynomials) {
      evaluate_series(polynomial == series_to_third ? 3 : 5);
      return;
    }
    if (polynomial < plain_polynomials) {
      const R series[5] = {1, 1, R(1) / 2, R(1) / 6, R(1) / 24};
      const R inner[3] = {0, series[3], series[4]};
      combine(R(1), series, polynomial == 0 ? 1 : polynomial == 1 ? 2 : 1, y_);
      if (polynomial == 2) {
        combine(series[2], inner, 2, f_);
        small_.multiply(team_, power_[2], f_, true, y_);
      }
      return;
    }
    const Evaluation<R>& way = choices_.evaluation[polynomial - plain_polynomials];
    combine(R(0), way.first, way.powers, f_);
    small_.multiply(team_, f_, power_[way.powers], false, y0_);
    const auto& middle = way.middle;
    combine(R(0), middle.left, way.powers, f_, {R(1), y0_});
    combine(R(0), middle.right, way.powers, g_, {R(1), y0_});
    combine(middle.rest[0], middle.rest, way.powers, y_, {middle.of_y0, y0_});
    small_.multiply(team_, f_, g_, true, y_);
    if (way.products == 3) {
      const auto& last = way.last;
      combine(R(0), last.left, way.powers, f_, {R(1), y_});
      combine(R(0), last.right, way.powers, g_, {R(1), y_}, {last.of_y0_right, y0_});
      combine(last.rest[0], last.rest, way.powers, y_, {last.of_y1, y_}, {last.of_y0, y0_});
      small_.multiply(team_, f_, g_, true, y_);
    }
  }

  // Return the squarings: at least `fewest`, which is negative if earlier halvings may be undone.
  [[nodiscard]] static KOKKOS_INLINE_FUNCTION int squarings_for(R alpha, R theta, int fewest) {
    if (!(alpha > theta * power_of_two(fewest))) return fewest;
    return static_cast<int>(Kokkos::ceil(kernel::log2(alpha / theta)));
  }
  [[nodiscard]] static KOKKOS_INLINE_FUNCTION R power_of_two(int exponent) { return kernel::exp2(R(exponent)); }

  // Return false if an element of A less the mean is out of range, as exp(A) then is too.
  KOKKOS_INLINE_FUNCTION bool exponential() {
    const int n = small_.n;
    if (offset_ != 0) keep_diagonals();
    T mean(0);
    for (int i = 0; i < n; ++i) mean += get(power_[1], i + small_.leading * i) / R(n);
    if constexpr (!on_host) team_.team_barrier();
    small_.for_each(team_, [&](int at, int i, int j) {
      if (i == j) set(power_[1], at, get(power_[1], at) - mean);
    });
    R norm = small_.norm1(team_, power_[1]);
    // Keep powers in range: A^3 is the highest before A is scaled.
    constexpr int most = Kokkos::Experimental::max_exponent_v<R> / 4;
    int before = 0;
    bool is_balanced = !(norm <= power_of_two(most)) && balance(norm);
    while (!(norm <= power_of_two(most))) {
      scale(power_[1], T(power_of_two(-8)));
      norm = small_.norm1(team_, power_[1]);
      before += 8;
      // After the first halvings, sums of elements in range are in range.
      if (norm > Kokkos::Experimental::finite_max_v<R>) return false;
    }
    int squarings = 0;
    int polynomial = 0;
    if (norm > choices_.theta[0]) {
      polynomial = choose(norm, -before, squarings);
      // Each squaring may double the errors of small elements, and costs more than this test.
      constexpr int many_squarings = 3;
      if (squarings + before >= many_squarings && !is_balanced && balance(norm)) {
        is_balanced = true;
        polynomial = choose(norm, -before, squarings);
      }
    }
    if (squarings != 0) {
      // Scale one power after the other: their product may be out of range.
      const T factor(power_of_two(-squarings));
      for (int k = 1; k <= 3 && k <= made_; ++k) {
        for (int times = 0; times < k; ++times) scale(power_[k], factor);
      }
    }
    evaluate(polynomial);
    squarings += before;
    // Apply the factor last if nothing can leave the range before: its error is then not squared.
    const R safe = R(0.8) * Kokkos::log(Kokkos::Experimental::finite_max_v<R>);
    const bool last = before == 0 && norm < safe && Kokkos::abs(Kokkos::real(mean)) < safe;
    const T left_out = last ? mean : T(0);
    if (!last) scale(y_, kernel::exp(mean * power_of_two(-squarings)));
    correct_diagonals(squarings, left_out);
    while (squarings-- > 0) {
      small_.multiply(team_, y_, y_, false, f_);
      R* const square = f_;
      f_ = y_;
      y_ = square;
      correct_diagonals(squarings, left_out);
    }
    if (last && mean != T(0)) {
      scale(y_, kernel::exp(mean));
      correct_diagonals(0, T(0));
    }
    if (is_balanced) balance_.apply(team_, y_, -1, y_);
    return true;
  }

  // Balance A if that brings its norm to its square root or less, and return whether it did. Overwrites f and g.
  KOKKOS_INLINE_FUNCTION bool balance(R& norm) {
    if (!balance_.is_uneven(team_, power_[1])) return false;
    balance_.find(team_, power_[1], f_);
    balance_.apply(team_, power_[1], 1, g_);
    const R after = small_.norm1(team_, g_);
    if (!(after <= Kokkos::sqrt(norm) && after <= Kokkos::Experimental::finite_max_v<R>)) return false;
    norm = after;
    R* const balanced = g_;
    g_ = power_[1];
    power_[1] = balanced;
    if (offset_ == 0) return true;
    small_.for_each_row(team_, [&](int i) {
      if (i + offset_ < 0 || i + offset_ >= small_.n) return;
      const R apart = balance_.apart(i, i + offset_);
      for (int part = 0; part < SmallMatrices<T>::parts; ++part) {
        R& beside = beside_[i + part * small_.n];
        beside = SmallBalance<T>::times_power(beside, apart);
      }
    });
    return true;
  }

  // Choose the polynomial and squarings with the fewest products, on a tie those with fewer squarings, and compute the
  // powers. If A^3, A^4 or A^6 is zero, it is the series, and no product of sums in which large powers would round away
  // smaller ones.
  KOKKOS_INLINE_FUNCTION int choose(R norm, int fewest_squarings, int& squarings) {
    small_.multiply(team_, power_[1], power_[1], false, power_[2]);
    made_ = 2;
    const R second = Kokkos::sqrt(small_.norm1(team_, power_[2]));
    int best = 1;
    int fewest = 1 << 30;
    R alpha_of_best = 0;
    for (int p = 1; p < polynomials; ++p) {
      // Bound of ||A^k||^(1/k) for k > degree: that of the lowest odd k, ||A^2||^((k - 1) / 2) ||A||, is the largest.
      const int k = choices_.degree[p] + 1 + choices_.degree[p] % 2;
      const R alpha = Kokkos::fmin(norm, second * kernel::pow(norm / second, R(1) / R(k)));
      const R bound = second > 0 ? alpha : R(0);
      const int s = squarings_for(bound, choices_.theta[p], fewest_squarings);
      if (p + s <= fewest) {
        best = p;
        fewest = p + s;
        squarings = s;
        alpha_of_best = bound;
      }
    }
    if (best == polynomials - 1 || squarings - fewest_squarings > 1) {
      small_.multiply(team_, power_[2], power_[1], false, power_[3]);
      made_ = 3;
      // Every k > 1 is a sum of twos and threes.
      const R third = kernel::cbrt(small_.norm1(team_, power_[3]));
      if (third == R(0)) {
        constexpr int first_two_powers = 1;
        squarings = fewest_squarings;
        return first_two_powers;
      }
      squarings = squarings_for(Kokkos::fmin(alpha_of_best, Kokkos::fmax(second, third)), choices_.theta[best],
                                fewest_squarings);
      if (squarings - fewest_squarings > 1) {
        const R alpha = alpha_by_higher_powers(norm, second, third);
        if (alpha == R(0) && small_.norm1(team_, f_) == R(0)) {
          small_.multiply(team_, power_[3], power_[1], false, f_);
          squarings = fewest_squarings;
          return small_.norm1(team_, f_) == R(0) ? series_to_third : series_to_fifth;
        }
        squarings = Kokkos::min(squarings, squarings_for(alpha, choices_.theta[best], fewest_squarings));
      }
    }
    return best;
  }

  // Bound of ||A^k||^(1/k) for all k beyond the highest degree, from products of norms of A, A^2, A^3, A^6 and A^9: if
  // powers are much smaller than those of ||A||, two products save squarings and the errors of small eigenvalues that
  // come with them.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION R alpha_by_higher_powers(R norm, R second, R third) {
    constexpr int degree = 21;
    constexpr int last = 2 * degree + 1;
    constexpr int known = 5;
    const int power[known] = {1, 2, 3, 6, 9};
    R logs[known] = {kernel::log2(norm), R(2) * kernel::log2(second), R(3) * kernel::log2(third), R(0), R(0)};
    small_.multiply(team_, power_[3], power_[3], false, f_);
    logs[3] = kernel::log2(small_.norm1(team_, f_));
    small_.multiply(team_, f_, power_[3], false, g_);
    logs[4] = kernel::log2(small_.norm1(team_, g_));
    R bound[last + 1] = {};
    R largest = -Kokkos::Experimental::infinity_v<R>;
    for (int k = 1; k <= last; ++k) {
      bound[k] = Kokkos::Experimental::infinity_v<R>;
      for (int p = 0; p < known && power[p] <= k; ++p) {
        bound[k] = Kokkos::fmin(bound[k], bound[k - power[p]] + logs[p]);
      }
      if (k > degree) largest = Kokkos::fmax(largest, bound[k] / R(k));
    }
    return kernel::exp2(largest);
  }

  const Member& team_;
  SmallMatrices<T> small_;
  const Choices<R>& choices_;
  SmallBalance<T> balance_;
  R* power_[4] = {};
  R* y0_ = nullptr;
  R* f_ = nullptr;
  R* g_ = nullptr;
  R* y_ = nullptr;
  R* diagonal_ = nullptr;
  R* beside_ = nullptr;
  int offset_ = 0;  // Offset of the diagonal adjacent to that of a triangular A; 0: A is not triangular.
  int made_ = 1;
};

}  // namespace heddle::impl
