// The cells of blas_cells.hpp: routines, shapes and kinds of values.
#include "blas_cells.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstddef>
#include <limits>
#include <random>
#include <type_traits>
#include <utility>

namespace heddle::perf {
namespace {

template <class T> struct RealOf { using type = T; };
template <class R> struct RealOf<std::complex<R>> { using type = R; };
template <class T> inline constexpr bool is_complex = !std::is_same_v<T, typename RealOf<T>::type>;

enum class Values { normal, wide, zeros, ones, nan, infinity, denormal, huge };
constexpr std::pair<Values, const char*> kinds[] = {
    {Values::normal, "normal"}, {Values::wide, "wide"},    {Values::zeros, "zeros"},       {Values::ones, "ones"},
    {Values::nan, "nan"},       {Values::infinity, "inf"}, {Values::denormal, "denormal"}, {Values::huge, "huge"}};

template <class R> R number(Values values, std::mt19937_64& engine) {
  const R unit = std::uniform_real_distribution<R>(R(-1), R(1))(engine);
  constexpr int spread = sizeof(R) == 8 ? 200 : 30;
  switch (values) {
    case Values::wide:
      return std::ldexp(unit, static_cast<int>(engine() % (2 * spread)) - spread);
    case Values::zeros:
      return engine() % 10 == 0 ? unit : R(0);
    case Values::ones:
      return R(1);
    case Values::denormal:
      return unit * std::numeric_limits<R>::min() / 4;
    case Values::huge:
      return unit * (std::numeric_limits<R>::max() / 8);
    default:
      return unit;
  }
}
template <class T> std::vector<T> numbers(Values values, std::size_t count, unsigned seed) {
  using R = typename RealOf<T>::type;
  std::mt19937_64 engine(seed);
  std::vector<T> all(count);
  for (T& x : all) {
    if constexpr (is_complex<T>) {
      const R re = number<R>(values, engine);
      x = T(re, number<R>(values, engine));
    } else {
      x = number<R>(values, engine);
    }
  }
  if (values == Values::nan) all[count / 3] = std::numeric_limits<R>::quiet_NaN();
  if (values == Values::infinity) all[count / 3] = std::numeric_limits<R>::infinity();
  return all;
}

// Runs the calls of one type.
template <class T> class Calls {
 public:
  using R = typename RealOf<T>::type;
  static constexpr char letter = is_complex<T> ? (sizeof(R) == 4 ? 'c' : 'z') : (sizeof(R) == 4 ? 's' : 'd');

  Calls(const Libraries& libraries, const std::vector<std::string>& wanted,
        const std::function<void(const Cell&)>& body)
      : libraries_(libraries), wanted_(wanted), body_(body) {}

  void all() {
    for (const auto& [values, name] : kinds) {
      values_ = values;
      values_name_ = name;
      for (const int n : {16, 100, 1000, 100000}) vectors(n);
      for (const int n : {16, 100, 800}) matrices_and_vectors(n);
      for (const int n : {16, 64, 200}) products(n, n, n);
      for (const auto& [m, n, k] : std::vector<std::array<int, 3>>{{300, 300, 3},
                                                                   {1000, 1000, 3},
                                                                   {100, 100, 1},
                                                                   {200, 200, 16},
                                                                   {1, 1000, 1000},
                                                                   {1000, 1, 1000},
                                                                   {16, 16, 1000},
                                                                   {3, 300, 300}}) {
        products(m, n, k);
      }
      for (const auto& [n, k] : std::vector<std::pair<int, int>>{{16, 16}, {100, 4}, {500, 4}, {100, 100}}) {
        updates(n, k);
      }
      for (const int n : {16, 100, 200}) triangles(n);
    }
  }

 private:
  using Call = std::function<void(void*)>;

  // Passes a cell to the body; `call` takes the routine's address.
  void cell(const std::string& routine, const std::string& shape, const std::string& symbol, const Call& call) {
    Cell one{routine + "/" + shape + "/" + values_name_, {}, {}};
    const auto begins = [&](const std::string& prefix) { return one.name.rfind(prefix, 0) == 0; };
    if (!wanted_.empty() && std::none_of(wanted_.begin(), wanted_.end(), begins)) return;
    void* const ours = dlsym(libraries_.ours, symbol.c_str());
    void* const others = dlsym(libraries_.others, symbol.c_str());
    if (ours == nullptr || others == nullptr) return;
    one.ours = [&] { call(ours); };
    one.others = [&] { call(others); };
    body_(one);
  }
  template <class Function> static Function* as(void* symbol) { return reinterpret_cast<Function*>(symbol); }
  static std::string named(const std::string& rest) { return letter + rest; }

  void vectors(int n) {
    const std::string shape = std::to_string(n);
    const auto size = static_cast<std::size_t>(n);
    const std::vector<T> x = numbers<T>(values_, size, 1);
    const std::vector<T> y = numbers<T>(values_, size, 2);
    std::vector<T> z = y;
    const int one = 1;
    if constexpr (is_complex<T>) {
      for (const char* const kind : {"dotu", "dotc"}) {
        cell(named(kind), shape, std::string("cblas_") + letter + kind + "_sub", [&](void* f) {
          T result;
          as<void(int, const T*, int, const T*, int, T*)>(f)(n, x.data(), 1, y.data(), 1, &result);
        });
      }
      cell(named("axpy"), shape, named("axpy_"), [&](void* f) {
        const T alpha(R(0.5), R(-0.25));
        as<void(const int*, const T*, const T*, const int*, T*, const int*)>(f)(&n, &alpha, x.data(), &one, z.data(),
                                                                                &one);
      });
    } else {
      cell(named("dot"), shape, std::string("cblas_") + letter + "dot",
           [&](void* f) { as<R(int, const T*, int, const T*, int)>(f)(n, x.data(), 1, y.data(), 1); });
      cell(named("axpy"), shape, named("axpy_"), [&](void* f) {
        const T alpha(0.5);
        as<void(const int*, const T*, const T*, const int*, T*, const int*)>(f)(&n, &alpha, x.data(), &one, z.data(),
                                                                                &one);
      });
    }
    const std::string real = is_complex<T> ? (letter == 'c' ? "sc" : "dz") : std::string(1, letter);
    for (const char* const kind : {"asum", "nrm2"}) {
      cell(real + kind, shape, "cblas_" + real + kind, [&](void* f) { as<R(int, const T*, int)>(f)(n, x.data(), 1); });
    }
    cell(named("scal"), shape, named("scal_"), [&](void* f) {
      const T minus(-1);
      as<void(const int*, const T*, T*, const int*)>(f)(&n, &minus, z.data(), &one);
    });
  }

  void matrices_and_vectors(int n) {
    const std::string shape = std::to_string(n);
    const auto size = static_cast<std::size_t>(n);
    const std::vector<T> A = numbers<T>(values_, size * size, 1);
    const std::vector<T> x = numbers<T>(values_, size, 2);
    std::vector<T> y(size, T(1));
    std::vector<T> C = A;
    const int one = 1;
    const T alpha(R(1));
    const T beta(R(0));
    for (const char* const op : {"N", "T", "C"}) {
      if (*op == 'C' && !is_complex<T>) continue;
      cell(named("gemv") + op, shape, named("gemv_"), [&](void* f) {
        as<void(const char*, const int*, const int*, const T*, const T*, const int*, const T*, const int*, const T*, T*,
                const int*)>(f)(op, &n, &n, &alpha, A.data(), &n, x.data(), &one, &beta, y.data(), &one);
      });
      const int width = std::min(10, n / 3);
      cell(named("gbmv") + op, shape, named("gbmv_"), [&](void* f) {
        as<void(const char*, const int*, const int*, const int*, const int*, const T*, const T*, const int*, const T*,
                const int*, const T*, T*, const int*)>(f)(op, &n, &n, &width, &width, &alpha, A.data(), &n, x.data(),
                                                          &one, &beta, y.data(), &one);
      });
      for (const char* const kind : {"trmv", "trsv"}) {
        cell(named(kind) + "L" + op, shape, named(kind) + "_", [&](void* f) {
          std::copy(x.begin(), x.end(), y.begin());
          as<void(const char*, const char*, const char*, const int*, const T*, const int*, T*, const int*)>(f)(
              "L", op, *kind == 't' && kind[2] == 's' ? "U" : "N", &n, A.data(), &n, y.data(), &one);
        });
      }
    }
    const std::string symmetric = is_complex<T> ? "he" : "sy";
    for (const char* const triangle : {"L", "U"}) {
      cell(named(symmetric + "mv") + triangle, shape, named(symmetric + "mv_"), [&](void* f) {
        as<void(const char*, const int*, const T*, const T*, const int*, const T*, const int*, const T*, T*,
                const int*)>(f)(triangle, &n, &alpha, A.data(), &n, x.data(), &one, &beta, y.data(), &one);
      });
    }
    const std::string packed = is_complex<T> ? "hp" : "sp";
    cell(named(packed + "mv"), shape, named(packed + "mv_"), [&](void* f) {
      as<void(const char*, const int*, const T*, const T*, const T*, const int*, const T*, T*, const int*)>(f)(
          "L", &n, &alpha, A.data(), x.data(), &one, &beta, y.data(), &one);
    });
    cell(named(is_complex<T> ? "geru" : "ger"), shape, named(is_complex<T> ? "geru_" : "ger_"), [&](void* f) {
      const T small(R(1) / 1024);
      as<void(const int*, const int*, const T*, const T*, const int*, const T*, const int*, T*, const int*)>(f)(
          &n, &n, &small, x.data(), &one, x.data(), &one, C.data(), &n);
    });
    cell(named(symmetric + "r2"), shape, named(symmetric + "r2_"), [&](void* f) {
      const T small(R(1) / 1024);
      as<void(const char*, const int*, const T*, const T*, const int*, const T*, const int*, T*, const int*)>(f)(
          "L", &n, &small, x.data(), &one, x.data(), &one, C.data(), &n);
    });
  }

  void products(int m, int n, int k) {
    const std::string shape = std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k);
    const auto area = [](int rows, int columns) {
      return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
    };
    const std::vector<T> A = numbers<T>(values_, area(m, k), 1);
    const std::vector<T> B = numbers<T>(values_, area(k, n), 2);
    std::vector<T> C(area(m, n));
    const T alpha(R(1));
    const T beta(R(0));
    for (const char* const op : {"N", "T"}) {
      const int leading_a = *op == 'N' ? m : k;
      cell(named("gemm") + op, shape, named("gemm_"), [&](void* f) {
        as<void(const char*, const char*, const int*, const int*, const int*, const T*, const T*, const int*, const T*,
                const int*, const T*, T*, const int*)>(f)(op, "N", &m, &n, &k, &alpha, A.data(), &leading_a, B.data(),
                                                          &k, &beta, C.data(), &m);
      });
    }
  }

