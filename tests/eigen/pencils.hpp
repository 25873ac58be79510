// Pencils H C = S C diag(w) of the tests: made, solved, judged, and their eigenvalues by 256 bits.
#pragma once

#include "eigen/problems.hpp"
#include <heddle/eigen/generalised.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace heddle::eigen {

template <Scalar T> struct Solution {
  std::vector<double> w;
  Host<T> C;
  JacobiGeneralisedReport report;
};

template <Scalar T> Solution<T> solve(const Host<T>& H, const Host<T>& S, const JacobiOptions& options = {}) {
  const Device<T> C("C", H.extent(0), H.extent(0));
  const Kokkos::View<Real<T>*, MemorySpace> w("w", H.extent(0));
  Solution<T> found;
  found.report = jacobi(ExecutionSpace(), to_device<T>(H), to_device<T>(S), w, C, options);
  found.C = to_host(C);
  const auto values = to_host(w);
  for (std::size_t i = 0; i < values.extent(0); ++i) {
    found.w.push_back(static_cast<double>(values(i)));
  }
  return found;
}

// A in double, rows and columns divided by d.
template <Scalar T> std::vector<Wide<T>> scaled(const Host<T>& A, const std::vector<double>& d) {
  const std::size_t n = d.size();
  std::vector<Wide<T>> result(n * n);
  for (std::size_t at = 0; at < n * n; ++at) {
    result[at] = Wide<T>(A(at % n, at / n)) / (d[at % n] * d[at / n]);
  }
  return result;
}
template <class W> double frobenius(const std::vector<W>& A) {
  double sum = 0;
  for (const W& x : A) {
    sum += std::pow(static_cast<double>(Kokkos::abs(x)), 2);
  }
  return std::sqrt(sum);
}

struct PencilQuality {
  double backward = 0;       // Largest |H c - w S c| / (n u (|H|_F + |w| |S|_F) |c|)
  double orthogonality = 0;  // Largest |c_i^H S c_j - delta_ij| / (n u |S|_F |c_i| |c_j|)
};
// Quality for the matrices scaled so that the diagonal of S is 1; computed in double, with errors of some u of double.
template <Scalar T> PencilQuality pencil_quality(const Host<T>& H, const Host<T>& S, const Solution<T>& found) {
  using W = Wide<T>;
  const std::size_t n = H.extent(0);
  std::vector<double> d(n);
  for (std::size_t i = 0; i < n; ++i) {
    d[i] = std::sqrt(static_cast<double>(Kokkos::abs(S(i, i))));
  }
  const std::vector<W> A = scaled<T>(H, d);
  const std::vector<W> B = scaled<T>(S, d);
  std::vector<W> C(n * n);
  std::vector<W> SC(n * n);
  std::vector<double> lengths(n);
  const double nu = static_cast<double>(n) * static_cast<double>(unit_roundoff<T>);
  PencilQuality result;
  for (std::size_t j = 0; j < n; ++j) {
    std::vector<W> residual(n);
    for (std::size_t k = 0; k < n; ++k) {
      const W c = W(found.C(k, j)) * d[k];
      C[k + j * n] = c;
      lengths[j] += std::pow(static_cast<double>(Kokkos::abs(c)), 2);
      for (std::size_t i = 0; i < n; ++i) {
        SC[i + j * n] += B[i + k * n] * c;
        residual[i] += A[i + k * n] * c;
      }
    }
    lengths[j] = std::sqrt(lengths[j]);
    for (std::size_t i = 0; i < n; ++i) {
      residual[i] -= SC[i + j * n] * found.w[j];
    }
    const double size = (frobenius(A) + std::abs(found.w[j]) * frobenius(B)) * lengths[j];
    // The residual is 0 for H = 0 and w = 0, and `size` too.
    const double left = frobenius(residual);
    const double backward = left == 0 ? 0 : left / (nu * size);
    result.backward = backward <= result.backward ? result.backward : backward;
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      W inner = W(i == j ? -1.0 : 0.0);
      for (std::size_t k = 0; k < n; ++k) {
        inner += conjugate(C[k + i * n]) * SC[k + j * n];
      }
      const double off = static_cast<double>(Kokkos::abs(inner)) / (nu * frobenius(B) * lengths[i] * lengths[j]);
      result.orthogonality = off <= result.orthogonality ? result.orthogonality : off;
    }
  }
  return result;
}

template <Scalar T> void expect_good(const Host<T>& H, const Host<T>& S, const Solution<T>& found) {
  EXPECT_TRUE(found.report.converged);
  EXPECT_TRUE(std::is_sorted(found.w.begin(), found.w.end()));
  const PencilQuality judged = pencil_quality<T>(H, S, found);
  EXPECT_LE(judged.backward, 10);
  EXPECT_LE(judged.orthogonality, 10);
}

