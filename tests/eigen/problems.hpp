// Hermitian matrices with known difficulties, and measures of the errors of their eigensystems.
#pragma once

#include "support/matrices.hpp"
#include "support/multiprecision.hpp"
#include <heddle/eigen/jacobi.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

namespace heddle::eigen {

template <Scalar T> using Device = Kokkos::View<T**, Kokkos::LayoutLeft, MemorySpace>;
template <Scalar T> using Host = Kokkos::View<T**, Kokkos::LayoutLeft, Kokkos::HostSpace>;

template <Scalar T> Host<T> host_matrix(Index n) {
  return Host<T>("matrix", static_cast<std::size_t>(n), static_cast<std::size_t>(n));
}
template <Scalar T> Device<T> to_device(const Host<T>& A) {
  const Device<T> copy("copy", A.extent(0), A.extent(1));
  Kokkos::deep_copy(copy, A);
  return copy;
}
template <class View> auto to_host(const View& view) {
  auto host = Kokkos::create_mirror_view(view);
  Kokkos::deep_copy(host, view);
  return host;
}

/// Random, Hermitian, elements in (-1, 1).
template <Scalar T> Host<T> random_hermitian(Index n, int seed) {
  const Host<T> A = host_matrix<T>(n);
  const test::RandomEntries<T> entry{seed};
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i <= j; ++i) {
      A(i, j) = i == j ? T(static_cast<Real<T>>(test::random_number(i, i, seed))) : entry(i, j);
      A(j, i) = conjugate(A(i, j));
    }
  }
  return A;
}

/// Q diag(values) Q^H, Q a product of reflections; rounded as it comes, then made Hermitian.
template <Scalar T> Host<T> with_spectrum(const std::vector<double>& values, int seed) {
  const auto n = static_cast<Index>(values.size());
  const Host<T> A = host_matrix<T>(n);
  for (Index i = 0; i < n; ++i) {
    A(i, i) = T(static_cast<Real<T>>(values[static_cast<std::size_t>(i)]));
  }
  for (int reflection = 0; reflection < 3; ++reflection) {
    std::vector<T> v(static_cast<std::size_t>(n));
    double square = 0;
    const test::RandomEntries<T> entry{seed + reflection};
    for (Index i = 0; i < n; ++i) {
      v[static_cast<std::size_t>(i)] = entry(i, i + 1);
      const auto size = static_cast<double>(Kokkos::abs(v[static_cast<std::size_t>(i)]));
      square += size * size;
    }
    const auto scale = static_cast<Real<T>>(2 / square);
    const auto reflect = [&](bool rows) {
      for (Index j = 0; j < n; ++j) {
        T inner = T(0);
        for (Index i = 0; i < n; ++i) {
          inner +=
              rows ? conjugate(v[static_cast<std::size_t>(i)]) * A(i, j) : A(j, i) * v[static_cast<std::size_t>(i)];
        }
        for (Index i = 0; i < n; ++i) {
          const T at = v[static_cast<std::size_t>(i)];
          (rows ? A(i, j) : A(j, i)) -= scale * inner * (rows ? at : conjugate(at));
        }
      }
    };
    reflect(true);
    reflect(false);
  }
  for (Index j = 0; j < n; ++j) {
    if constexpr (is_complex<T>) {
      A(j, j) = T(A(j, j).real());
    }
    for (Index i = 0; i < j; ++i) {
      A(j, i) = conjugate(A(i, j));
    }
  }
  return A;
}

/// The six spectra of LAPACK's latms for a condition number.
inline std::vector<double> latms_spectrum(int mode, Index n, double condition) {
  std::vector<double> values(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) {
    const double share = n > 1 ? static_cast<double>(i) / static_cast<double>(n - 1) : 0.0;
    double& value = values[static_cast<std::size_t>(i)];
    switch (mode) {
      case 1:
        value = i == 0 ? 1 : 1 / condition;
        break;
      case 2:
        value = i < n - 1 ? 1 : 1 / condition;
        break;
      case 3:
        value = std::pow(condition, -share);
        break;
      case 4:
        value = 1 - share * (1 - 1 / condition);
        break;
      case 5:
        value = std::exp(std::log(1 / condition) * std::abs(test::random_number(i, 5, 17)));
        break;
      default:
        value = test::random_number(i, 6, 19);
    }
  }
  return values;
}

/// D (2 I + E) D with E random and small, D diagonal with elements 1 ... sqrt(1 / condition): positive definite, whose
/// eigenvalues its elements tell to their last digits however different they are.
template <Scalar T> Host<T> graded(Index n, double condition, int seed) {
  const Host<T> A = random_hermitian<T>(n, seed);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      const auto d = [&](Index k) {
        return std::pow(condition, -0.5 * static_cast<double>((k * 7) % n) / static_cast<double>(n - 1));
      };
      const auto scale = static_cast<Real<T>>(d(i) * d(j));
      A(i, j) = i == j ? T(static_cast<Real<T>>(2 * d(i) * d(i))) : A(i, j) * (scale / static_cast<Real<T>>(n));
    }
  }
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < j; ++i) {
      A(j, i) = conjugate(A(i, j));
    }
  }
  return A;
}