  void updates(int n, int k) {
    const std::string shape = std::to_string(n) + "x" + std::to_string(k);
    const auto size = static_cast<std::size_t>(n);
    const std::vector<T> A = numbers<T>(values_, size * static_cast<std::size_t>(k), 1);
    std::vector<T> C(size * size);
    const T alpha(R(1));
    const T beta(R(0));
    cell(named("syrk"), shape, named("syrk_"), [&](void* f) {
      as<void(const char*, const char*, const int*, const int*, const T*, const T*, const int*, const T*, T*,
              const int*)>(f)("L", "N", &n, &k, &alpha, A.data(), &n, &beta, C.data(), &n);
    });
    cell(named("syr2k"), shape, named("syr2k_"), [&](void* f) {
      as<void(const char*, const char*, const int*, const int*, const T*, const T*, const int*, const T*, const int*,
              const T*, T*, const int*)>(f)("L", "N", &n, &k, &alpha, A.data(), &n, A.data(), &n, &beta, C.data(), &n);
    });
  }

  void triangles(int n) {
    const std::string shape = std::to_string(n);
    const auto size = static_cast<std::size_t>(n);
    const std::vector<T> A = numbers<T>(values_, size * size, 1);
    const std::vector<T> B = numbers<T>(values_, size * size, 2);
    std::vector<T> C(B.size());
    const T alpha(R(1));
    const T beta(R(0));
    cell(named("symm"), shape, named("symm_"), [&](void* f) {
      as<void(const char*, const char*, const int*, const int*, const T*, const T*, const int*, const T*, const int*,
              const T*, T*, const int*)>(f)("L", "L", &n, &n, &alpha, A.data(), &n, B.data(), &n, &beta, C.data(), &n);
    });
    for (const char* const kind : {"trmm", "trsm"}) {
      cell(named(kind), shape, named(kind) + "_", [&](void* f) {
        std::copy(B.begin(), B.end(), C.begin());
        as<void(const char*, const char*, const char*, const char*, const int*, const int*, const T*, const T*,
                const int*, T*, const int*)>(f)("L", "L", "N", "U", &n, &n, &alpha, A.data(), &n, C.data(), &n);
      });
    }
    std::vector<int> pivots(size);
    cell(named("getrf"), shape, named("getrf_"), [&](void* f) {
      int info = 0;
      std::copy(A.begin(), A.end(), C.begin());
      as<void(const int*, const int*, T*, const int*, int*, int*)>(f)(&n, &n, C.data(), &n, pivots.data(), &info);
    });
    cell(named("potrf"), shape, named("potrf_"), [&](void* f) {
      int info = 0;
      std::copy(A.begin(), A.end(), C.begin());
      for (std::size_t i = 0; i < size; ++i) C[i + i * size] += T(static_cast<R>(n));
      as<void(const char*, const int*, T*, const int*, int*)>(f)("L", &n, C.data(), &n, &info);
    });
  }