// The eigenvalues of the pencil by 256 bits: L^-1 H L^-H and rotations of it. Rows are sorted by h_ii / s_ii,
// ascending, so that L^-1 adds small rows to large ones and not the other way: 256 bits are too few for that, too.
template <Scalar T> std::vector<double> wide_values(const Host<T>& given_H, const Host<T>& given_S) {
  const auto order = [&] {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < given_H.extent(0); ++i) {
      ratios.push_back(static_cast<double>(Kokkos::abs(given_H(i, i))) /
                       static_cast<double>(Kokkos::abs(given_S(i, i))));
    }
    std::vector<std::size_t> indices(ratios.size());
    std::iota(indices.begin(), indices.end(), std::size_t{0});
    std::sort(indices.begin(), indices.end(), [&](std::size_t i, std::size_t j) { return ratios[i] < ratios[j]; });
    return indices;
  }();
  const Host<T> H = host_matrix<T>(static_cast<Index>(order.size()));
  const Host<T> S = host_matrix<T>(static_cast<Index>(order.size()));
  for (std::size_t j = 0; j < order.size(); ++j) {
    for (std::size_t i = 0; i < order.size(); ++i) {
      H(i, j) = given_H(order[i], order[j]);
      S(i, j) = given_S(order[i], order[j]);
    }
  }
  using Number = test::Number;
  struct Complex {
    Number re, im;
  };
  const std::size_t n = H.extent(0);
  const auto wide = [](const T& x) {
    if constexpr (is_complex<T>) {
      return Complex{Number(x.real()), Number(x.imag())};
    } else {
      return Complex{Number(x), Number()};
    }
  };
  const auto subtract = [](Complex& x, const Complex& a, const Complex& b, bool conjugated) {  // x -= a b or a conj(b)
    Number b_im = b.im;
    if (conjugated) {
      b_im *= Number(-1.0);
    }
    x.re.subtract_product(a.re, b.re);
    x.re.add_product(a.im, b_im);
    x.im.subtract_product(a.re, b_im);
    x.im.subtract_product(a.im, b.re);
  };
  std::vector<Complex> L(n * n);
  std::vector<Complex> M(n * n);
  for (std::size_t at = 0; at < n * n; ++at) {
    L[at] = wide(S(at % n, at / n));
    M[at] = wide(H(at % n, at / n));
  }
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = j; i < n; ++i) {
      for (std::size_t k = 0; k < j; ++k) {
        subtract(L[i + j * n], L[i + k * n], L[j + k * n], true);
      }
      if (i == j) {
        EXPECT_GT(L[j + j * n].re.sign(), 0);
        L[j + j * n].re = Number::sqrt(L[j + j * n].re);
      } else {
        L[i + j * n].re /= L[j + j * n].re;
        L[i + j * n].im /= L[j + j * n].re;
      }
    }
  }
  const auto forward = [&] {  // M = L^-1 M, then its adjoint.
    for (std::size_t c = 0; c < n; ++c) {
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t k = 0; k < i; ++k) {
          subtract(M[i + c * n], L[i + k * n], M[k + c * n], false);
        }
        M[i + c * n].re /= L[i + i * n].re;
        M[i + c * n].im /= L[i + i * n].re;
      }
    }
    std::vector<Complex> adjoint(n * n);
    for (std::size_t at = 0; at < n * n; ++at) {
      adjoint[at] = M[at / n + at % n * n];
      adjoint[at].im *= Number(-1.0);
    }
    M = adjoint;
  };
  forward();
  forward();
  std::vector<Number> re;
  std::vector<Number> im;
  for (const Complex& x : M) {
    re.push_back(x.re);
    im.push_back(x.im);
  }
  return WideRotations(n, re, im).values();
}

// S = D (I + share v v^H) D: its condition after scaling is known to be at most (1 + share n) (1 + share).
template <Scalar T> Host<T> overlap(Index n, double share, double low, int seed) {
  const Host<T> S = host_matrix<T>(n);
  const test::RandomEntries<T> entry{seed};
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      const auto d = [&](Index k) {
        return std::pow(low, n > 1 ? static_cast<double>((5 * k) % n) / static_cast<double>(n - 1) : 0.0);
      };
      const T v = entry(i, 1) * conjugate(entry(j, 1)) * static_cast<Real<T>>(share);
      S(i, j) = (i == j ? T(1 + Kokkos::abs(v)) : v) * static_cast<Real<T>>(d(i) * d(j));
    }
  }
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < j; ++i) {
      S(i, j) = conjugate(S(j, i));
    }
  }
  return S;
}

// Overlaps of Gaussians exp(-a (x - k)^2) at integers: Toeplitz, as ill-conditioned as they overlap.
template <Scalar T> Host<T> gaussians(Index n, double exponent) {
  const Host<T> S = host_matrix<T>(n);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      S(i, j) = T(static_cast<Real<T>>(std::exp(-exponent * static_cast<double>((i - j) * (i - j)))));
    }
  }
  return S;
}

}  // namespace heddle::eigen
