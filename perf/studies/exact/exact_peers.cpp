// The operations of `heddle study exact` by other libraries, where they are found.
#include "studies/exact/exact_peers.hpp"

#include <heddle/core/error.hpp>

#include <dlfcn.h>

#include <tuple>
#include <type_traits>

// ReproBLAS is C, but its headers lack extern "C".
#ifdef HEDDLE_REPROBLAS
extern "C" {
#include <reproBLAS.h>
}
#endif

namespace heddle::driver {
namespace {

template <Scalar T>
constexpr char letter = std::is_same_v<T, float>                    ? 's'
                        : std::is_same_v<T, double>                 ? 'd'
                        : std::is_same_v<T, Kokkos::complex<float>> ? 'c'
                                                                    : 'z';
// Argument types of cblas.h, which passes complex numbers by address.
template <Scalar T> using Factor = std::conditional_t<is_complex<T>, const void*, T>;
template <Scalar T> using Numbers = std::conditional_t<is_complex<T>, const void*, const T*>;
template <Scalar T> using Results = std::conditional_t<is_complex<T>, void*, T*>;
template <Scalar T> Factor<T> factor(const T& value) {
  if constexpr (is_complex<T>) {
    return &value;
  } else {
    return value;
  }
}

// The Math Kernel Library, in the mode with the same bits on every processor.
class Mkl {
 public:
  static const Mkl& here() {
    static const Mkl mkl;
    return mkl;
  }
  [[nodiscard]] bool is_found() const { return library_ != nullptr; }

  template <Scalar T>
  [[nodiscard]] std::function<void()> run(std::string_view operation, const ExactOperands<T>& operands) const {
    const auto rows = static_cast<int>(operands.rows);
    const auto inner = static_cast<int>(operands.inner);
    const auto columns = static_cast<int>(operands.columns);
    const auto [A, B, C] = std::tuple(operands.A, operands.B, operands.C);
    if (operation == "dot") return dot<T>(rows, A, B, C);
    if (operation == "trsv") {
      using Trsv = void (*)(int, int, int, int, int, Numbers<T>, int, Results<T>, int);
      return [=, solve = function<Trsv>(cblas<T>("trsv"))] {
        solve(by_columns, is_lower, as_it_is, is_stored, rows, A, rows, C, 1);
      };
    }
    if (operation == "lu") {
      using Getrf = int (*)(int, int, int, T*, int, int*);
      return [=, factorize = function<Getrf>(std::string("LAPACKE_") + letter<T> + "getrf"),
              pivots = std::vector<int>(operands.rows)]() mutable {
        factorize(by_columns, rows, rows, C, rows, pivots.data());
      };
    }
    if (operation == "gemm") {
      using Gemm = void (*)(int, int, int, int, int, int, Factor<T>, Numbers<T>, int, Numbers<T>, int, Factor<T>,
                            Results<T>, int);
      return [=, multiply = function<Gemm>(cblas<T>("gemm"))] {
        const T one(1);
        const T zero(0);
        multiply(by_columns, as_it_is, as_it_is, rows, columns, inner, factor<T>(one), A, rows, B, inner,
                 factor<T>(zero), C, rows);
      };
    }
    if (operation.starts_with("gemv")) {
      using Gemv =
          void (*)(int, int, int, int, Factor<T>, Numbers<T>, int, Numbers<T>, int, Factor<T>, Results<T>, int);
      return [=, multiply = function<Gemv>(cblas<T>("gemv"))] {
        const T one(1);
        const T zero(0);
        multiply(by_columns, as_it_is, rows, inner, factor<T>(one), A, rows, B, 1, factor<T>(zero), C, 1);
      };
    }
    return {};
  }

 private:
  // Values of CBLAS_ORDER and CBLAS_TRANSPOSE.
  static constexpr int by_columns = 102;
  static constexpr int as_it_is = 111;
  static constexpr int is_lower = 122;
  static constexpr int is_stored = 131;

  Mkl() {
    for (const char* name : {"libmkl_rt.so", "libmkl_rt.so.3", "libmkl_rt.so.2"}) {
      library_ = library_ == nullptr ? dlopen(name, RTLD_NOW | RTLD_LOCAL) : library_;
    }
    if (library_ == nullptr) return;
    constexpr int compatible = 3;  // MKL_CBWR_COMPATIBLE
    require(function<int (*)(int)>("MKL_CBWR_Set")(compatible) == 0, "libmkl_rt.so: can't set its reproducible mode");
  }
  template <class F> [[nodiscard]] F function(const std::string& name) const {
    void* const found = dlsym(library_, name.c_str());
    require(found != nullptr, "libmkl_rt.so: has no function ", name);
    return reinterpret_cast<F>(found);  // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast): how dlsym() gives them
  }
  template <Scalar T> [[nodiscard]] static std::string cblas(const char* name) {
    return std::string("cblas_") + letter<T> + name;
  }
  template <Scalar T> [[nodiscard]] std::function<void()> dot(int n, const T* x, const T* y, T* result) const {
    if constexpr (is_complex<T>) {
      using Dot = void (*)(int, const void*, int, const void*, int, void*);
      return [=, multiply = function<Dot>(cblas<T>("dotu_sub"))] { multiply(n, x, 1, y, 1, result); };
    } else {
      using Dot = T (*)(int, const T*, int, const T*, int);
      return [=, multiply = function<Dot>(cblas<T>("dot"))] { *result = multiply(n, x, 1, y, 1); };
    }
  }

