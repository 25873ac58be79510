// Loading of code, and the loop over blocks, wavefronts and instructions.
#define PY_SSIZE_T_CLEAN
#include "wavefronts.hpp"

#include <Python.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace emulated {
namespace {

// Registers of the emulator that are none of the processor: the program counter, and the bytes of a lane's private
// memory.
constexpr int pc_low = 256;
constexpr int pc_high = 257;
constexpr int private_stride = 259;
constexpr int scalar_registers = 320;
constexpr int vector_registers = 512;
constexpr int exec_low = 126;
constexpr std::uint64_t pc_of_end = ~std::uint64_t{0};
constexpr std::size_t most_wavefronts = 32;
constexpr int instructions_in_turn = 1000000;
// Generic addresses of shared memory, which begin at this multiple of 4 GiB, are addresses of the host.
constexpr std::uint64_t shared_aperture = 0x5a00;
constexpr std::uint64_t private_aperture = 0x5b00;

struct Counts {
  std::uint64_t kernels = 0;
  std::uint64_t instructions = 0;

  ~Counts() {
    if (std::getenv("HIP_EMULATOR_REPORT") == nullptr) return;
    std::fprintf(stderr, "%llu kernels, %llu instructions of wavefronts\n", static_cast<unsigned long long>(kernels),
                 static_cast<unsigned long long>(instructions));
  }
} counts;

PyObject* emulator() {
  static PyObject* const module = [] {
    Py_InitializeEx(0);
    PyObject* const made = PyImport_ImportModule("emulator");
    if (made == nullptr) die("the emulator cannot be imported");
    return made;
  }();
  return module;
}

std::uint64_t number(PyObject* value) {
  return PyLong_AsUnsignedLongLongMask(value);
}
std::uint64_t number(PyObject* tuple, Py_ssize_t position) {
  return number(PyTuple_GetItem(tuple, position));
}

template <class T> T field(const std::byte* from, std::size_t offset) {
  T value;
  std::memcpy(&value, from + offset, sizeof value);
  return value;
}

// All of 32 bits are mapped, as lanes may load from outside of shared memory what they do not use.
std::byte* shared_memory() {
  static std::byte* const memory = [] {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): a chosen place
    void* const place = reinterpret_cast<void*>(shared_aperture << 32U);
    void* const mapped = mmap(place, (std::size_t{1} << 32U) + 4096, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (mapped == MAP_FAILED) die("shared memory cannot be mapped");
    return static_cast<std::byte*>(mapped);
  }();
  return memory;
}

struct Wavefront {
  std::vector<std::uint32_t> scalars;
  std::vector<std::uint32_t> vectors;
  std::vector<std::uint32_t> accumulators;
  std::vector<std::byte> private_memory;
  bool is_done = false;

  [[nodiscard]] std::uint64_t pair(int at) const {
    return scalars[at] | static_cast<std::uint64_t>(scalars[at + 1]) << 32U;
  }
  void set_pair(int at, std::uint64_t value) {
    scalars[at] = static_cast<std::uint32_t>(value);
    scalars[at + 1] = static_cast<std::uint32_t>(value >> 32U);
  }
};

// The packet of a launch, as far as kernels read it (hsa_kernel_dispatch_packet_t).
struct Packet {
  std::uint16_t header = 0;
  std::uint16_t dimensions = 3;
  std::array<std::uint16_t, 3> block{};
  std::uint16_t reserved = 0;
  std::array<std::uint32_t, 3> threads{};
  std::uint32_t private_bytes = 0;
  std::uint32_t shared_bytes = 0;
  std::uint64_t object = 0;
  std::uint64_t arguments = 0;
  std::array<std::uint64_t, 2> rest{};
};

class Launch {
 public:
  Launch(const Kernel& kernel, const Extents& grid, const Extents& block, void** arguments, std::size_t shared_bytes)
      : kernel_(kernel),
        grid_(grid),
        block_(block),
        threads_(static_cast<int>(block[0] * block[1] * block[2])),
        shared_bytes_(kernel.shared_bytes() + shared_bytes),
        arguments_(kernel.argument_bytes + 64) {
    if (threads_ > 1024) die("a block of more than 1024 threads");
    place_arguments(arguments, shared_bytes);
    for (int axis = 0; axis < 3; ++axis) {
      packet_.block[axis] = static_cast<std::uint16_t>(block[axis]);
      packet_.threads[axis] = grid[axis] * block[axis];
    }
    packet_.private_bytes = kernel.private_bytes();
    packet_.shared_bytes = static_cast<std::uint32_t>(shared_bytes_);
    packet_.arguments = reinterpret_cast<std::uint64_t>(arguments_.data());
  }

