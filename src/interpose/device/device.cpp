// Products on the GPU, for HEDDLE_BLAS_DEVICE=1.
#include "interpose/device/device.hpp"

#include "core/instantiate.hpp"
#include "interpose/blas/threads.hpp"
#include "interpose/device/engine.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

namespace heddle::impl::interpose {
namespace {

bool is_wanted() {
  static const bool wanted = [] {
    const char* const text = std::getenv("HEDDLE_BLAS_DEVICE");
    return text != nullptr && std::strcmp(text, "") != 0 && std::strcmp(text, "0") != 0;
  }();
  return wanted;
}

template <Scalar T> constexpr char letter_of = 'd';
template <> constexpr char letter_of<float> = 's';
template <> constexpr char letter_of<Kokkos::complex<float>> = 'c';
template <> constexpr char letter_of<Kokkos::complex<double>> = 'z';

// By typical rates: copies to and from the device by a link of 20 GB/s, 3e13 operations a second there, 1e9 products of
// numbers a second by a thread here, and a millisecond for memory and kernels.
template <Scalar T> bool pays(const Product<T>& product) {
  const auto area = [](Index rows, Index columns) { return static_cast<double>(rows) * static_cast<double>(columns); };
  const double bytes =
      static_cast<double>(sizeof(T)) * (area(product.m, product.k) + area(product.k, product.n) +
                                        (product.beta == T{0} ? 1.0 : 2.0) * area(product.m, product.n));
  const double products = area(product.m, product.n) * static_cast<double>(product.k) * (is_complex<T> ? 4.0 : 1.0);
  const double here = products / (1e9 * usual_threads());
  return 1e-3 + bytes / 2e10 + 2.0 * products / 3e13 < here;
}

class Device {
 public:
  template <Scalar T> bool multiply(const Product<T>& product) {
    const std::scoped_lock lock(mutex_);
    if (!is_there()) return false;
    char message[512] = "";
    switch (multiply_(letter_of<T>, &product, message, sizeof(message))) {
      case EngineResult::done:
        return true;
      case EngineResult::refused:
        say(message);
        return false;
      case EngineResult::broken:
        break;
    }
    // The interface of the BLAS has no way to say so.
    std::fprintf(stderr, "heddle: the BLAS cannot go on: the device failed in a product: %s\n", message);
    std::abort();
  }
  std::mutex& mutex() { return mutex_; }

 private:
  bool is_there() {
    if (!tried_) {
      tried_ = true;
      there_ = start();
      process_ = getpid();
    }
    if (there_ && process_ != getpid()) {
      say("it was started before this process was forked");
      there_ = false;
    }
    return there_;
  }
  bool start() {
#ifdef HEDDLE_BLAS_ENGINE
    Dl_info self{};
    std::string path = engine_library;
    if (dladdr(reinterpret_cast<void*>(&is_wanted), &self) != 0 && std::strchr(self.dli_fname, '/') != nullptr) {
      path = std::string(self.dli_fname, std::strrchr(self.dli_fname, '/') + 1) + engine_library;
    }
    void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      say(dlerror());
      return false;
    }
    const auto begin = reinterpret_cast<EngineStart*>(dlsym(library, engine_start));
    multiply_ = reinterpret_cast<EngineMultiply*>(dlsym(library, engine_multiply));
    if (begin == nullptr || multiply_ == nullptr) {
      say("its library is another version's");
      return false;
    }
    char message[512] = "";
    if (begin(message, sizeof(message))) return true;
    say(message);
    return false;
#else
    say("this Heddle was built for CPUs alone");
    return false;
#endif
  }
  void say(const char* why) {
    if (!said_) {
      std::fprintf(stderr,
                   "heddle: no device for the BLAS: %s; products are computed on the host, with the same bits\n", why);
    }
    said_ = true;
  }

  std::mutex mutex_;
  bool tried_ = false;
  bool there_ = false;
  bool said_ = false;
  pid_t process_ = 0;
  EngineMultiply* multiply_ = nullptr;
};

// Never destroyed: other threads may still be there when the process ends.
Device& device() {
  static auto* const the = [] {
    // A child begins with no call under way.
    pthread_atfork([] { device().mutex().lock(); }, [] { device().mutex().unlock(); },
                   [] { device().mutex().unlock(); });
    return new Device;
  }();
  return *the;
}

}  // namespace

int usual_threads() {
  static const int threads = [] {
    const char* const text = std::getenv("OMP_NUM_THREADS");
    const int wanted = text != nullptr ? std::atoi(text) : 0;
    cpu_set_t mine;
    if (wanted > 0) return wanted;
    return sched_getaffinity(0, sizeof(mine), &mine) == 0 ? std::max(1, CPU_COUNT(&mine)) : 1;
  }();
  return threads;
}

template <Scalar T> bool multiply_on_device(const Product<T>& product) {
  return is_wanted() && pays(product) && device().multiply(product);
}

#define HEDDLE_INSTANTIATE(T) template bool multiply_on_device<T>(const Product<T>&)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl::interpose
