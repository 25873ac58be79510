// heddle._core: communicators, distributed matrices, and their products, exponentials, systems and eigenvalues.
#include "arrays.hpp"
#include "core/memory/shared_storage.hpp"
#include "eigen_report.hpp"
#include "expm/expm_options.hpp"
#include "exported.hpp"
#include "matrices.hpp"
#include "module.hpp"
#include "solve_options.hpp"
#include <heddle/comm/device.hpp>
#include <heddle/dist/matrix.hpp>
#include <heddle/eigen/distributed.hpp>
#include <heddle/exact/distributed.hpp>
#include <heddle/gemm/gemm.hpp>

#include <nanobind/stl/unique_ptr.h>

#include <array>
#include <memory>
#include <utility>

namespace heddle::python {
namespace {

using Comm = Kept<Communicator>;

// mpi4py's communicator by the number that Fortran has for it, which every implementation of MPI knows.
std::unique_ptr<Comm> communicator(int number, const std::string& library) {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  const std::string mine(text.data());  // Some count the zero at the end.
  require(mine == library, "Communicator: mpi4py stands on '", library, "' and heddle on '", mine, "'");
  const MPI_Comm parent = MPI_Comm_f2c(number);
  if (!running()) {
    const DeviceBinding binding = bind_device(parent);
    start({}, binding.device >= 0 ? std::optional(binding.device) : std::nullopt);
  }
  return run([&] { return std::make_unique<Comm>(std::in_place, parent, space()); });
}

// Calls function.operator()<T>() for the type that a name of NumPy's stands for.
template <class Function> auto with_name(const std::string& name, Function&& function) {
  if (name == "float32") return function.template operator()<float>();
  if (name == "float64") return function.template operator()<double>();
  if (name == "complex64") return function.template operator()<Kokkos::complex<float>>();
  require(name == "complex128", "elements of type ", name, "; expected float32, float64, complex64 or complex128");
  return function.template operator()<Kokkos::complex<double>>();
}
template <Scalar T> const char* name_of(const DistributedMatrix<T>& /*matrix*/) {
  if constexpr (is_complex<T>) return sizeof(T) == 8 ? "complex64" : "complex128";
  return sizeof(T) == 4 ? "float32" : "float64";
}

Matrix empty(Comm& comm, const std::string& name, Index rows, Index columns, const std::string& placement) {
  return with_name(name, [&]<class T>() {
    return run([&] {
      const Placement where = placement_from(placement, rows, columns, (*comm).size());
      return Matrix(DistributedMatrix<T>(*comm, where));
    });
  });
}

// The caller's array, which has to stay alive and column-major; of one that kernels do not reach, a copy.
Matrix in_storage(Comm& comm, const Output& local, Index rows, Index columns, const std::string& placement) {
  return with_scalar(local, [&]<class T>() {
    return run([&] {
      const Placement where = placement_from(placement, rows, columns, (*comm).size());
      const Operand<T, 2> view(local, "local");
      const DistributedMatrix<T> given(*comm, where, as_column_major(*view));
      if (reachable(local.device_type(), local.device_id())) return Matrix(given);
      const DistributedMatrix<T> copy(*comm, where);
      Kokkos::deep_copy(space(), copy.local(), given.local());
      return Matrix(copy);
    });
  });
}

// Fill a matrix from `whole` on rank `root`; other ranks ignore `whole`.
void fill_from(Matrix& matrix, const std::optional<Input>& whole, int root) {
  matrix.visit([&]<Scalar T>(const DistributedMatrix<T>& A) {
    run([&] {
      HostMatrix<T> host;
      A.communicator().on_rank(root, [&] {
        require(whole.has_value(), "from_global: rank ", root, " gives no array");
        require(whole->device_type() == nb::device::cpu::value, "from_global: expected an array in host memory");
        require(whole->dtype() == dtype_of<T>(), "from_global: elements of another type than the matrix");
        const auto rows = static_cast<std::size_t>(A.rows());
        host = HostMatrix<T>(static_cast<T*>(const_cast<void*>(whole->data())), rows,
                             static_cast<std::size_t>(A.columns()));
      });
      scatter(host, root, A);
    });
  });
}

nb::object whole_of(const Matrix& matrix, int root) {
  return matrix.visit([&]<Scalar T>(const DistributedMatrix<T>& A) -> nb::object {
    const HostMatrix<T> host = run([&] { return gather(A, root); });
    if (A.communicator().rank() != root) return nb::none();
    return exported_matrix(host, host.data(), static_cast<std::size_t>(A.rows()), static_cast<std::size_t>(A.columns()),
                           std::max<std::size_t>(host.extent(0), 1), nb::device::cpu::value);
  });
}

nb::object local_of(const Matrix& matrix) {
  return matrix.visit([&]<Scalar T>(const DistributedMatrix<T>& A) {
    // The copy shares the elements.
    return exported_matrix(
        A, A.local().data(), A.local().extent(0), A.local().extent(1),
        std::max<std::size_t>(A.local().extent(1) > 1 ? A.local().stride(1) : A.local().extent(0), 1), device_of_views);
  });
}

void redistribute_to(const Matrix& from, const Matrix& to) {
  from.visit([&]<Scalar T>(const DistributedMatrix<T>& A) { run([&] { redistribute(A, to.as<T>()); }); });
}

nb::dict multiply(const Matrix& a, const Matrix& b, const Matrix& c, const std::string& operation_a,
                  const std::string& operation_b, const std::string& arithmetic, Index tile, int moduli) {
  const Operation op_a = operation_from(operation_a);
  const Operation op_b = operation_from(operation_b);
  GemmOptions options;
  options.arithmetic = arithmetic_from(arithmetic);
  options.tile = tile;
  options.emulation.moduli = moduli;
  const GemmReport report = a.visit([&]<Scalar T>(const DistributedMatrix<T>& A) {
    const DistributedMatrix<T>& B = b.as<T>();
    const DistributedMatrix<T>& C = c.as<T>();
    return run([&] {
      return A.communicator().together([&] {
        impl::require_apart("matmul", "a", A.local(), "out", C.local());
        impl::require_apart("matmul", "b", B.local(), "out", C.local());
        return gemm<T>(A.communicator(), op_a, op_b, T(1), A, B, T(0), C, options);
      });
    });
  });
  nb::dict entries;
  entries["arithmetic"] = std::string(to_string(report.arithmetic));
  entries["tile"] = report.tile;
  entries["grid"] = nb::make_tuple(report.grid.rows, report.grid.columns);
  entries["layers"] = report.layers;
  entries["seconds"] = report.seconds;
  entries["gflops"] = report.gflops;
  entries["bytes_received"] = report.bytes_received;
  entries["wait_seconds"] = report.wait_seconds;
  entries["moduli"] = report.emulation.moduli;
  entries["error_bound"] = report.emulation.error_bound;
  return entries;
}

nb::dict exponential(const Matrix& a, const Matrix& e, const ExpmSettings& settings) {
  Watch watch(settings.progress);
  return expm_entries(a.visit([&]<Scalar T>(const DistributedMatrix<T>& A) {
    return run(watch, [&] { return expm<T>(A.communicator(), A, e.as<T>(), settings.taken(watch)); });
  }));
}

nb::dict system(const Matrix& a, const Matrix& b, const Matrix& x, bool positive, bool equilibrate, int refinements,
                bool measure, bool certificate, bool correctly_rounded, const FactorArguments& factor) {
  Watch watch(factor.progress);
  const SolveOptions options =
      solve_options(positive, equilibrate, refinements, measure, certificate, correctly_rounded, factor, watch);
  return solve_entries(a.visit([&]<Scalar T>(const DistributedMatrix<T>& A) {
    return run(watch, [&] { return solve<T>(A.communicator(), A, b.as<T>(), x.as<T>(), options); });
  }));
}

nb::tuple eigensystem(const Matrix& a, const Matrix& v, const EighOptions& options) {
  return a.visit([&]<Scalar T>(const DistributedMatrix<T>& A) {
    const auto [w, report] = run([&] {
      const Kokkos::View<Real<T>*, MemorySpace> values("heddle::python::w", static_cast<std::size_t>(A.rows()));
      return std::pair(values, eigen::jacobi<T>(A.communicator(), A, values, v.as<T>(), options.jacobi));
    });
    return nb::make_tuple(exported(w, true), jacobi_entries(report));
  });
}

// The sum of the elements of all ranks, in place.
void allreduce(Comm& comm, const Output& values) {
  require(values.ndim() == 1 && values.device_type() == nb::device::cpu::value,
          "allreduce: expected a contiguous vector in host memory");
  require(values.shape(0) < (std::size_t{1} << 31), "allreduce: ", values.shape(0),
          " elements; expected fewer than 2^31");
  with_scalar(values, [&]<class T>() {
    const MPI_Datatype type = is_complex<T> ? (sizeof(T) == 8 ? MPI_C_FLOAT_COMPLEX : MPI_C_DOUBLE_COMPLEX)
                                            : (sizeof(T) == 4 ? MPI_FLOAT : MPI_DOUBLE);
    const int status = run([&] {
      return exact::allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.shape(0)), type, (*comm).native());
    });
    if (status != MPI_SUCCESS) throw Error(ErrorKind::computation, message_of("allreduce: error ", status, " of MPI"));
  });
}

}  // namespace

