// The command `heddle`.
#include "drivers/program.hpp"

int main(int argc, char** argv) {
  return heddle::driver::run_main(argc, argv);
}
