// References of as many bits as a case needs, on MPFR: exponentials, eigenvalues and inverses of small matrices.
#include "hunt/wide.hpp"

#include "hunt/operation.hpp"

#include <algorithm>
#include <stdexcept>

namespace heddle::hunt {

WideMatrix operator*(const WideMatrix& X, const WideMatrix& Y) {
  WideMatrix Z(X.rows, Y.columns);
  for (Index j = 0; j < Y.columns; ++j) {
    for (Index k = 0; k < X.columns; ++k) {
      const WideComplex& y = Y.at(k, j);
      for (Index i = 0; i < X.rows && !y.is_zero(); ++i) {
        if (!X.at(i, k).is_zero()) Z.at(i, j).add_product(X.at(i, k), y);
      }
    }
  }
  return Z;
}

Wide norm1(const WideMatrix& X) {
  return distance1(X, WideMatrix(X.rows, X.columns));
}
Wide distance1(const WideMatrix& X, const WideMatrix& Y) {
  Wide largest;
  for (Index j = 0; j < X.columns; ++j) {
    Wide sum;
    for (Index i = 0; i < X.rows; ++i) sum += (X.at(i, j) - Y.at(i, j)).absolute();
    if (largest < sum) largest = sum;
  }
  return largest;
}

namespace {

// Return powers of two d for which rows and columns of D^-1 A D are alike in size off the diagonal (E. Osborne, 1960);
// if a row or a column is zero there, the other becomes small.
std::vector<long> balance(const WideMatrix& A) {
  const Index n = A.rows;
  std::vector<long> d(static_cast<std::size_t>(n), 0);
  const auto size = [&](Index i, Index j) {
    const long exponent = std::max(A.at(i, j).re.exponent(), A.at(i, j).im.exponent());
    return A.at(i, j).is_zero() ? -1000000L
                                : exponent - d[static_cast<std::size_t>(i)] + d[static_cast<std::size_t>(j)];
  };
  bool moved = true;
  for (int sweep = 0; sweep < 60 && moved; ++sweep) {
    moved = false;
    for (Index i = 0; i < n; ++i) {
      long row = -1000000;
      long column = -1000000;
      for (Index j = 0; j < n; ++j) {
        if (j != i) row = std::max(row, size(i, j)), column = std::max(column, size(j, i));
      }
      long step = 0;
      if (row > -900000 && column > -900000) {
        step = (row - column) / 2;
      } else if (row > -900000) {
        step = std::max(row + 4, 0L);
      } else if (column > -900000) {
        step = -std::max(column + 4, 0L);
      }
      moved = moved || step != 0;
      d[static_cast<std::size_t>(i)] += step;
    }
  }
  return d;
}

// Evaluate once with Wide::bits.
WideMatrix exponential_once(const WideMatrix& given, const std::vector<long>& d) {
  const Index n = given.rows;
  WideMatrix A(given);
  WideComplex mean;
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      A.at(i, j).scale(d[static_cast<std::size_t>(j)] - d[static_cast<std::size_t>(i)]);
    }
    mean.re += A.at(j, j).re;
    mean.im += A.at(j, j).im;
  }
  mean.re.divide(static_cast<unsigned long>(n));
  mean.im.divide(static_cast<unsigned long>(n));
  for (Index i = 0; i < n; ++i) A.at(i, i) = A.at(i, i) - mean;
  const long extra = 8 + static_cast<long>(std::sqrt(static_cast<double>(Wide::bits)) / 3);
  const long squarings = std::max(norm1(A).exponent() + extra, 0L);
  for (WideComplex& x : A.values) x.scale(-squarings);
  // Further terms 2^-(extra k) / k! are below the last bit.
  const long terms = static_cast<long>(Wide::bits) / extra + 2;
  WideMatrix E(n, n);
  for (Index i = 0; i < n; ++i) E.at(i, i).re = Wide(1.0);
  for (long k = terms; k >= 1; --k) {
    E = A * E;
    for (WideComplex& x : E.values) {
      x.re.divide(static_cast<unsigned long>(k));
      x.im.divide(static_cast<unsigned long>(k));
    }
    for (Index i = 0; i < n; ++i) E.at(i, i).re += Wide(1.0);
  }
  for (long k = 0; k < squarings; ++k) E = E * E;
  WideComplex factor;
  Wide::sine_cosine(mean.im, factor.im, factor.re);
  const Wide growth = mean.re.exponential();
  factor = WideComplex(factor.re * growth, factor.im * growth);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      E.at(i, j) = E.at(i, j) * factor;
      E.at(i, j).scale(d[static_cast<std::size_t>(i)] - d[static_cast<std::size_t>(j)]);
    }
  }
  return E;
}

