# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage
from spack_repo.builtin.build_systems.rocm import ROCmPackage

from spack.package import *


class Heddle(CMakePackage, CudaPackage, ROCmPackage):
    """Dense linear algebra over all GPUs or cores of a cluster, one MPI rank for each GPU, on
    Kokkos: matrix products, exponentials and transposes, the time-dependent Schroedinger equation,
    exact sums and LU, eigenvalues, and surfaces of meshes, as a C++20 library and a command."""

    # The recipe lies in Heddle's own repository, and builds its branch main: there is no tag yet.
    git = Path(__file__).resolve().parents[5].as_uri()

    license("Apache-2.0")

    test_requires_compiler = True

    version("main", branch="main", preferred=True)

    variant("openmp", default=True, description="CPU threads by OpenMP")
    variant("shared", default=True, description="Build a shared library")
    variant(
        "studies",
        default=True,
        description="Build heddle-study, the experiments of `heddle study`",
    )
    variant("tests", default=False, description="Build the tests and the benchmarks")
    variant("fftw", default=True, description="Split operator of `heddle tdse` on CPUs, by FFTW")
    variant(
        "onednn",
        default=False,
        description="Emulated products on CPUs by AMX or AVX-512 VNNI, through oneDNN",
    )
    variant(
        "libxc",
        default=False,
        description="Functionals with gradients, and hybrids, for molecules, by libxc",
    )
    # Sticky, for Spack would rather leave it out in silence than say what NCCL lacks.
    variant(
        "nccl",
        default=True,
        sticky=True,
        description="Messages between GPUs of several nodes by NCCL, or RCCL",
    )
    variant("plot", default=True, description="What `heddle plot` needs to draw pictures")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")

    depends_on("mpi")
    depends_on("blas")
    depends_on("lapack")
    depends_on("hdf5@1.10:")
    depends_on("pugixml@1.10:")
    depends_on("zlib-api")
    depends_on("lz4")
    depends_on("xz")
    depends_on("fftw@3:", when="+fftw~cuda~rocm")
    depends_on("onednn@2.6:", when="+onednn~cuda~rocm")
    depends_on("libxc@5:", when="+libxc")
    depends_on("cli11@2.1:", type="build")
    depends_on("tomlplusplus@3.3:", type="build")
    depends_on("nlohmann-json@3.11:", type="build")
    requires("^openblas threads=openmp", when="+openmp ^[virtuals=blas] openblas")

    depends_on("kokkos@4.6:5")
    depends_on("kokkos+openmp", when="+openmp")
    depends_on("kokkos+serial", when="~openmp")
    conflicts("^kokkos cxxstd=17", msg="Heddle is C++20: Kokkos 4 needs cxxstd=20")
    depends_on("kokkos+shared", when="+shared")

    with when("+cuda"):
        depends_on("kokkos+cuda+wrapper")
        depends_on("nccl@2.18:", when="+nccl")
        for arch in CudaPackage.cuda_arch_values:
            depends_on(f"kokkos cuda_arch={arch}", when=f"cuda_arch={arch}")
            depends_on(f"nccl +cuda cuda_arch={arch}", when=f"+nccl cuda_arch={arch}")
    with when("+rocm"):
        depends_on("kokkos+rocm")
        # Local products of doubles are Kokkos Kernels' calls of rocBLAS; others need neither.
        depends_on(
            "kokkos-kernels@4.6:5 +blas+rocblas scalars=float,double,complex_float,complex_double"
        )
        depends_on("rocblas")
        depends_on("rocsolver")
        depends_on("rocprim")
        depends_on("hipfft")
        depends_on("rccl", when="+nccl")
        for arch in ROCmPackage.amdgpu_targets:
            depends_on(f"kokkos amdgpu_target={arch}", when=f"amdgpu_target={arch}")
            # Otherwise each of them is built for every GPU that it knows.
            for library in ("rocblas", "rocsolver", "rocprim", "hipfft"):
                depends_on(f"{library} amdgpu_target={arch}", when=f"amdgpu_target={arch}")
            depends_on(f"rccl amdgpu_target={arch}", when=f"+nccl amdgpu_target={arch}")
    conflicts("+cuda", when="+rocm", msg="one GPU backend at a time")
    conflicts("cuda_arch=none", when="+cuda", msg="+cuda needs a cuda_arch, as in cuda_arch=90")
    conflicts("+tests", when="~studies", msg="the tests run `heddle study`")

    with when("+tests"):
        depends_on("googletest@1.12:")
        depends_on("benchmark@1.7:")
        depends_on("mpfr@4:")
        # On CPUs the calls of Kokkos Kernels are tested, and measured beside Heddle's own kernels.
        depends_on("kokkos-kernels@4.6:5", when="~cuda~rocm")

    with when("+plot"), default_args(type="run"):
        depends_on("python@3.9:")
        depends_on("py-matplotlib@3.6:")
        depends_on("py-h5py")

    def cmake_args(self):
        args = [
            self.define("HEDDLE_ARCH", ""),  # Spack's compiler wrapper names the architecture
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define_from_variant("HEDDLE_STUDIES", "studies"),
            self.define_from_variant("HEDDLE_TESTS", "tests"),
            self.define_from_variant("HEDDLE_BENCHMARKS", "tests"),
            self.define("HEDDLE_FFTW", self.spec.satisfies("+fftw~cuda~rocm")),
            self.define("HEDDLE_ONEDNN", self.spec.satisfies("+onednn~cuda~rocm")),
            self.define_from_variant("HEDDLE_LIBXC", "libxc"),
        ]
        if self.spec.satisfies("+cuda") or self.spec.satisfies("+rocm"):
            args.append(self.define_from_variant("HEDDLE_NCCL", "nccl"))
        return args + self.gpu_compiler()

    def gpu_compiler(self):
        """CMake's argument for the compiler of GPU sources, which a user's project needs, too."""
        if self.spec.satisfies("+cuda"):
            return [self.define("CMAKE_CXX_COMPILER", self["kokkos"].kokkos_cxx)]
        if self.spec.satisfies("+rocm"):
            return [self.define("CMAKE_CXX_COMPILER", self.spec["hip"].prefix.bin.hipcc)]
        return []

    def test_info(self):
        """what the command says of itself"""
        heddle = which(self.prefix.bin.heddle, required=True)
        said = heddle("info", output=str.split, error=str.split)
        check_outputs(["Kokkos", "MPI", "devices"], said)

    def test_product(self):
        """a product with its check"""
        heddle = which(self.prefix.bin.heddle, required=True)
        said = heddle("gemm", "--size", "64", output=str.split, error=str.split)
        check_outputs(["check product: passed"], said)

    def test_consumer(self):
        """a program of a user's, built against what is installed"""
        source = """
#include <heddle/core/version.hpp>
#include <cstdio>
int main() { std::printf("heddle %s\\n", heddle::version().data()); }
"""
        lists = """
cmake_minimum_required(VERSION 3.22)
project(consumer LANGUAGES CXX)
find_package(heddle REQUIRED)
add_executable(consumer main.cpp)
target_link_libraries(consumer PRIVATE heddle::heddle)
"""
        with working_dir("consumer", create=True):
            Path("main.cpp").write_text(source)
            Path("CMakeLists.txt").write_text(lists)
            cmake = which(self.spec["cmake"].prefix.bin.cmake, required=True)
            # A static library's user finds all that it was built with.
            prefixes = [spec.prefix for spec in self.spec.traverse(deptype="link")]
            prefix_path = self.define("CMAKE_PREFIX_PATH", prefixes)
            cmake("-B", "build", prefix_path, *self.gpu_compiler())
            cmake("--build", "build")
            said = Executable("build/consumer")(output=str.split, error=str.split)
            check_outputs(["heddle 0."], said)