/// Rotations of a Hermitian matrix in 256 bits, whose range has no end: row by row, larger diagonal elements first,
/// until every element off the diagonal is below 2^-200 of what its diagonal elements allow.
class WideRotations {
 public:
  using Number = test::Number;

  template <Scalar T> explicit WideRotations(const Host<T>& A) : n_(A.extent(0)), re_(n_ * n_), im_(n_ * n_) {
    std::vector<std::size_t> order(n_);
    for (std::size_t i = 0; i < n_; ++i) {
      order[i] = i;
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t i, std::size_t j) { return parts(A(i, i)).first > parts(A(j, j)).first; });
    for (std::size_t j = 0; j < n_; ++j) {
      for (std::size_t i = 0; i < n_; ++i) {
        const auto [re, im] = parts(A(order[i], order[j]));
        re_[i + j * n_] = Number(re);
        im_[i + j * n_] = Number(im);
        is_complex_ = is_complex_ || im != 0;
      }
    }
  }
  /// Construct from n x n numbers of 256 bits, column by column.
  WideRotations(std::size_t n, const std::vector<Number>& re, const std::vector<Number>& im)
      : n_(n), re_(n * n), im_(n * n) {
    std::vector<std::size_t> order(n);
    for (std::size_t i = 0; i < n; ++i) {
      order[i] = i;
    }
    const auto size = [&](std::size_t i) { return std::abs(re[i + i * n].to_double()); };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return size(i) > size(j); });
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t i = 0; i < n; ++i) {
        re_[i + j * n] = re[order[i] + order[j] * n];
        im_[i + j * n] = im[order[i] + order[j] * n];
        is_complex_ = is_complex_ || !im_[i + j * n].is_zero();
      }
    }
  }
  /// The eigenvalues, ascending, rounded once.
  std::vector<double> values() {
    bool rotated = true;
    for (int sweep = 0; sweep < 60 && rotated; ++sweep) {
      rotated = false;
      for (std::size_t p = 0; p < n_; ++p) {
        for (std::size_t q = p + 1; q < n_; ++q) {
          rotated = rotate(p, q) || rotated;
        }
      }
    }
    std::vector<double> found(n_);
    for (std::size_t i = 0; i < n_; ++i) {
      found[i] = re_[i + i * n_].to_double();
    }
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  template <Scalar T> static std::pair<double, double> parts(const T& x) {
    if constexpr (is_complex<T>) {
      return {static_cast<double>(x.real()), static_cast<double>(x.imag())};
    } else {
      return {static_cast<double>(x), 0.0};
    }
  }
  static Number product(const Number& x, const Number& y) {
    Number result = x;
    result *= y;
    return result;
  }

  bool rotate(std::size_t p, std::size_t q) {
    const std::size_t at = p + q * n_;
    const Number a = re_[p + p * n_];
    const Number d = re_[q + q * n_];
    Number square = product(re_[at], re_[at]);
    square.add_product(im_[at], im_[at]);
    Number limit = product(a, d);
    limit.scale_by_power_of_two(-400);
    if (limit.sign() < 0) {
      limit *= Number(-1.0);
    }
    limit -= square;
    if (limit.sign() >= 0) {
      return false;
    }
    // The element made real by a phase of row and column q.
    const Number size = Number::sqrt(square);
    Number cosine = re_[at];
    cosine /= size;
    Number sine = im_[at];
    sine /= size;
    // t = 2 b / ((d - a) +- sqrt((d - a)^2 + 4 b^2))
    Number difference = d;
    difference -= a;
    square.scale_by_power_of_two(2);
    square.add_product(difference, difference);
    Number root = Number::sqrt(square);
    if (difference.sign() < 0) {
      root *= Number(-1.0);
    }
    root += difference;
    Number t = size;
    t.scale_by_power_of_two(1);
    t /= root;
    Number c(1.0);
    c.add_product(t, t);
    c = Number::sqrt(c);
    Number one(1.0);
    one /= c;
    c = one;
    const Number s = product(t, c);
    const auto turn = [&](Number& x, Number& y) {
      Number new_x = product(c, x);
      new_x.subtract_product(s, y);
      Number new_y = product(s, x);
      new_y.add_product(c, y);
      x = new_x;
      y = new_y;
    };
    for (std::size_t i = 0; i < n_; ++i) {
      if (i == p || i == q) {
        continue;
      }
      Number& re = re_[i + q * n_];
      Number& im = im_[i + q * n_];
      Number new_re = product(cosine, re);
      if (is_complex_) {
        new_re.add_product(sine, im);
        Number new_im = product(cosine, im);
        new_im.subtract_product(sine, re);
        im = new_im;
        turn(im_[i + p * n_], im);
        for (const std::size_t k : {p, q}) {
          im_[k + i * n_] = im_[i + k * n_];
          im_[k + i * n_] *= Number(-1.0);
        }
      }
      re = new_re;
      turn(re_[i + p * n_], re);
      re_[p + i * n_] = re_[i + p * n_];
      re_[q + i * n_] = re;
    }
    re_[p + p * n_].subtract_product(t, size);
    re_[q + q * n_].add_product(t, size);
    for (const std::size_t zero : {at, q + p * n_}) {
      re_[zero] = Number();
      im_[zero] = Number();
    }
    return true;
  }

  std::size_t n_;
  bool is_complex_ = false;
  std::vector<Number> re_;
  std::vector<Number> im_;
};

