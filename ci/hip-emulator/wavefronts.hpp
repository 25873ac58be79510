// Code objects of HIP programs, and kernels of them, whose wavefronts an emulator runs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace emulated {

/// Print a message and what Python has to say, and abort.
[[noreturn]] void die(const std::string& message);

/// Lanes of a wavefront, and the name of the processor.
[[nodiscard]] int lanes();
[[nodiscard]] const char* target();

/// An instruction as the emulator compiled it.
struct Step {
  using Function = void (*)(const void*, const void*, const void*, const void*, const void*, const void*);
  enum class Jump : std::uint8_t { none, get, set, swap, call };

  Function run = nullptr;
  std::array<std::uint8_t, 6> buffers{};
  std::uint8_t bytes = 0;
  Jump jump = Jump::none;
  int destination = 0;
  int source = 0;
  bool is_barrier = false;
  bool is_known = false;
};

/// Code in memory; a step for each four bytes of it.
struct Code {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::vector<Step> steps;
};

struct Argument {
  int kind;  // 0: the program's; the others are those of emulator.py.
  int offset;
  int bytes;
};

struct Kernel {
  const std::byte* descriptor = nullptr;
  int argument_bytes = 0;
  int most_threads = 0;
  int registers = 0;
  std::vector<Argument> arguments;
  Code* code = nullptr;

  [[nodiscard]] std::uint32_t shared_bytes() const;
  [[nodiscard]] std::uint32_t private_bytes() const;
};

struct Variable {
  std::byte* address;
  std::size_t bytes;
};

/// Code that one unit of sources registers: a bundle with code for several processors, loaded at first use.
class Binary {
 public:
  explicit Binary(const char* bundle) : bundle_(bundle) {}
  /// Both end the program if the name is unknown.
  [[nodiscard]] const Kernel& kernel(const std::string& name);
  [[nodiscard]] const Variable& variable(const std::string& name);

 private:
  void load();

  const char* bundle_;
  bool is_loaded_ = false;
  Code code_;
  std::map<std::string, Kernel> kernels_;
  std::map<std::string, Variable> variables_;
};

using Extents = std::array<unsigned, 3>;
/// Run a kernel to its end, one block after the other, and the wavefronts of a block in turn from barrier to barrier.
void launch(const Kernel& kernel, const Extents& grid, const Extents& block, void** arguments,
            std::size_t shared_bytes);

}  // namespace emulated