  void run() {
    for (unsigned z = 0; z < grid_[2]; ++z) {
      for (unsigned y = 0; y < grid_[1]; ++y) {
        for (unsigned x = 0; x < grid_[0]; ++x) run_block({x, y, z});
      }
    }
  }

 private:
  void place_arguments(void** given, std::size_t dynamic) {
    const std::array<std::uint64_t, 10> hidden = {
        0,         grid_[0],       grid_[1],  grid_[2],
        block_[0], block_[1],      block_[2], grid_[2] > 1 ? 3U : grid_[1] > 1 ? 2U : 1U,
        dynamic,   shared_aperture};
    int next = 0;
    for (const Argument& argument : kernel_.arguments) {
      std::byte* const to = arguments_.data() + argument.offset;
      if (argument.kind == 0) {
        std::memcpy(to, given[next++], argument.bytes);
      } else if (argument.kind < static_cast<int>(hidden.size())) {
        std::memcpy(to, &hidden[argument.kind], argument.bytes);
      }
    }
  }

  // The state in which the processor begins a wavefront: LLVM's "User Guide for AMDGPU Backend", Initial Kernel
  // Execution State.
  void begin(Wavefront& wave, int index, const Extents& position) const {
    const std::byte* const descriptor = kernel_.descriptor;
    const auto resources = field<std::uint32_t>(descriptor, 52);
    const auto properties = field<std::uint16_t>(descriptor, 56);
    const auto preload = field<std::uint16_t>(descriptor, 58);
    wave.scalars.assign(scalar_registers, 0);
    wave.vectors.assign(static_cast<std::size_t>(vector_registers) * lanes(), 0);
    wave.accumulators.assign(wave.vectors.size(), 0);
    wave.private_memory.assign(static_cast<std::size_t>(kernel_.private_bytes()) * lanes() + 16, std::byte{0});
    wave.is_done = false;

    // Operands that are constants.
    for (int i = 0; i <= 64; ++i) wave.scalars[128 + i] = i;
    for (int i = 1; i <= 16; ++i) wave.scalars[192 + i] = static_cast<std::uint32_t>(-i);
    constexpr std::array<std::uint32_t, 9> floats = {0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000,
                                                     0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983};
    std::copy(floats.begin(), floats.end(), wave.scalars.begin() + 240);
    wave.scalars[236] = static_cast<std::uint32_t>(shared_aperture);
    wave.scalars[238] = static_cast<std::uint32_t>(private_aperture);

    const int active = std::min(lanes(), threads_ - index * lanes());
    wave.set_pair(exec_low, active == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << active) - 1);
    int next = (properties & 1U) != 0 ? 4 : 0;
    const auto add_pair = [&](unsigned bit, std::uint64_t value) {
      if ((properties >> bit & 1U) == 0) return;
      wave.set_pair(next, value);
      next += 2;
    };
    add_pair(1, reinterpret_cast<std::uint64_t>(&packet_));
    add_pair(2, 0);
    add_pair(3, packet_.arguments);
    add_pair(4, counts.kernels);
    add_pair(5, 0);
    if ((properties >> 6U & 1U) != 0) wave.scalars[next++] = packet_.private_bytes;
    const int preloaded = preload & 127U;
    for (int i = 0; i < preloaded; ++i) {
      wave.scalars[next++] =
          field<std::uint32_t>(arguments_.data(), 4 * ((preload >> 7U) + static_cast<std::size_t>(i)));
    }
    for (int axis = 0; axis < 3; ++axis) {
      if ((resources >> (7U + axis) & 1U) != 0) wave.scalars[next++] = position[axis];
    }
    for (int lane = 0; lane < active; ++lane) {
      const unsigned thread = index * lanes() + lane;
      wave.vectors[lane] =
          thread / (block_[0] * block_[1]) << 20U | thread / block_[0] % block_[1] << 10U | thread % block_[0];
    }
    wave.scalars[private_stride] = packet_.private_bytes;
    // Code that has its first arguments in registers begins behind 256 bytes that load them.
    wave.set_pair(pc_low, reinterpret_cast<std::uint64_t>(descriptor) + field<std::int64_t>(descriptor, 16) +
                              (preloaded > 0 ? 256 : 0));
  }