void bind_distributed(nb::module_& module) {
  nb::class_<Comm>(module, "Communicator")
      .def_prop_ro("rank", [](Comm& comm) { return (*comm).rank(); })
      .def_prop_ro("size", [](Comm& comm) { return (*comm).size(); })
      .def_prop_ro("nodes", [](Comm& comm) { return (*comm).nodes(); })
      .def("barrier", [](Comm& comm) { run([&] { (*comm).barrier(); }); });
  module.def("communicator", communicator, nb::arg("number"), nb::arg("library"));
  nb::class_<Matrix>(module, "Matrix")
      .def_prop_ro("shape",
                   [](const Matrix& matrix) {
                     return matrix.visit([](const auto& A) { return nb::make_tuple(A.rows(), A.columns()); });
                   })
      .def_prop_ro(
          "dtype",
          [](const Matrix& matrix) { return matrix.visit([](const auto& A) { return std::string(name_of(A)); }); })
      .def_prop_ro(
          "placement",
          [](const Matrix& matrix) { return matrix.visit([](const auto& A) { return A.placement().describe(); }); })
      .def("local", local_of)
      .def("fill_from", fill_from, nb::arg("whole").none(), nb::arg("root"))
      .def("gather", whole_of, nb::arg("root"))
      .def("redistribute_to", redistribute_to, nb::arg("other"));
  module.def("empty", empty, nb::arg("comm"), nb::arg("dtype"), nb::arg("rows"), nb::arg("columns"),
             nb::arg("placement"));
  module.def("in_storage", in_storage, nb::arg("comm"), nb::arg("local"), nb::arg("rows"), nb::arg("columns"),
             nb::arg("placement"));
  module.def("distributed_matmul", multiply, nb::arg("a"), nb::arg("b"), nb::arg("c"), nb::arg("operation_a"),
             nb::arg("operation_b"), nb::arg("arithmetic"), nb::arg("tile"), nb::arg("moduli"));
  module.def("distributed_expm", exponential, nb::arg("a"), nb::arg("e"), nb::arg("options"));
  module.def("distributed_solve", system, nb::arg("a"), nb::arg("b"), nb::arg("x"), nb::arg("positive"),
             nb::arg("equilibrate"), nb::arg("refinements"), nb::arg("measure"), nb::arg("certificate"),
             nb::arg("correctly_rounded"), nb::arg("options"));
  module.def("distributed_eigh", eigensystem, nb::arg("a"), nb::arg("v"), nb::arg("options"));
  module.def("allreduce", allreduce, nb::arg("comm"), nb::arg("values"));
}

}  // namespace heddle::python
