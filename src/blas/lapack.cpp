// Calls of the host LAPACK and checks of their status.
#include "blas/lapack.hpp"

#include <heddle/core/error.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

// gfortran's convention: everything by reference, the lengths of character arguments by value at the end.
extern "C" {
double dlamch_(const char*, std::size_t);
void dstev_(const char*, const int*, double*, double*, double*, const int*, double*, int*, std::size_t);
void dstevx_(const char*, const char*, const int*, double*, double*, const double*, const double*, const int*,
             const int*, const double*, int*, double*, double*, const int*, double*, int*, int*, int*, std::size_t,
             std::size_t);
void zgbtrf_(const int*, const int*, const int*, const int*, std::complex<double>*, const int*, int*, int*);
void zgbtrs_(const char*, const int*, const int*, const int*, const int*, const std::complex<double>*, const int*,
             const int*, std::complex<double>*, const int*, int*, std::size_t);
void zgetrf_(const int*, const int*, std::complex<double>*, const int*, int*, int*);
void zgetrs_(const char*, const int*, const int*, const std::complex<double>*, const int*, const int*,
             std::complex<double>*, const int*, int*, std::size_t);
}

namespace heddle::impl::lapack {

namespace {

void check(const char* routine, int info) {
  if (info != 0) {
    throw Error(ErrorKind::computation, message_of("LAPACK's ", routine, " failed with info = ", info));
  }
}

}  // namespace

namespace {

// A tridiagonal matrix in arrays that LAPACK overwrites: the diagonal, and at least one number beside it.
struct Tridiagonal {
  std::vector<double> d, e;
  Tridiagonal(std::span<const double> diagonal, std::span<const double> off_diagonal)
      : d(diagonal.begin(), diagonal.end()), e(off_diagonal.begin(), off_diagonal.end()) {
    e.resize(std::max<std::size_t>(d.size(), 1));
  }
};

// The `count` lowest eigenvalues by bisection, and their vectors by inverse iteration where they are wanted.
void bisect(bool with_vectors, std::span<const double> diagonal, std::span<const double> off_diagonal, int count,
            std::vector<double>& energies, std::vector<double>& vectors) {
  const int n = static_cast<int>(diagonal.size());
  const int leading = std::max(n, 1);
  Tridiagonal matrix(diagonal, off_diagonal);
  energies.resize(diagonal.size());
  if (with_vectors) vectors.resize(diagonal.size() * static_cast<std::size_t>(count));
  std::vector<double> work(5 * diagonal.size());
  std::vector<int> integer_work(5 * diagonal.size());
  std::vector<int> failed(diagonal.size());
  const int first = 1;
  const double unused = 0.0;
  // Twice the underflow threshold: LAPACK's advice for the most accurate eigenvalues.
  const double tolerance = 2 * dlamch_("S", 1);
  int found = 0;
  int info = 0;
  dstevx_(with_vectors ? "V" : "N", "I", &n, matrix.d.data(), matrix.e.data(), &unused, &unused, &first, &count,
          &tolerance, &found, energies.data(), vectors.data(), &leading, work.data(), integer_work.data(),
          failed.data(), &info, 1, 1);
  check("dstevx", info);
  energies.resize(static_cast<std::size_t>(count));
}

}  // namespace

void tridiagonal_all(std::span<const double> diagonal, std::span<const double> off_diagonal,
                     std::vector<double>& energies, std::vector<double>& vectors) {
  const int n = static_cast<int>(diagonal.size());
  const int leading = std::max(n, 1);
  Tridiagonal matrix(diagonal, off_diagonal);
  vectors.resize(diagonal.size() * diagonal.size());
  std::vector<double> work(static_cast<std::size_t>(2 * leading));
  int info = 0;
  dstev_("V", &n, matrix.d.data(), matrix.e.data(), vectors.data(), &leading, work.data(), &info, 1);
  // Bisection has more digits of the eigenvalues, and inverse iteration any vectors where QL does not converge.
  bisect(info != 0, diagonal, off_diagonal, n, energies, vectors);
}

Lu::Lu(int n, int width, std::vector<std::complex<double>> matrix)
    : n_(n), width_(width), matrix_(std::move(matrix)), pivots_(n) {
  int info = 0;
  if (banded(n_, width_)) {
    const int leading = 3 * width_ + 1;
    zgbtrf_(&n_, &n_, &width_, &width_, matrix_.data(), &leading, pivots_.data(), &info);
    check("zgbtrf", info);
  } else {
    zgetrf_(&n_, &n_, matrix_.data(), &n_, pivots_.data(), &info);
    check("zgetrf", info);
  }
}

void Lu::solve(std::span<std::complex<double>> x) const {
  const int one = 1;
  int info = 0;
  if (banded(n_, width_)) {
    const int leading = 3 * width_ + 1;
    zgbtrs_("N", &n_, &width_, &width_, &one, matrix_.data(), &leading, pivots_.data(), x.data(), &n_, &info, 1);
    check("zgbtrs", info);
  } else {
    zgetrs_("N", &n_, &one, matrix_.data(), &n_, pivots_.data(), x.data(), &n_, &info, 1);
    check("zgetrs", info);
  }
}

}  // namespace heddle::impl::lapack
