// Test of every float argument of a function: heddle_libm_every_float [NAME...]. The system's double function decides,
// if it is farther than 2^-45 from a tie, and MPFR otherwise.
#include "libm/oracle.hpp"

#include <ctime>

namespace heddle::libm::test {
namespace {

struct Count {
  std::uint64_t wrong = 0;
  std::uint64_t by_oracle = 0;
};

Count every_float(const One& f) {
  Oracle<float> oracle;
  Count count;
  for (std::uint64_t pattern = 0; pattern < std::uint64_t{1} << 32; ++pattern) {
    const float x = std::bit_cast<float>(static_cast<std::uint32_t>(pattern));
    const float found = f.narrow(x);
    const double near = f.system(static_cast<double>(x));
    const double margin = std::isinf(near) ? 0.0 : std::abs(near) * 0x1p-45;
    float expected = static_cast<float>(near - margin);
    // -0 is not near a tie, though -0 + 0 is 0.
    if (near == near && near != 0 && bits(expected) != bits(static_cast<float>(near + margin))) {
      ++count.by_oracle;
      expected = oracle(f.exact, x);
    }
    if (same(found, expected)) continue;
    if (++count.wrong <= 10)
      std::printf("%sf(%s) = %s, not %s\n", f.name, hex(x).c_str(), hex(found).c_str(), hex(expected).c_str());
  }
  return count;
}

bool check(const One& f) {
  const std::clock_t start = std::clock();
  const Count count = every_float(f);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  std::printf("%sf: %llu wrong of 2^32 floats, %llu decided by MPFR, %.0f s of processor\n", f.name,
              static_cast<unsigned long long>(count.wrong), static_cast<unsigned long long>(count.by_oracle), seconds);
  std::fflush(stdout);
  return count.wrong == 0;
}

}  // namespace
}  // namespace heddle::libm::test

int main(int argc, char** argv) {
  bool right = true;
  for (const auto& f : heddle::libm::test::functions_of_one()) {
    bool chosen = argc == 1;
    for (int i = 1; i < argc; ++i) chosen = chosen || std::string(argv[i]) == f.name;
    if (chosen) right = heddle::libm::test::check(f) && right;
  }
  return right ? 0 : 1;
}