  const Libraries& libraries_;
  const std::vector<std::string>& wanted_;
  const std::function<void(const Cell&)>& body_;
  Values values_ = Values::normal;
  const char* values_name_ = "";
};

double seconds_of_calls(const std::function<void()>& call, int calls) {
  const auto begin = std::chrono::steady_clock::now();
  for (int c = 0; c < calls; ++c) call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / calls;
}

}  // namespace

void for_each_cell(const Libraries& libraries, const std::vector<std::string>& wanted,
                   const std::function<void(const Cell&)>& body) {
  Calls<double>(libraries, wanted, body).all();
  Calls<std::complex<double>>(libraries, wanted, body).all();
  Calls<float>(libraries, wanted, body).all();
  Calls<std::complex<float>>(libraries, wanted, body).all();
}

double ratio_of(const Cell& cell, double& seconds_of_ours) {
  constexpr int samples = 5;
  constexpr double least = 5e-5;
  const auto calls_for = [&](const std::function<void()>& call) {
    call();
    return static_cast<int>(std::clamp(least / std::max(1e-9, seconds_of_calls(call, 1)), 1.0, 2000.0));
  };
  const int our_calls = calls_for(cell.ours);
  const int other_calls = calls_for(cell.others);
  std::vector<double> ours;
  std::vector<double> others;
  for (int s = 0; s < samples; ++s) {
    ours.push_back(seconds_of_calls(cell.ours, our_calls));
    others.push_back(seconds_of_calls(cell.others, other_calls));
  }
  std::sort(ours.begin(), ours.end());
  std::sort(others.begin(), others.end());
  seconds_of_ours = ours[samples / 2];
  return ours[samples / 2] / others[samples / 2];
}

}  // namespace heddle::perf
