// Every routine of the BLAS by its Fortran name, on operands that a test fills.
#pragma once

#include "interpose/library.hpp"
#include <heddle/core/scalar.hpp>

#include <functional>
#include <string>
#include <vector>

namespace heddle::test {

template <class T> struct EveryRoutine {
  using R = Real<T>;
  struct One {
    std::string name;
    std::function<void()> call;
    bool unit = false;  // Of triangles, whether ones are on the diagonal.
  };

  /// Matrices are n x n with a leading dimension of n + 2; triangles are dominated by their diagonals.
  EveryRoutine(int order, const std::function<T(Index)>& number)
      : n(order),
        leading(order + 2),
        A(numbers(number, order * (order + 2))),
        B(numbers(number, order * (order + 2))),
        C(numbers(number, order * (order + 2))),
        x(numbers(number, order)),
        y(numbers(number, order)) {}

  /// All of them; what they change is to be filled again before the next.
  std::vector<One> all() {
    std::vector<One> those;
    const auto add = [&](const std::string& name, const Arguments& arguments) {
      Routine* const routine = blas_function<Routine>(name + "_");
      those.push_back({name, [routine, arguments] { test::call(routine, arguments); }, false});
    };
    const std::string own(1, letter<T>);
    const std::string symmetric = own + (complex ? "he" : "sy");
    const std::string band = own + (complex ? "hb" : "sb");
    const std::string packed = own + (complex ? "hp" : "sp");
    add(own + "copy", {&n, x.data(), &one, y.data(), &one});
    add(own + "swap", {&n, x.data(), &one, y.data(), &one});
    add(own + "axpy", {&n, &alpha, x.data(), &one, y.data(), &one});
    add(own + "scal", {&n, &alpha, x.data(), &one});
    add("i" + own + "amax", {&n, x.data(), &one});
    add(std::string(complex ? (own == "c" ? "cs" : "zd") : own) + "rot",
        {&n, x.data(), &one, y.data(), &one, &cosine, &sine});
    if (!complex) add(own + "rotm", {&n, x.data(), &one, y.data(), &one, parameters});
    add(complex ? (own == "c" ? "scnrm2" : "dznrm2") : own + "nrm2", {&n, x.data(), &one});
    add(complex ? (own == "c" ? "scasum" : "dzasum") : own + "asum", {&n, x.data(), &one});
    for (const char* const dot : {"dotu", "dotc"}) {
      if (complex) add(own + dot, {&n, x.data(), &one, y.data(), &one});
    }
    if (!complex) add(own + "dot", {&n, x.data(), &one, y.data(), &one});
    for (const char* op : {"N", "T", "C"}) {
      add(own + "gemv", {op, &n, &n, &alpha, A.data(), &leading, x.data(), &one, &beta, y.data(), &one});
      add(own + "gbmv", {op, &n, &n, &one, &one, &alpha, A.data(), &leading, x.data(), &one, &beta, y.data(), &one});
      for (const char* other : {"N", "C"}) {
        add(own + "gemm",
            {op, other, &n, &n, &n, &alpha, A.data(), &leading, B.data(), &leading, &beta, C.data(), &leading});
      }
    }
    add(own + (complex ? "geru" : "ger"), {&n, &n, &alpha, x.data(), &one, y.data(), &one, A.data(), &leading});
    if (complex) add(own + "gerc", {&n, &n, &alpha, x.data(), &one, y.data(), &one, A.data(), &leading});
    for (const char* triangle : {"U", "L"}) {
      add(symmetric + "mv", {triangle, &n, &alpha, A.data(), &leading, x.data(), &one, &beta, y.data(), &one});
      add(band + "mv", {triangle, &n, &one, &alpha, A.data(), &leading, x.data(), &one, &beta, y.data(), &one});
      add(packed + "mv", {triangle, &n, &alpha, A.data(), x.data(), &one, &beta, y.data(), &one});
      add(symmetric + "r", {triangle, &n, &real_alpha, x.data(), &one, A.data(), &leading});
      add(packed + "r", {triangle, &n, &real_alpha, x.data(), &one, A.data()});
      add(symmetric + "r2", {triangle, &n, &alpha, x.data(), &one, y.data(), &one, A.data(), &leading});
      add(packed + "r2", {triangle, &n, &alpha, x.data(), &one, y.data(), &one, A.data()});
      for (const char* side : {"L", "R"}) {
        add(own + "symm",
            {side, triangle, &n, &n, &alpha, A.data(), &leading, B.data(), &leading, &beta, C.data(), &leading});
        if (complex) {
          add(own + "hemm",
              {side, triangle, &n, &n, &alpha, A.data(), &leading, B.data(), &leading, &beta, C.data(), &leading});
        }
      }
      for (const char* op : {"N", "T"}) {
        add(own + "syrk", {triangle, op, &n, &n, &alpha, A.data(), &leading, &beta, C.data(), &leading});
        add(own + "syr2k",
            {triangle, op, &n, &n, &alpha, A.data(), &leading, B.data(), &leading, &beta, C.data(), &leading});
        const char* const adjoint = *op == 'N' ? "N" : "C";
        if (!complex) continue;
        add(own + "herk", {triangle, adjoint, &n, &n, &real_alpha, A.data(), &leading, &real_beta, C.data(), &leading});
        add(own + "her2k", {triangle, adjoint, &n, &n, &alpha, A.data(), &leading, B.data(), &leading, &real_beta,
                            C.data(), &leading});
      }
      for (const char* op : {"N", "T", "C"}) {
        for (const char* diagonal : {"N", "U"}) {
          for (const char* verb : {"m", "s"}) {
            const std::string what = std::string(verb) + "v";
            add(own + "tr" + what, {triangle, op, diagonal, &n, A.data(), &leading, x.data(), &one});
            add(own + "tb" + what, {triangle, op, diagonal, &n, &one, A.data(), &leading, x.data(), &one});
            add(own + "tp" + what, {triangle, op, diagonal, &n, A.data(), x.data(), &one});
            for (const char* side : {"L", "R"}) {
              add(own + "tr" + verb + "m",
                  {side, triangle, op, diagonal, &n, &n, &alpha, A.data(), &leading, B.data(), &leading});
              those.back().unit = *diagonal == 'U';
            }
          }
        }
      }
    }
    return those;
  }

  static constexpr bool complex = is_complex<T>;
  int n;
  int leading;
  int one = 1;
  T alpha{1};
  T beta{1};
  R real_alpha{1};
  R real_beta{1};
  R cosine{static_cast<R>(0.6)};
  R sine{static_cast<R>(0.8)};
  R parameters[5] = {-1, 1, 0.5, 0.25, 1};
  std::vector<T> A, B, C, x, y;

 private:
  static std::vector<T> numbers(const std::function<T(Index)>& number, int count) {
    std::vector<T> those(static_cast<std::size_t>(count));
    for (std::size_t k = 0; k < those.size(); ++k) those[k] = number(static_cast<Index>(k));
    return those;
  }
};

}  // namespace heddle::test
