// Products of 8-bit integers on CPUs: oneDNN's where it was found and the processor has AVX-512's integer dot products
// (without them oneDNN's sums may saturate at 16 bits), else our own, by the widest vectors there are.
#include "emulation/integer.hpp"
#include <heddle/core/error.hpp>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#ifdef HEDDLE_ONEDNN
#include <oneapi/dnnl/dnnl.hpp>

#include <numeric>
#include <random>
#include <string_view>
#include <vector>
#endif

namespace heddle::impl {
namespace {

void multiply_by_own_loops(const ExecutionSpace& space, const IntegerProducts& products) {
  const auto kernels = integer_kernels();
  (kernels.empty() ? portable_integer_gemm : kernels.front().multiply)(space, products);
}
std::string own_description() {
  const auto kernels = integer_kernels();
  return kernels.empty() ? std::string(portable_integer_description)
                         : message_of(portable_integer_description, " (", kernels.front().name, ")");
}

}  // namespace

#ifdef HEDDLE_ONEDNN
namespace {

bool has(dnnl_cpu_isa_t isa) {
  static const int all = dnnl_get_effective_cpu_isa();
  return (all & isa) == isa;
}
bool sums_are_exact() {
  return has(dnnl_cpu_isa_avx512_core_vnni);
}
// oneDNN is row-major: C^T = B^T A. Its primitives use AMX two to thirty times as well as its gemm does, the more the
// smaller the product. Without AMX they are slower, and their sums pass through 24 bits of a float: false, and nothing
// done, where they would.
bool multiply_by_tiles(const IntegerProducts& products) {
  using dnnl::memory;
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  const auto matrix = [](Index rows, Index columns, memory::data_type type, Index row_stride, Index column_stride) {
    return memory::desc(memory::dims{rows, columns}, type, memory::dims{row_stride, column_stride});
  };
  const memory::desc b = matrix(products.n, products.k, memory::data_type::s8, products.leading_b, 1);
  const memory::desc a = matrix(products.k, products.m, memory::data_type::s8, 1, products.leading_a);
  const memory::desc c = matrix(products.n, products.m, memory::data_type::s32, products.leading_c, 1);
#if DNNL_VERSION_MAJOR >= 3
  const dnnl::matmul::primitive_desc chosen(engine, b, a, c);
#else
  const dnnl::matmul::primitive_desc chosen(dnnl::matmul::desc(b, a, c), engine);
#endif
  if (std::string_view(chosen.impl_info_str()).find("amx") == std::string_view::npos) {
    return false;
  }
  const dnnl::matmul matmul(chosen);
  dnnl::stream stream(engine);
  const auto at = [](const memory::desc& desc, const auto* data) {
    return memory(desc, engine, const_cast<void*>(static_cast<const void*>(data)));
  };
  for (int l = 0; l < products.count; ++l) {
    matmul.execute(stream, {{DNNL_ARG_SRC, at(b, products.B + l * products.stride_b)},
                            {DNNL_ARG_WEIGHTS, at(a, products.A + l * products.stride_a)},
                            {DNNL_ARG_DST, at(c, products.C + l * products.stride_c)}});
  }
  stream.wait();
  return true;
}

// Whether tiles exist and keep all 32 bits, which oneDNN does not promise: sums beyond 24 bits, of shapes that
// fill tiles and that don't, in one and in several chunks. Once a process, some milliseconds.
bool tiles_are_exact() {
  // `step`: of the elements looked at.
  const auto exact = [](Index m, Index n, Index k, Index step) {
    std::vector<std::int8_t> A(static_cast<std::size_t>(m * k));
    std::vector<std::int8_t> B(static_cast<std::size_t>(n * k));
    std::vector<std::int32_t> C(static_cast<std::size_t>(m * n));
    std::minstd_rand random(1);
    for (auto* const factor : {&A, &B}) {
      for (std::int8_t& x : *factor) x = static_cast<std::int8_t>(100 + random() % 28);
    }
    if (!multiply_by_tiles({m, n, k, 1, A.data(), k, 0, B.data(), k, 0, C.data(), m, 0, false})) {
      return false;
    }
    for (Index e = 0; e < m * n; e += step) {
      const auto a = A.begin() + e % m * k;
      if (C[static_cast<std::size_t>(e)] != std::inner_product(a, a + k, B.begin() + e / m * k, 0)) return false;
    }
    return true;
  };
  static const bool all = [&] {
    try {
      return has(dnnl_cpu_isa_avx512_core_amx) && exact(64, 16, 2112, 1) && exact(48, 100, 4160, 7) &&
             exact(208, 37, 16448, 61) && exact(512, 512, 2112, 97);
    } catch (const dnnl::error&) {
      return false;
    }
  }();
  return all;
}

void multiply_by_gemm(const IntegerProducts& products) {
  const std::int32_t no_offset = 0;
  for (int l = 0; l < products.count; ++l) {
    dnnl::error::wrap_c_api(
        dnnl_gemm_s8s8s32('N', 'T', 'F', products.n, products.m, products.k, 1.0F, products.B + l * products.stride_b,
                          products.leading_b, 0, products.A + l * products.stride_a, products.leading_a, 0,
                          products.add ? 1.0F : 0.0F, products.C + l * products.stride_c, products.leading_c,
                          &no_offset),
        "gemm");
  }
}

}  // namespace

void integer_gemm(const blas::Context& context, const IntegerProducts& products) {
  if (!sums_are_exact()) {
    multiply_by_own_loops(context.space(), products);
    return;
  }
  context.space().fence("heddle::blas::before_host_gemm");
  const Kokkos::Profiling::ScopedRegion region("heddle::blas::integer_gemm");
  try {
    // Tiles would add to C by way of floats.
    const bool done = !products.add && tiles_are_exact() && multiply_by_tiles(products);
    if (!done) multiply_by_gemm(products);
  } catch (const dnnl::error& error) {
    throw Error(ErrorKind::computation,
                message_of("oneDNN failed to multiply: ", error.what(), ", status ", static_cast<int>(error.status)));
  }
}

std::string integer_description() {
  if (!sums_are_exact()) {
    return own_description();
  }
  const dnnl_version_t* version = dnnl_version();
  return message_of("oneDNN ", version->major, ".", version->minor, ".", version->patch,
                    tiles_are_exact() ? " (AMX)" : " (AVX-512 VNNI)");
}

#else

void integer_gemm(const blas::Context& context, const IntegerProducts& products) {
  multiply_by_own_loops(context.space(), products);
}

std::string integer_description() {
  return own_description();
}

#endif

}  // namespace heddle::impl
