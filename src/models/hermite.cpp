// Hermite expansions of pairs of shells, and the recurrence of Hermite Coulomb integrals.
#include "models/hermite.hpp"

#include "libm/functions.hpp"
#include <heddle/models/gaussian_integrals.hpp>

#include <cmath>
#include <span>
#include <utility>

namespace heddle::impl {

namespace {

// The contribution of one pair of primitives, in Cartesian functions: [h][ca][cb].
std::vector<double> cartesian_product(const std::array<std::vector<double>, 3>& E, int la, int lb) {
  const int degree = la + lb;
  const auto width = static_cast<std::size_t>(degree + 1);
  const auto na = static_cast<std::size_t>((la + 1) * (la + 2) / 2);
  const auto nb = static_cast<std::size_t>((lb + 1) * (lb + 2) / 2);
  std::vector<double> product(hermite_count(degree) * na * nb, 0.0);
  std::size_t ca = 0;
  for (int ax = la; ax >= 0; --ax) {
    for (int ay = la - ax; ay >= 0; --ay, ++ca) {
      std::size_t cb = 0;
      for (int bx = lb; bx >= 0; --bx) {
        for (int by = lb - bx; by >= 0; --by, ++cb) {
          const int az = la - ax - ay;
          const int bz = lb - bx - by;
          const auto along = [&](std::size_t axis, int i, int j) {
            return E[axis].data() + static_cast<std::size_t>(i * (lb + 1) + j) * width;
          };
          const double* X = along(0, ax, bx);
          const double* Y = along(1, ay, by);
          const double* Z = along(2, az, bz);
          for (int t = 0; t <= ax + bx; ++t) {
            for (int u = 0; u <= ay + by; ++u) {
              for (int v = 0; v <= az + bz; ++v) {
                product[(hermite_index(t, u, v) * na + ca) * nb + cb] = X[t] * Y[u] * Z[v];
              }
            }
          }
        }
      }
    }
  }
  return product;
}

// Transforms both sides to solid harmonics, times `factor`.
std::vector<double> spherical_product(const std::vector<double>& product, std::size_t hermites,
                                      const std::vector<double>& Ca, std::size_t rows, const std::vector<double>& Cb,
                                      std::size_t columns, double factor) {
  const std::size_t na = Ca.size() / rows;
  const std::size_t nb = Cb.size() / columns;
  std::vector<double> result(hermites * rows * columns, 0.0);
  std::vector<double> half(rows * nb);
  for (std::size_t h = 0; h < hermites; ++h) {
    for (std::size_t a = 0; a < rows; ++a) {
      for (std::size_t cb = 0; cb < nb; ++cb) {
        double sum = 0;
        for (std::size_t ca = 0; ca < na; ++ca) sum += Ca[a * na + ca] * product[(h * na + ca) * nb + cb];
        half[a * nb + cb] = factor * sum;
      }
      for (std::size_t b = 0; b < columns; ++b) {
        double sum = 0;
        for (std::size_t cb = 0; cb < nb; ++cb) sum += Cb[b * nb + cb] * half[a * nb + cb];
        result[(h * rows + a) * columns + b] = sum;
      }
    }
  }
  return result;
}

}  // namespace

HermiteTable::HermiteTable(int L) : steps_(hermite_count(L)) {
  for (int degree = 1; degree <= L; ++degree) {
    for (int t = degree; t >= 0; --t) {
      for (int u = degree - t; u >= 0; --u) {
        std::array<int, 3> index = {t, u, degree - t - u};
        const std::size_t axis = index[0] > 0 ? 0 : index[1] > 0 ? 1 : 2;
        Step& step = steps_[hermite_index(index[0], index[1], index[2])];
        step.axis = axis;
        --index[axis];
        step.first = hermite_index(index[0], index[1], index[2]);
        step.factor = index[axis];
        if (index[axis] > 0) {
          --index[axis];
          step.second = hermite_index(index[0], index[1], index[2]);
        } else {
          step.second = step.first;
        }
      }
    }
  }
}

void HermiteTable::coulomb(int L, double alpha, const std::array<double, 3>& R, double* result, double* scratch,
                           double* boys) const {
  const double x = alpha * (R[0] * R[0] + R[1] * R[1] + R[2] * R[2]);
  models::boys(x, std::span<double>(boys, static_cast<std::size_t>(L) + 1));
  double power = 1;
  for (int n = 0; n <= L; ++n, power *= -2 * alpha) boys[n] *= power;
  // The last of L + 1 turns writes `result`.
  double* now = L % 2 == 0 ? result : scratch;
  double* before = L % 2 == 0 ? scratch : result;
  for (int n = L; n >= 0; --n) {
    now[0] = boys[n];
    const std::size_t count = hermite_count(L - n);
    for (std::size_t h = 1; h < count; ++h) {
      const Step& step = steps_[h];
      now[h] = R[step.axis] * before[step.first] + step.factor * before[step.second];
    }
    std::swap(now, before);
  }
}

std::vector<double> hermite_expansion(int most_a, int most_b, double a, double b, double A, double B) {
  const double p = a + b;
  const double AB = A - B;
  // P - A and P - B, without cancellation.
  const double PA = -b / p * AB;
  const double PB = a / p * AB;
  const int width = most_a + most_b + 1;
  std::vector<double> E(static_cast<std::size_t>((most_a + 1) * (most_b + 1) * width), 0.0);
  const auto at = [&](int i, int j) { return E.data() + (i * (most_b + 1) + j) * width; };
  at(0, 0)[0] = libm::exp(-a * b / p * AB * AB);
  const auto raise = [&](const double* from, int degree, double shift, double* to) {
    for (int t = 0; t <= degree + 1; ++t) {
      to[t] = (t > 0 ? from[t - 1] / (2 * p) : 0.0) + (t <= degree ? shift * from[t] : 0.0) +
              (t + 1 <= degree ? (t + 1) * from[t + 1] : 0.0);
    }
  };
  for (int i = 0; i <= most_a; ++i) {
    if (i > 0) raise(at(i - 1, 0), i - 1, PA, at(i, 0));
    for (int j = 1; j <= most_b; ++j) raise(at(i, j - 1), i + j - 1, PB, at(i, j));
  }
  return E;
}

std::vector<ShellPair> shell_pairs(const models::GaussianBasis& basis) {
  std::vector<std::vector<double>> harmonics;
  for (const models::Shell& shell : basis.shells()) {
    while (harmonics.size() <= static_cast<std::size_t>(shell.angular)) {
      harmonics.push_back(models::solid_harmonics(static_cast<int>(harmonics.size())));
    }
  }
  std::vector<ShellPair> pairs;
  for (std::size_t s = 0; s < basis.shells().size(); ++s) {
    for (std::size_t r = 0; r <= s; ++r) {
      const models::Shell& A = basis.shells()[s];
      const models::Shell& B = basis.shells()[r];
      ShellPair pair;
      pair.first = s;
      pair.second = r;
      pair.degree = A.angular + B.angular;
      pair.rows = static_cast<std::size_t>(2 * A.angular + 1);
      pair.columns = static_cast<std::size_t>(2 * B.angular + 1);
      for (std::size_t i = 0; i < A.exponents.size(); ++i) {
        for (std::size_t j = 0; j < B.exponents.size(); ++j) {
          const double a = A.exponents[i];
          const double b = B.exponents[j];
          PrimitivePair part;
          part.exponent = a + b;
          std::array<std::vector<double>, 3> E;
          for (std::size_t d = 0; d < 3; ++d) {
            part.centre[d] = (a * A.centre[d] + b * B.centre[d]) / (a + b);
            E[d] = hermite_expansion(A.angular, B.angular, a, b, A.centre[d], B.centre[d]);
          }
          part.hermite = spherical_product(cartesian_product(E, A.angular, B.angular), hermite_count(pair.degree),
                                           harmonics[static_cast<std::size_t>(A.angular)], pair.rows,
                                           harmonics[static_cast<std::size_t>(B.angular)], pair.columns,
                                           A.coefficients[i] * B.coefficients[j]);
          pair.parts.push_back(std::move(part));
        }
      }
      pairs.push_back(std::move(pair));
    }
  }
  return pairs;
}

}  // namespace heddle::impl