/// The eigenvalues of a Hermitian matrix by 256 bits, ascending, rounded once.
template <Scalar T> std::vector<double> wide_eigenvalues(const Host<T>& A) {
  return WideRotations(A).values();
}

/// The largest singular value of what apply() multiplies by, and apply_adjoint() by its adjoint: power method.
template <class T>
double norm2(Index n, const std::function<std::vector<T>(const std::vector<T>&)>& apply,
             const std::function<std::vector<T>(const std::vector<T>&)>& apply_adjoint) {
  std::vector<T> x(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) {
    x[static_cast<std::size_t>(i)] = T(test::random_number(i, 1, 99));
  }
  double norm = 0;
  for (int step = 0; step < 40; ++step) {
    double square = 0;
    for (const T& value : x) {
      square += static_cast<double>(Kokkos::abs(value)) * static_cast<double>(Kokkos::abs(value));
    }
    if (square == 0) {
      return 0;
    }
    norm = std::sqrt(square);
    for (T& value : x) {
      value = value / norm;
    }
    x = apply_adjoint(apply(x));
  }
  double square = 0;
  for (const T& value : x) {
    square += static_cast<double>(Kokkos::abs(value)) * static_cast<double>(Kokkos::abs(value));
  }
  return std::sqrt(std::sqrt(square));
}

template <Scalar T> using Wide = std::conditional_t<is_complex<T>, Kokkos::complex<double>, double>;

/// |A V - V diag(w)|_2 / (n u |A|_2) and |V^H V - I|_2 / (n u), in double.
struct Quality {
  double residual;
  double orthogonality;
};
template <Scalar T> Quality quality(const Host<T>& A, const Host<T>& V, const std::vector<double>& w) {
  using W = Wide<T>;
  const auto n = static_cast<Index>(A.extent(0));
  const auto size = static_cast<std::size_t>(n);
  std::vector<W> R(size * size);
  std::vector<W> E(size * size);
  for (Index j = 0; j < n; ++j) {
    for (Index k = 0; k < n; ++k) {
      const W v = W(V(k, j));
      for (Index i = 0; i < n; ++i) {
        R[static_cast<std::size_t>(i + j * n)] += W(A(i, k)) * v;
        E[static_cast<std::size_t>(i + j * n)] += conjugate(W(V(k, i))) * v;
      }
    }
    for (Index i = 0; i < n; ++i) {
      R[static_cast<std::size_t>(i + j * n)] -= W(V(i, j)) * w[static_cast<std::size_t>(j)];
    }
    E[static_cast<std::size_t>(j + j * n)] -= W(1);
  }
  const auto norm_of = [&](const std::vector<W>& M) {
    return norm2<W>(
        n,
        [&](const std::vector<W>& x) {
          std::vector<W> y(size);
          for (Index j = 0; j < n; ++j) {
            for (Index i = 0; i < n; ++i) {
              y[static_cast<std::size_t>(i)] += M[static_cast<std::size_t>(i + j * n)] * x[static_cast<std::size_t>(j)];
            }
          }
          return y;
        },
        [&](const std::vector<W>& x) {
          std::vector<W> y(size);
          for (Index j = 0; j < n; ++j) {
            for (Index i = 0; i < n; ++i) {
              y[static_cast<std::size_t>(j)] +=
                  conjugate(M[static_cast<std::size_t>(i + j * n)]) * x[static_cast<std::size_t>(i)];
            }
          }
          return y;
        });
  };
  std::vector<W> whole(size * size);
  for (std::size_t at = 0; at < size * size; ++at) {
    whole[at] = W(A(at % size, at / size));
  }
  const double nu = static_cast<double>(n) * static_cast<double>(unit_roundoff<T>);
  const double norm = norm_of(whole);
  return {norm == 0 ? norm_of(R) : norm_of(R) / (nu * norm), norm_of(E) / nu};
}

}  // namespace heddle::eigen