  void run_block(const Extents& position) {
    static std::vector<Wavefront> wavefronts(most_wavefronts);
    std::memset(shared_memory(), 0xcd, shared_bytes_);
    const int count = (threads_ + lanes() - 1) / lanes();
    for (int w = 0; w < count; ++w) begin(wavefronts[w], w, position);
    for (int left = count; left > 0;) {
      for (int w = 0; w < count; ++w) {
        if (wavefronts[w].is_done) continue;
        advance(wavefronts[w]);
        if (wavefronts[w].is_done) --left;
      }
    }
  }

  // Run a wavefront to its next barrier or its end, or for a while.
  void advance(Wavefront& wave) const {
    const std::array<const void*, 6> buffers = {
        wave.scalars.data(), wave.vectors.data(),        nullptr,
        shared_memory(),     wave.private_memory.data(), wave.accumulators.data()};
    Code& code = *kernel_.code;
    for (int turn = 0; turn < instructions_in_turn; ++turn) {
      const std::uint64_t pc = wave.pair(pc_low);
      if (pc == pc_of_end) {
        wave.is_done = true;
        return;
      }
      if (pc < code.begin || pc >= code.end) die("the program counter is outside of the code");
      Step& step = code.steps[(pc - code.begin) / 4];
      if (!step.is_known) compile(step, pc);
      ++counts.instructions;
      if (step.run == nullptr) {
        jump(wave, step, pc);
        continue;
      }
      const auto& of = step.buffers;
      step.run(buffers[of[0]], buffers[of[1]], buffers[of[2]], buffers[of[3]], buffers[of[4]], buffers[of[5]]);
      if (step.is_barrier) return;
    }
  }

  static void jump(Wavefront& wave, const Step& step, std::uint64_t pc) {
    const std::uint64_t next = pc + step.bytes;
    std::uint64_t to = next;
    if (step.jump == Step::Jump::set || step.jump == Step::Jump::swap) to = wave.pair(step.source);
    if (step.jump == Step::Jump::call) to += 4 * static_cast<std::int64_t>(static_cast<std::int16_t>(step.source));
    if (step.jump != Step::Jump::none && step.jump != Step::Jump::set) wave.set_pair(step.destination, next);
    wave.set_pair(pc_low, to);
  }

  static void compile(Step& step, std::uint64_t pc) {
    PyObject* const made = PyObject_CallMethod(emulator(), "compile", "K", static_cast<unsigned long long>(pc));
    if (made == nullptr) die("an instruction cannot be emulated");
    // NOLINTNEXTLINE(performance-no-int-to-ptr): a function in memory
    step.run = reinterpret_cast<Step::Function>(number(made, 0));
    PyObject* const operands = PyTuple_GetItem(made, 1);
    if (step.run != nullptr) {
      for (Py_ssize_t i = 0; i < PyTuple_Size(operands); ++i)
        step.buffers.at(i) = static_cast<std::uint8_t>(number(operands, i));
    } else if (PyTuple_Size(operands) == 3) {
      step.jump = static_cast<Step::Jump>(number(operands, 0));
      step.destination = static_cast<int>(number(operands, 1));
      step.source = static_cast<int>(number(operands, 2));
    }
    step.bytes = static_cast<std::uint8_t>(number(made, 2));
    step.is_barrier = number(made, 3) != 0;
    step.is_known = true;
    Py_DECREF(made);
  }

  const Kernel& kernel_;
  Extents grid_;
  Extents block_;
  int threads_;
  std::size_t shared_bytes_;
  std::vector<std::byte> arguments_;
  Packet packet_;
};

}  // namespace