double norm_of_balanced(const WideMatrix& A, const std::vector<long>& d) {
  Wide::bits = 64;
  WideMatrix B(A);
  for (Index j = 0; j < A.rows; ++j) {
    for (Index i = 0; i < A.rows; ++i)
      B.at(i, j).scale(d[static_cast<std::size_t>(j)] - d[static_cast<std::size_t>(i)]);
  }
  return norm1(B).to_double();
}

}  // namespace

double balanced_norm(const WideMatrix& A) {
  return norm_of_balanced(A, balance(A));
}

std::optional<WideMatrix> wide_exponential(const WideMatrix& A) {
  if (A.rows == 0) return WideMatrix(0, 0);
  const std::vector<long> d = balance(A);
  const double norm = norm_of_balanced(A, d);
  if (norm < 2000) {
    Wide::bits = 320 + static_cast<mpfr_prec_t>(4.4 * norm);
    return exponential_once(A, d);
  }
  if (!(norm < 1e6)) return {};
  std::optional<WideMatrix> before;
  for (Wide::bits = 512 + 2 * std::ilogb(norm); Wide::bits < (A.rows > 8 ? 5000 : 20000); Wide::bits *= 2) {
    WideMatrix E = exponential_once(A, d);
    if (before) {
      const Wide difference = distance1(E, *before);
      if (difference.is_zero() || difference.exponent() < norm1(E).exponent() - 150) return E;
    }
    before = std::move(E);
  }
  return {};
}

namespace {

// Exponents of the largest part and of the smallest nonzero part.
struct Exponents {
  long top = -100000;
  long bottom = 100000;
  [[nodiscard]] long spread() const { return top > bottom ? top - bottom : 0; }
};
Exponents exponents_of(const Array& A) {
  if (!is_finite(A)) throw std::invalid_argument("many digits of a matrix that holds NaN or infinity");
  Exponents found;
  for (const Value& x : A.values) {
    for (const double part : {x.real(), x.imag()}) {
      if (part == 0) continue;
      found.top = std::max<long>(found.top, std::ilogb(part));
      found.bottom = std::min<long>(found.bottom, std::ilogb(part));
    }
  }
  return found;
}

// Return the eigenvalues of a Hermitian matrix with elements below 2^(top + 1), at the current Wide::bits.
std::vector<Wide> by_rotations(WideMatrix S, long top) {
  const Index n = S.rows;
  for (int sweep = 0; sweep < 80; ++sweep) {
    bool rotated = false;
    for (Index p = 0; p < n; ++p) {
      for (Index q = p + 1; q < n; ++q) {
        const WideComplex b = S.at(p, q);
        const long size = b.square().exponent();
        const long diagonals = S.at(p, p).re.exponent() + S.at(q, q).re.exponent();
        if (b.is_zero() || size < diagonals - 400 || size < 2 * (top - static_cast<long>(Wide::bits) + 20)) continue;
        rotated = true;
        // tan of the angle t = 2 |b| / (d + sign(d) sqrt(d^2 + 4 |b|^2)), d = a_qq - a_pp; the phase of b is treated
        // separately.
        const Wide length = b.absolute();
        const WideComplex phase(b.re / length, b.im / length);
        const Wide difference = S.at(q, q).re - S.at(p, p).re;
        Wide root = difference * difference;
        Wide four = b.square();
        four.scale(2);
        root = (root + four).root();
        Wide t = length;
        t.scale(1);
        t = t / (difference.sign() < 0 ? difference - root : difference + root);
        Wide c = Wide(1.0) / (Wide(1.0) + t * t).root();
        const Wide s = t * c;
        // Multiply columns p and q by [[c, s phase], [-s conj(phase), c]], then rows by its adjoint.
        const WideComplex along(s * phase.re, s * phase.im);
        for (const bool rows : {false, true}) {
          for (Index i = 0; i < n; ++i) {
            WideComplex& x = rows ? S.at(p, i) : S.at(i, p);
            WideComplex& y = rows ? S.at(q, i) : S.at(i, q);
            const WideComplex turn = rows ? along : along.conjugate();
            const WideComplex new_x = WideComplex(c * x.re, c * x.im) - turn * y;
            WideComplex new_y(c * y.re, c * y.im);
            new_y.add_product(turn.conjugate(), x);
            x = new_x;
            y = new_y;
          }
        }
      }
    }
    if (!rotated) break;
  }
  std::vector<Wide> values;
  for (Index i = 0; i < n; ++i) values.push_back(S.at(i, i).re);
  std::sort(values.begin(), values.end());
  return values;
}

}  // namespace

std::vector<Wide> wide_eigenvalues(const Array& A) {
  const Exponents exponents = exponents_of(A);
  Wide::bits = 400 + 2 * exponents.spread();
  return by_rotations(WideMatrix(A), exponents.top);
}

