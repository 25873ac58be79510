// The definition of emulated QR factors, written as plainly as possible.
#pragma once

#include "support/matrices.hpp"
#include <heddle/emulation/emulation.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace heddle::test {

template <Scalar T> class QrDefinition {
 public:
  using R = Real<T>;

  /// Replaces A by its factors.
  QrDefinition(const HostMatrix<T>& A, Index block)
      : A_(A),
        rows_(static_cast<Index>(A.extent(0))),
        columns_(static_cast<Index>(A.extent(1))),
        moduli_(emulation_moduli<T>(std::max<Index>(1, rows_)) + 2) {
    const int bearable = sizeof(R) == 8 ? 400 : 30;
    std::vector<int> powers;
    for (Index j = 0; j < columns_; ++j) {
      const int power = power_of(j, 0);
      powers.push_back(power < -bearable || power > bearable ? power : 0);
      for (Index i = 0; i < rows_; ++i) at(i, j) = times_power(at(i, j), -powers.back());
    }
    const Index steps = std::min(rows_, columns_);
    for (first_ = 0; first_ < steps; first_ += block) {
      const Index width = std::min(block, steps - first_);
      V_ = HostMatrix<T>("V", static_cast<std::size_t>(rows_ - first_), static_cast<std::size_t>(width));
      L_ = HostMatrix<T>("L", static_cast<std::size_t>(width), static_cast<std::size_t>(width));
      factor(0, width);
      for (Index k = 0; k < width; ++k) tau.push_back(conjugate(l(k, k)));
      update(first_ + width, width);
    }
    for (Index j = 0; j < columns_; ++j) {
      for (Index i = 0; i <= std::min(j, rows_ - 1); ++i) {
        at(i, j) = times_power(at(i, j), powers[static_cast<std::size_t>(j)]);
      }
    }
  }
  std::vector<T> tau;

 private:
  T& at(Index i, Index j) { return A_(static_cast<std::size_t>(i), static_cast<std::size_t>(j)); }
  // Element (i, j) of the panel that begins at row and column first_.
  T& p(Index i, Index j) { return at(first_ + i, first_ + j); }
  T& v(Index i, Index j) { return V_(static_cast<std::size_t>(i), static_cast<std::size_t>(j)); }
  T& l(Index i, Index j) { return L_(static_cast<std::size_t>(i), static_cast<std::size_t>(j)); }

  static T times_power(const T& x, int power) {
    if constexpr (is_complex<T>) {
      return T(std::ldexp(x.real(), power), std::ldexp(x.imag(), power));
    } else {
      return std::ldexp(x, power);
    }
  }
  // Return e with 2^(e - 1) <= largest part < 2^e in column j from row `begin` on; 0 if the column is zero or not
  // finite.
  int power_of(Index j, Index begin) {
    R most = 0;
    for (Index i = begin; i < rows_; ++i) {
      for (const R part : {real_of<R>(at(i, j)), imaginary_of<R>(at(i, j))}) {
        if (!std::isfinite(part)) return 0;
        most = std::max(most, std::abs(part));
      }
    }
    return most == 0 ? 0 : std::ilogb(most) + 1;
  }
  // The sum of conj(x_r) y_r over rows [begin, rows): each chain takes every 16th row, in runs of 512.
  template <class X, class Y> static T inner(const X& x, const Y& y, Index begin, Index rows) {
    T total(0);
    for (Index run = begin / 512 * 512; run < rows; run += 512) {
      T lane[16] = {};
      for (Index r = run; r < std::min(run + 512, (rows + 15) / 16 * 16); ++r) {
        if (r / 16 < begin / 16) continue;
        const bool here = r >= begin && r < rows;
        lane[r % 16] = multiply_add(conjugate(here ? x(r) : T(0)), here ? y(r) : T(0), lane[r % 16]);
      }
      for (int half = 8; half > 0; half /= 2) {
        for (int k = 0; k < half; ++k) lane[k] = lane[k] + lane[k + half];
      }
      total = total + lane[0];
    }
    return total;
  }

  void reflect(Index j, Index end) {
    const Index rows = rows_ - first_;
    const int most = sizeof(R) == 8 ? 1000 : 120;
    // Columns of zeros are scaled like the smallest number.
    const bool zeros = [&] {
      for (Index i = j; i < rows; ++i) {
        if (p(i, j) != T(0)) return false;
      }
      return true;
    }();
    const int power = zeros ? -most : std::clamp(power_of(first_ + j, first_ + j), -most, most);
    const auto x = [&](Index r) { return times_power(p(r, j), -power); };
    const R sum = real_of<R>(inner(x, x, j + 1, rows));
    const R re = real_of<R>(x(j));
    const R im = imaginary_of<R>(x(j));
    std::vector<T> shares(static_cast<std::size_t>(end), T(0));
    T of_tau(0);
    std::vector<T> column(static_cast<std::size_t>(rows), T(0));
    if (!(sum == 0 && im == 0)) {
      const R norm = std::sqrt(is_complex<T> ? std::fma(re, re, std::fma(im, im, sum)) : std::fma(re, re, sum));
      const R beta = re < 0 ? norm : -norm;
      T inverse;
      if constexpr (is_complex<T>) {
        const R size = std::fma(re - beta, re - beta, im * im);
        inverse = T((re - beta) / size, -im / size);
        of_tau = T((beta - re) / beta, -im / beta);
      } else {
        inverse = 1 / (re - beta);
        of_tau = (beta - re) / beta;
      }
      for (Index c = j + 1; c < end; ++c) {
        const T products = inner(
            x, [&](Index r) { return p(r, c); }, j + 1, rows);
        const T whole = multiply_add(conjugate(inverse), products, p(j, c));
        shares[static_cast<std::size_t>(c)] = -multiply_add(conjugate(of_tau), whole, T(0));
      }
      for (Index r = j + 1; r < rows; ++r) column[static_cast<std::size_t>(r)] = multiply_add(x(r), inverse, T(0));
      p(j, j) = times_power(T(beta), power);
    }
    l(j, j) = conjugate(of_tau);
    for (Index r = j + 1; r < rows; ++r) p(r, j) = column[static_cast<std::size_t>(r)];
    for (Index c = j + 1; c < end; ++c) {
      const T share = shares[static_cast<std::size_t>(c)];
      p(j, c) = p(j, c) + share;
      for (Index r = j + 1; r < rows; ++r) p(r, c) = multiply_add(p(r, j), share, p(r, c));
    }
  }
  // X - A B, each element by a chain.
  template <class Out, class Left, class Right>
  static void chains(Range rows, Range columns, Range along, const Out& out, const Left& left, const Right& right) {
    for (Index j = columns.begin; j < columns.end; ++j) {
      for (Index i = rows.begin; i < rows.end; ++i) {
        for (Index k = along.begin; k < along.end; ++k)
          out(i, j) = multiply_add(T(-left(i, k)), right(k, j), out(i, j));
      }
    }
  }
  // Factor columns [begin, end) of the panel.
  void factor(Index begin, Index end) {
    const Index rows = rows_ - first_;
    const auto of_v = [&](Index i, Index k) -> T& { return v(i, k); };
    const auto of_l = [&](Index i, Index k) -> T& { return l(i, k); };
    const auto of_p = [&](Index i, Index k) -> T& { return p(i, k); };
    const auto minus_inner = [&](Index i, const auto& y, Index from) {
      return -inner([&](Index r) { return v(r, i); }, y, from, rows);
    };
    if (end - begin <= 8) {
      for (Index j = begin; j < end; ++j) reflect(j, end);
      for (Index j = begin; j < end; ++j) {
        v(j, j) = T(1);
        for (Index i = j + 1; i < rows; ++i) v(i, j) = p(i, j);
      }
      for (Index k = begin; k < end; ++k) {
        for (Index i = k + 1; i < end; ++i) {
          T sum(0);
          for (Index q = k; q < i; ++q) {
            sum = multiply_add(minus_inner(
                                   i, [&](Index r) { return v(r, q); }, begin),
                               l(q, k), sum);
          }
          l(i, k) = multiply_add(l(i, i), sum, T(0));
        }
      }
      return;
    }
    const Index half = begin + ((end - begin + 7) / 8 + 1) / 2 * 8;
    factor(begin, half);
    const HostMatrix<T> W("W", static_cast<std::size_t>(end), static_cast<std::size_t>(end));
    const HostMatrix<T> M("M", static_cast<std::size_t>(end), static_cast<std::size_t>(end));
    for (Index j = half; j < end; ++j) {
      for (Index i = begin; i < half; ++i)
        W(i, j) = minus_inner(
            i, [&](Index r) { return p(r, j); }, begin);
    }
    chains({begin, half}, {half, end}, {begin, half}, M, of_l, W);
    chains({begin, rows}, {half, end}, {begin, half}, of_p, of_v, M);
    factor(half, end);
    for (Index j = begin; j < half; ++j) {
      for (Index i = half; i < end; ++i)
        W(i, j) = minus_inner(
            i, [&](Index r) { return v(r, j); }, half);
    }
    chains({half, end}, {begin, half}, {begin, half}, M, W, of_l);
    chains({half, end}, {begin, half}, {half, end}, of_l, of_l, M);
  }
  // Apply the panel's reflections to columns from `column` on.
  void update(Index column, Index width) {
    const Index rows = rows_ - first_;
    const Index count = columns_ - column;
    if (count <= 0) return;
    const auto of_c = [&](Index i, Index j) -> T& { return at(first_ + i, column + j); };
    const MatrixView<T> product =
        padded_on_device<T>(HostMatrix<T>("W", static_cast<std::size_t>(width), static_cast<std::size_t>(count)));
    EmulatedGemm<T> multiply(ExecutionSpace(), width, count, rows, {.moduli = moduli_});
    multiply(Operation::conjugate_transpose, Operation::none, T(-1), padded_on_device<T>(V_),
             padded_on_device<T>(host_matrix<T>(rows, count, of_c)), T(0), product);
    const HostMatrix<T> W = to_host<T>(product);
    const HostMatrix<T> M("M", W.extent(0), W.extent(1));
    chains(
        {0, width}, {0, count}, {0, width}, M, [&](Index i, Index k) { return l(i, k); }, W);
    chains(
        {0, rows}, {0, count}, {0, width}, of_c, [&](Index i, Index k) { return v(i, k); }, M);
  }

  HostMatrix<T> A_;
  Index rows_;
  Index columns_;
  int moduli_;
  Index first_ = 0;
  HostMatrix<T> V_;
  HostMatrix<T> L_;
};

}  // namespace heddle::test