  void* library_ = nullptr;
};

#ifdef HEDDLE_REPROBLAS
#define HEDDLE_REPROBLAS_REAL(T, letter)                                               \
  void sum_of(int n, const T* x, T* result) {                                          \
    *result = reproBLAS_##letter##sum(n, x, 1);                                        \
  }                                                                                    \
  void dot_of(int n, const T* x, const T* y, T* result) {                              \
    *result = reproBLAS_##letter##dot(n, x, 1, y, 1);                                  \
  }                                                                                    \
  void product_of(int m, int n, int k, const T* A, const T* B, T* C) {                 \
    n == 1 ? reproBLAS_##letter##gemv('c', 'n', m, k, 1, A, m, B, 1, 0, C, 1)          \
           : reproBLAS_##letter##gemm('c', 'n', 'n', m, n, k, 1, A, m, B, k, 0, C, m); \
  }
#define HEDDLE_REPROBLAS_COMPLEX(T, letter)                                                                  \
  void sum_of(int n, const Kokkos::complex<T>* x, Kokkos::complex<T>* result) {                              \
    reproBLAS_##letter##sum_sub(n, x, 1, result);                                                            \
  }                                                                                                          \
  void dot_of(int n, const Kokkos::complex<T>* x, const Kokkos::complex<T>* y, Kokkos::complex<T>* result) { \
    reproBLAS_##letter##dotu_sub(n, x, 1, y, 1, result);                                                     \
  }                                                                                                          \
  void product_of(int m, int n, int k, const Kokkos::complex<T>* A, const Kokkos::complex<T>* B,             \
                  Kokkos::complex<T>* C) {                                                                   \
    const Kokkos::complex<T> one(1);                                                                         \
    const Kokkos::complex<T> zero(0);                                                                        \
    n == 1 ? reproBLAS_##letter##gemv('c', 'n', m, k, &one, A, m, B, 1, &zero, C, 1)                         \
           : reproBLAS_##letter##gemm('c', 'n', 'n', m, n, k, &one, A, m, B, k, &zero, C, m);                \
  }
HEDDLE_REPROBLAS_REAL(float, s)
HEDDLE_REPROBLAS_REAL(double, d)
HEDDLE_REPROBLAS_COMPLEX(float, c)
HEDDLE_REPROBLAS_COMPLEX(double, z)
#undef HEDDLE_REPROBLAS_REAL
#undef HEDDLE_REPROBLAS_COMPLEX

template <Scalar T> std::function<void()> by_reproblas(std::string_view operation, const ExactOperands<T>& operands) {
  const auto rows = static_cast<int>(operands.rows);
  const auto inner = static_cast<int>(operands.inner);
  const auto columns = static_cast<int>(operands.columns);
  const auto [A, B, C] = std::tuple(operands.A, operands.B, operands.C);
  if (operation == "sum") return [=] { sum_of(rows, A, C); };
  if (operation == "dot") return [=] { dot_of(rows, A, B, C); };
  if (operation.starts_with("gem")) return [=] { product_of(rows, columns, inner, A, B, C); };
  return {};
}
#endif

}  // namespace

const std::vector<std::string>& exact_peers() {
  static const std::vector<std::string> names = {"reproblas", "mkl"};
  return names;
}

std::string_view how_to_install(std::string_view peer) {
  return peer == "mkl" ? "install it (pip install mkl, or Debian's libmkl-rt) and add the folder of libmkl_rt.so to "
                         "LD_LIBRARY_PATH"
                       : "build it from the source at bebop.cs.berkeley.edu/reproblas and this program with "
                         "-DREPROBLAS_ROOT=FOLDER";
}

bool has_exact_peer(std::string_view peer) {
  double number = 0;
  return static_cast<bool>(by_peer<double>(peer, "dot", {1, 1, 1, &number, &number, &number}));
}

template <Scalar T>
std::function<void()> by_peer(std::string_view peer, std::string_view operation, const ExactOperands<T>& operands) {
#ifdef HEDDLE_REPROBLAS
  if (peer == "reproblas") return by_reproblas(operation, operands);
#endif
  if (peer == "mkl" && Mkl::here().is_found()) return Mkl::here().run(operation, operands);
  return {};
}

template std::function<void()> by_peer<float>(std::string_view, std::string_view, const ExactOperands<float>&);
template std::function<void()> by_peer<double>(std::string_view, std::string_view, const ExactOperands<double>&);
template std::function<void()> by_peer<Kokkos::complex<float>>(std::string_view, std::string_view,
                                                               const ExactOperands<Kokkos::complex<float>>&);
template std::function<void()> by_peer<Kokkos::complex<double>>(std::string_view, std::string_view,
                                                                const ExactOperands<Kokkos::complex<double>>&);

}  // namespace heddle::driver