void die(const std::string& message) {
  std::fprintf(stderr, "hip-emulator: %s\n", message.c_str());
  if (Py_IsInitialized() != 0 && PyErr_Occurred() != nullptr) PyErr_Print();
  std::abort();
}

int lanes() {
  static const int count = static_cast<int>(number(PyObject_GetAttrString(emulator(), "LANES")));
  return count;
}
const char* target() {
  static const std::string name = PyUnicode_AsUTF8(PyObject_GetAttrString(emulator(), "TARGET"));
  return name.c_str();
}

std::uint32_t Kernel::shared_bytes() const {
  return field<std::uint32_t>(descriptor, 0);
}
std::uint32_t Kernel::private_bytes() const {
  return field<std::uint32_t>(descriptor, 4);
}

const Kernel& Binary::kernel(const std::string& name) {
  load();
  const auto found = kernels_.find(name);
  if (found == kernels_.end()) die("no kernel " + name);
  return found->second;
}
const Variable& Binary::variable(const std::string& name) {
  load();
  const auto found = variables_.find(name);
  if (found == variables_.end()) die("no variable " + name);
  return found->second;
}

void Binary::load() {
  if (is_loaded_) return;
  is_loaded_ = true;
  constexpr const char* magic = "__CLANG_OFFLOAD_BUNDLE__";
  const auto* at = reinterpret_cast<const std::byte*>(bundle_);
  if (std::memcmp(bundle_, magic, std::strlen(magic)) != 0) die("a bundle in a form that is not known");
  auto entries = field<std::uint64_t>(at, std::strlen(magic));
  for (at += std::strlen(magic) + 8; entries > 0; --entries) {
    const auto offset = field<std::uint64_t>(at, 0);
    const auto size = field<std::uint64_t>(at, 8);
    const auto length = field<std::uint64_t>(at, 16);
    const std::string triple(reinterpret_cast<const char*>(at) + 24, length);
    at += 24 + length;
    if (size > 0 && triple.find(target()) != std::string::npos) {
      PyObject* const loaded =
          PyObject_CallMethod(emulator(), "load", "KK", reinterpret_cast<unsigned long long>(bundle_ + offset),
                              static_cast<unsigned long long>(size));
      if (loaded == nullptr) die("code cannot be loaded");
      PyObject* name = nullptr;
      PyObject* value = nullptr;
      Py_ssize_t position = 0;
      while (PyDict_Next(PyTuple_GetItem(loaded, 0), &position, &name, &value) != 0) {
        Kernel& kernel = kernels_[PyUnicode_AsUTF8(name)];
        // NOLINTNEXTLINE(performance-no-int-to-ptr): an address in memory
        kernel.descriptor = reinterpret_cast<const std::byte*>(number(value, 0));
        kernel.argument_bytes = static_cast<int>(number(value, 1));
        PyObject* const arguments = PyTuple_GetItem(value, 2);
        for (Py_ssize_t i = 0; i < PyList_Size(arguments); ++i) {
          PyObject* const argument = PyList_GetItem(arguments, i);
          kernel.arguments.push_back({static_cast<int>(number(argument, 0)), static_cast<int>(number(argument, 1)),
                                      static_cast<int>(number(argument, 2))});
        }
        kernel.most_threads = static_cast<int>(number(value, 3));
        kernel.registers = static_cast<int>(number(value, 4));
        kernel.code = &code_;
      }
      position = 0;
      while (PyDict_Next(PyTuple_GetItem(loaded, 1), &position, &name, &value) != 0) {
        // NOLINTNEXTLINE(performance-no-int-to-ptr): an address in memory
        variables_[PyUnicode_AsUTF8(name)] = {reinterpret_cast<std::byte*>(number(value, 0)), number(value, 1)};
      }
      code_.begin = number(loaded, 2);
      code_.end = number(loaded, 3);
      code_.steps.resize((code_.end - code_.begin) / 4 + 1);
      return;
    }
  }
  die(std::string("no code for ") + target());
}

void launch(const Kernel& kernel, const Extents& grid, const Extents& block, void** arguments,
            std::size_t shared_bytes) {
  ++counts.kernels;
  Launch(kernel, grid, block, arguments, shared_bytes).run();
}

}  // namespace emulated
