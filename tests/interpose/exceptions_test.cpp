// Floating-point exceptions of every routine of the BLAS are those of what it computes, and its stack is small.
#include "interpose/every_routine.hpp"
#include "support/on_host.hpp"

#include <pthread.h>

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <limits>
#include <span>
#include <stdexcept>
#include <thread>
#include <vector>

namespace heddle::test::exceptions_test {
namespace {

constexpr int watched = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW;

template <class T> class Exceptions : public testing::Test {
 protected:
  static constexpr int largest = std::numeric_limits<Real<T>>::max_exponent;
  std::mt19937 engine_{17};

  T random() { return random_number<T>(engine_); }
  // Judge the exceptions that every routine raises, one after the other, each on the same numbers.
  template <class Judge> void raised_by_all(int n, const std::function<T(Index)>& number, const Judge& judge) {
    EveryRoutine<T> every(n, number);
    const EveryRoutine<T> before = every;
    for (const auto& routine : every.all()) {
      every.A = before.A;
      every.B = before.B;
      every.C = before.C;
      every.x = before.x;
      every.y = before.y;
      std::feclearexcept(FE_ALL_EXCEPT);
      routine.call();
      judge(routine.name, std::fetestexcept(watched), every);
    }
  }
};
using Types = testing::Types<float, double, Kokkos::complex<float>, Kokkos::complex<double>>;
TYPED_TEST_SUITE(Exceptions, Types);

// Vectors whose data() stay where they are, so that arguments do.
TYPED_TEST(Exceptions, AreNoneOfOrdinaryNumbers) {
  using T = TypeParam;
  using R = Real<T>;
  const auto none = [](const std::string& name, int raised, const auto&) { ASSERT_EQ(raised, 0) << name; };
  for (const int n : {1, 2, 5, 20, 70}) {
    // Diagonals of triangles, packed ones too, are not to be small beside the rest.
    const auto dominated = [&](Index k) { return k % (n + 3) == 0 ? T(R(2)) : this->random() / static_cast<R>(n); };
    this->raised_by_all(n, dominated, [&](const std::string& name, int raised, const auto& every) {
      if (name.substr(1) != "tpsv" && name.substr(1) != "tbsv") none(name, raised, every);
    });
    this->raised_by_all(
        n, [](Index) { return T(R(1)); },
        [&](const std::string& name, int raised, const auto& every) {
          if (n <= 20) none(name, raised, every);
        });
    // Zeros among numbers far apart, whose products and sums have room.
    const auto apart = [&](Index k) {
      if (k % (n + 3) == 0) return T(R(2));
      return k % 3 == 0 ? T(R(0)) : this->random() * std::ldexp(R(1), static_cast<int>(k % 41) - 44);
    };
    this->raised_by_all(n, apart, [&](const std::string& name, int raised, const auto& every) {
      if (name.substr(1, 2) != "tp" && name.substr(1, 2) != "tb" && name.substr(1) != "trsv" &&
          name.substr(1) != "trsm")
        none(name, raised, every);
    });
  }
}

TYPED_TEST(Exceptions, AreNoneOfNaN) {
  using T = TypeParam;
  using R = Real<T>;
  for (const int n : {1, 5, 20, 70}) {
    const auto some = [&](Index k) {
      return k % 7 == 0 ? T(std::numeric_limits<R>::quiet_NaN()) : this->random() / static_cast<R>(n) + R(1);
    };
    this->raised_by_all(
        n, some, [](const std::string& name, int raised, const auto&) { ASSERT_EQ(raised & FE_INVALID, 0) << name; });
  }
}

TYPED_TEST(Exceptions, OfProductsThatOverflow) {
  using T = TypeParam;
  using R = Real<T>;
  for (const int n : {2, 5, 20, 70}) {
    const R huge = std::ldexp(R(1), TestFixture::largest / 2 + 4);
    const auto number = [&](Index) { return T(huge); };
    const auto finite = [](const std::vector<T>& all) {
      for (const T& a : all) {
        if (!std::isfinite(real_of<R>(a)) || !std::isfinite(imaginary_of<R>(a))) return false;
      }
      return true;
    };
    this->raised_by_all(n, number, [&](const std::string& name, int raised, const EveryRoutine<T>& now) {
      const bool all_finite = finite(now.A) && finite(now.B) && finite(now.C) && finite(now.x) && finite(now.y);
      const bool returns = name.find("dot") != std::string::npos;
      const bool overflows = !all_finite || returns;
      ASSERT_EQ((raised & FE_OVERFLOW) != 0, overflows) << name;
      ASSERT_EQ(raised & FE_DIVBYZERO, 0) << name;
    });
  }
}

TYPED_TEST(Exceptions, OfInfinityTimesZero) {
  using T = TypeParam;
  using R = Real<T>;
  const R infinity = std::numeric_limits<R>::infinity();
  for (const int n : {2, 20, 70}) {
    std::vector<T> A(static_cast<std::size_t>(n * n), T(infinity));
    std::vector<T> B(A.size(), T(R(0)));
    std::vector<T> C(A.size(), T(R(1)));
    const T one(R(1));
    std::feclearexcept(FE_ALL_EXCEPT);
    call(blas_function<Routine>(std::string(1, letter<T>) + "gemm_"),
         {"N", "N", &n, &n, &n, &one, A.data(), &n, B.data(), &n, &one, C.data(), &n});
    ASSERT_EQ(std::fetestexcept(watched), FE_INVALID) << n;
    const int step = 1;
    std::vector<T> y(static_cast<std::size_t>(n), T(R(1)));
    std::feclearexcept(FE_ALL_EXCEPT);
    call(blas_function<Routine>(std::string(1, letter<T>) + "gemv_"),
         {"N", &n, &n, &one, A.data(), &n, B.data(), &step, &one, y.data(), &step});
    ASSERT_EQ(std::fetestexcept(watched), FE_INVALID) << n;
  }
}

TYPED_TEST(Exceptions, OfZerosOnDiagonals) {
  using T = TypeParam;
  using R = Real<T>;
  const T one(R(1));
  for (const int n : {1, 5, 70}) {
    std::vector<T> A(static_cast<std::size_t>(n * n), T(R(0)));
    std::vector<T> B(A.size(), one);
    std::feclearexcept(FE_ALL_EXCEPT);
    call(blas_function<Routine>(std::string(1, letter<T>) + "trsm_"),
         {"L", "L", "N", "N", &n, &n, &one, A.data(), &n, B.data(), &n});
    ASSERT_NE(std::fetestexcept(FE_DIVBYZERO), 0) << n;
    ASSERT_EQ(std::fetestexcept(FE_OVERFLOW), 0) << n;
  }
}

// Exceptions that the caller has raised before stay raised, and its other settings stay.
TYPED_TEST(Exceptions, OfTheCallerStay) {
  using T = TypeParam;
  using R = Real<T>;
  EveryRoutine<T> every(5, [](Index) { return T(R(1)); });
  for (const auto& routine : every.all()) {
    std::feclearexcept(FE_ALL_EXCEPT);
    std::feraiseexcept(FE_DIVBYZERO);
    std::fesetround(FE_UPWARD);
    routine.call();
    const int rounding = std::fegetround();
    std::fesetround(FE_TONEAREST);
    ASSERT_EQ(rounding, FE_UPWARD) << routine.name;
    ASSERT_NE(std::fetestexcept(FE_DIVBYZERO), 0) << routine.name;
  }
}

// Routines of LAPACK have INFO.
TYPED_TEST(Exceptions, OfFactorizationsAreNone) {
  using T = TypeParam;
  using R = Real<T>;
  const int n = 70;
  std::vector<T> A(static_cast<std::size_t>(n * n));
  for (T& a : A) a = this->random() * std::ldexp(R(1), -TestFixture::largest / 3);
  std::vector<T> B = A;
  std::vector<int> pivots(static_cast<std::size_t>(n));
  int info = -1;
  std::feclearexcept(FE_ALL_EXCEPT);
  call(blas_function<Routine>(std::string(1, letter<T>) + "gesv_"),
       {&n, &n, A.data(), &n, pivots.data(), B.data(), &n, &info});
  ASSERT_EQ(std::fetestexcept(watched), 0);
  ASSERT_EQ(info, 0);
}

#if !defined(__SANITIZE_ADDRESS__)
// Runs `body` by a thread with that stack; false where the stack does not take the thread-local variables.
bool run_on(std::span<unsigned char> stack, const std::function<void()>& body) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (pthread_attr_setstack(&attributes, stack.data(), stack.size()) != 0) {
    throw std::runtime_error("pthread_attr_setstack");
  }
  pthread_t thread{};
  const auto run = [](void* given) -> void* {
    (*static_cast<const std::function<void()>*>(given))();
    return nullptr;
  };
  const int failed = pthread_create(&thread, &attributes, run, const_cast<void*>(static_cast<const void*>(&body)));
  pthread_attr_destroy(&attributes);
  if (failed == 0) pthread_join(thread, nullptr);
  return failed == 0;
}

// How many bytes of the stack of a thread that runs `body` are changed, its thread-local variables included.
std::size_t stack_touched_by(const std::function<void()>& body) {
  constexpr unsigned char untouched = 0xa5;
  constexpr std::size_t most = std::size_t{64} * 1024 * 1024;
  // The libraries of a GPU have many thread-local variables.
  static std::size_t size = std::size_t{256} * 1024;
  static auto* const stack = static_cast<unsigned char*>(std::aligned_alloc(4096, most));
  for (;; size *= 2) {
    if (size > most) throw std::runtime_error("no thread could be created");
    std::fill_n(stack, size, untouched);
    if (run_on({stack, size}, body)) break;
  }
  const auto* const touched = std::find_if(stack, stack + size, [](unsigned char byte) { return byte != untouched; });
  return static_cast<std::size_t>(stack + size - touched);
}

// Bound for g++ with optimisation; other compilers' frames are larger, and nvcc's are not measured.
#if defined(__OPTIMIZE__) && !defined(__clang__) && !defined(KOKKOS_ENABLE_CUDA)
constexpr std::size_t most_of_a_stack = std::size_t{4} * 1024;
#else
constexpr std::size_t most_of_a_stack = std::size_t{16} * 1024;
#endif

// The stack of a thread that calls a routine with no work. The second call is counted: in the first the dynamic linker
// takes some 3 KiB of the stack to look up functions.
template <Scalar T> std::size_t stack_touched_by_nothing() {
  std::thread([] {}).join();
  Routine* const copy = blas_function<Routine>(std::string(1, letter<T>) + "copy_");
  const int none = 0;
  const int one = 1;
  T x{0};
  T y{0};
  const Arguments arguments{&none, &x, &one, &y, &one};
  static_cast<void>(stack_touched_by([&] { call(copy, arguments); }));
  return stack_touched_by([&] { call(copy, arguments); });
}

TYPED_TEST(Exceptions, NeedNoLargeStack) {
  using T = TypeParam;
  using R = Real<T>;
  const std::size_t none = stack_touched_by_nothing<T>();
  // Threads of a build for GPUs multiply integers one by one: a product of order 260 takes seconds there.
  for (const int n : on_host ? std::vector{3, 20, 70, 260} : std::vector{3, 20, 70, 130}) {
    EveryRoutine<T> near(n, [&](Index k) { return k % (n + 3) == 0 ? T(R(2)) : this->random() / static_cast<R>(n); });
    // Exact sums, too, whose workspaces are the largest.
    EveryRoutine<T> wide(n, [&](Index k) {
      return this->random() * std::ldexp(R(1), static_cast<int>(k * 37 % 101 - 50) * TestFixture::largest / 110);
    });
    for (EveryRoutine<T>* const every : {&near, &wide}) {
      if (every == &wide && n > 70) continue;
      for (const auto& routine : every->all()) {
        static_cast<void>(stack_touched_by(routine.call));
        EXPECT_LE(stack_touched_by(routine.call), none + most_of_a_stack) << routine.name << ' ' << n;
      }
    }
  }
}

TYPED_TEST(Exceptions, LapackNeedsNoLargeStack) {
  using T = TypeParam;
  using R = Real<T>;
  const std::size_t none = stack_touched_by_nothing<T>();
  const std::string own(1, letter<T>);
  for (const int n : {5, 70, 200}) {
    const auto order = static_cast<std::size_t>(n);
    // Hermitian and, by its diagonal, definite; right sides; what is computed; workspaces.
    std::vector<T> A(order * order);
    std::vector<T> b(order);
    std::vector<T> U(order * order);
    std::vector<T> V(order * order);
    std::vector<T> found(order);
    std::vector<R> values(2 * order);
    std::vector<T> work(8 * order * order + 10000);
    std::vector<R> real_work(8 * order + 10000);
    std::vector<int> pivots(order);
    const int length = static_cast<int>(work.size());
    const int one = 1;
    const char lower = 'L';
    const char vectors = 'V';
    const char all = 'A';
    const char plain = 'N';
    int info = 0;
    const auto expect_little = [&](const std::string& name, Arguments arguments) {
      // The complex routine's workspace of reals is before INFO.
      if (is_complex<T> && (name == "heev" || name == "gesvd" || name == "geev")) {
        arguments.insert(arguments.end() - 1, real_work.data());
      }
      Routine* const routine = blas_function<Routine>(own + name + "_");
      std::size_t touched = 0;
      for (int time = 0; time < 2; ++time) {
        for (Index j = 0; j < n; ++j) {
          for (Index i = 0; i <= j; ++i) {
            const T a = i == j ? T(static_cast<R>(2 * n)) : this->random();
            A[static_cast<std::size_t>(i + j * n)] = a;
            A[static_cast<std::size_t>(j + i * n)] = conjugate(a);
          }
          b[static_cast<std::size_t>(j)] = this->random();
        }
        touched = stack_touched_by([&] { call(routine, arguments); });
        ASSERT_EQ(info, 0) << name;
      }
      EXPECT_LE(touched, none + most_of_a_stack) << name << ' ' << n;
    };
    expect_little("gesv", {&n, &one, A.data(), &n, pivots.data(), b.data(), &n, &info});
    expect_little("posv", {&lower, &n, &one, A.data(), &n, b.data(), &n, &info});
    expect_little("geqrf", {&n, &n, A.data(), &n, found.data(), work.data(), &length, &info});
    expect_little("gels", {&plain, &n, &n, &one, A.data(), &n, b.data(), &n, work.data(), &length, &info});
    expect_little(is_complex<T> ? "heev" : "syev",
                  {&vectors, &lower, &n, A.data(), &n, values.data(), work.data(), &length, &info});
    expect_little("gesvd", {&all, &all, &n, &n, A.data(), &n, values.data(), U.data(), &n, V.data(), &n, work.data(),
                            &length, &info});
    Arguments eigen{&vectors, &vectors, &n, A.data(), &n};
    if (is_complex<T>) {
      eigen.push_back(found.data());
    } else {
      eigen.insert(eigen.end(), {values.data(), values.data() + n});
    }
    eigen.insert(eigen.end(), {U.data(), &n, V.data(), &n, work.data(), &length, &info});
    expect_little("geev", eigen);
  }
}
#endif

}  // namespace
}  // namespace heddle::test::exceptions_test
