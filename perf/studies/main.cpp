// The program heddle-study: `heddle-study gemm` is `heddle study gemm`. It draws the tables of studies, and writes the
// manual of all commands, as `heddle` asks it to.
#include "drivers/program.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

int main(int argc, char** argv) {
  constexpr std::string_view commands[] = {"study", "plot", "manual", "--version"};
  std::vector<char*> words(argv, argv + argc + 1);
  if (argc < 2 || std::find(std::begin(commands), std::end(commands), argv[1]) == std::end(commands)) {
    static char study[] = "study";
    words.insert(words.begin() + 1, study);
  }
  return heddle::driver::run_main(static_cast<int>(words.size()) - 1, words.data());
}