std::optional<std::vector<Wide>> wide_eigenvalues(const Array& H, const Array& S) {
  const Exponents of_H = exponents_of(H);
  const Exponents of_S = exponents_of(S);
  // L^-1 on both sides adds the spread of S to that of the elements.
  Wide::bits = 800 + 2 * of_H.spread() + 8 * of_S.spread();
  const Index n = S.rows;
  WideMatrix L(S);
  for (Index j = 0; j < n; ++j) {
    for (Index k = 0; k < j; ++k) {
      const WideComplex by = L.at(j, k).conjugate();
      for (Index i = j; i < n; ++i) L.at(i, j) = L.at(i, j) - L.at(i, k) * by;
    }
    if (!(L.at(j, j).re.sign() > 0)) return {};
    const Wide root = L.at(j, j).re.root();
    for (Index i = j; i < n; ++i) L.at(i, j) = WideComplex(L.at(i, j).re / root, L.at(i, j).im / root);
    L.at(j, j) = WideComplex(root, Wide());
  }
  WideMatrix M(H);
  for (int side = 0; side < 2; ++side) {
    // L^-1 M, then its adjoint.
    for (Index j = 0; j < n; ++j) {
      for (Index k = 0; k < n; ++k) {
        M.at(k, j) = WideComplex(M.at(k, j).re / L.at(k, k).re, M.at(k, j).im / L.at(k, k).re);
        for (Index i = k + 1; i < n; ++i) M.at(i, j) = M.at(i, j) - L.at(i, k) * M.at(k, j);
      }
    }
    for (Index j = 0; j < n; ++j) {
      M.at(j, j) = M.at(j, j).conjugate();
      for (Index i = 0; i < j; ++i) {
        std::swap(M.at(i, j), M.at(j, i));
        M.at(i, j) = M.at(i, j).conjugate();
        M.at(j, i) = M.at(j, i).conjugate();
      }
    }
  }
  long top = WideComplex().re.exponent();
  for (const WideComplex& x : M.values) top = std::max({top, x.re.exponent(), x.im.exponent()});
  return by_rotations(std::move(M), top);
}

std::vector<Wide> wide_singular_values(const Array& A) {
  const Exponents exponents = exponents_of(A);
  // Products double the exponents, and roots halve the digits.
  Wide::bits = 600 + 4 * exponents.spread();
  const WideMatrix X(A);
  const bool by_columns = A.rows >= A.columns;
  const Index k = std::min(A.rows, A.columns);
  WideMatrix S(k, k);
  for (Index j = 0; j < k; ++j) {
    for (Index i = 0; i < k; ++i) {
      for (Index l = 0; l < std::max(A.rows, A.columns); ++l) {
        const WideComplex& x = by_columns ? X.at(l, i) : X.at(i, l);
        const WideComplex& y = by_columns ? X.at(l, j) : X.at(j, l);
        S.at(i, j).add_product(by_columns ? x.conjugate() : x, by_columns ? y : y.conjugate());
      }
    }
  }
  std::vector<Wide> values = by_rotations(std::move(S), 2 * exponents.top + 6);
  for (Wide& value : values) value = value.sign() > 0 ? value.root() : Wide();
  std::reverse(values.begin(), values.end());
  return values;
}

namespace {

// Replace X by M^-1 X and overwrite M.
bool eliminate(WideMatrix& M, WideMatrix& X) {
  const Index n = M.rows;
  for (Index k = 0; k < n; ++k) {
    Index pivot = k;
    for (Index i = k + 1; i < n; ++i) {
      if (M.at(pivot, k).square() < M.at(i, k).square()) pivot = i;
    }
    if (M.at(pivot, k).is_zero()) return false;
    const Wide square = M.at(pivot, k).square();
    const WideComplex inverse(M.at(pivot, k).re / square, -(M.at(pivot, k).im / square));
    const auto take = [&](WideMatrix& of, Index first) {
      for (Index j = first; j < of.columns; ++j) {
        std::swap(of.at(k, j), of.at(pivot, j));
        of.at(k, j) = of.at(k, j) * inverse;
      }
    };
    take(M, k);
    take(X, 0);
    for (Index i = 0; i < n; ++i) {
      const WideComplex factor = M.at(i, k);
      if (i == k || factor.is_zero()) continue;
      for (Index j = k; j < n; ++j) M.at(i, j) = M.at(i, j) - factor * M.at(k, j);
      for (Index j = 0; j < X.columns; ++j) X.at(i, j) = X.at(i, j) - factor * X.at(k, j);
    }
  }
  return true;
}

}  // namespace

std::optional<WideMatrix> wide_inverse(const Array& A) {
  Wide::bits = 4000;
  WideMatrix M(A);
  WideMatrix X(A.rows, A.rows);
  for (Index i = 0; i < A.rows; ++i) X.at(i, i).re = Wide(1.0);
  if (!eliminate(M, X)) return {};
  return X;
}
std::optional<WideMatrix> wide_solution(const Array& A, const Array& B, long bits) {
  Wide::bits = bits;
  WideMatrix M(A);
  WideMatrix X(B);
  if (!eliminate(M, X)) return {};
  return X;
}

}  // namespace heddle::hunt
