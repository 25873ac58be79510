// Helpers shared by the tests of the Kohn-Sham model and of its self-consistency.
#pragma once

#include "support/errors.hpp"
#include <heddle/core/error.hpp>
#include <heddle/models/kohn_sham.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <vector>

extern "C" void dsyevd_(const char* job, const char* triangle, const int* n, double* A, const int* lda, double* w,
                        double* work, const int* lwork, int* iwork, const int* liwork, int* info, std::size_t,
                        std::size_t);

namespace heddle::test {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

inline void lapack_diagonalise(std::span<const double> H, std::vector<double>& w, std::vector<double>& V) {
  V.assign(H.begin(), H.end());
  const int n = static_cast<int>(std::lround(std::sqrt(static_cast<double>(H.size()))));
  w.resize(n);
  std::vector<double> work(1 + 6 * n + 2 * V.size());
  std::vector<int> iwork(3 + 5 * n);
  const int lwork = static_cast<int>(work.size());
  const int liwork = static_cast<int>(iwork.size());
  int info = 0;
  dsyevd_("V", "L", &n, V.data(), &n, w.data(), work.data(), &lwork, iwork.data(), &liwork, &info, 1, 1);
  ASSERT_EQ(info, 0);
}

inline double integral(const eigen::KohnSham& model, std::span<const double> a, std::span<const double> b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return model.spacing() * sum;
}

// The message says what was wrong.
template <class Function> void expect_refused(const Function& function, const std::string& word) {
  expect_refusal(ErrorKind::argument, word, function);
}

}  // namespace heddle::test
