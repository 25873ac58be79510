// heddle._core.phi: phi functions of a matrix, on one rank and over several.
#include "arrays.hpp"
#include "expm/whole.hpp"
#include "matrices.hpp"
#include "module.hpp"
#include <heddle/expm/phi.hpp>

#include <nanobind/stl/vector.h>

#include <string>
#include <utility>
#include <vector>

namespace heddle::python {
namespace {

// PhiOptions as Python gives them.
struct PhiSettings {
  PhiSettings(double tolerance, const std::string& structure, const std::string& arithmetic, Index tile, int moduli,
              nb::object shown)
      : phi{.tolerance = tolerance, .structure = expm_structure_from(structure)}, progress(std::move(shown)) {
    phi.gemm.arithmetic = arithmetic_from(arithmetic);
    phi.gemm.tile = tile;
    phi.gemm.emulation.moduli = moduli;
  }
  [[nodiscard]] PhiOptions taken(Watch& watch) const {
    PhiOptions options = phi;
    options.progress = watch.of_steps();
    return options;
  }
  PhiOptions phi;
  nb::object progress;
};

nb::dict entries_of(const PhiReport& report) {
  nb::dict entries;
  entries["structure"] = std::string(to_string(report.structure));
  entries["degree"] = report.degree;
  entries["squarings"] = report.squarings;
  entries["products"] = report.products;
  entries["norm1"] = report.norm1;
  entries["alpha"] = report.alpha;
  entries["error"] = report.error;
  entries["seconds"] = report.seconds;
  entries["gemm_seconds"] = report.gemm_seconds;
  entries["flops"] = report.flops;
  return entries;
}

// out: p + 1 matrices along its first axis.
nb::dict functions(const Input& a, const Output& out, const PhiSettings& settings) {
  Watch watch(settings.progress);
  return entries_of(with_scalar(a, [&]<class T>() {
    return run(watch, [&] {
      const Operand<const T, 2> A(a, "a");
      const Operand<T, 3> all(out, "out");
      const ColumnMajor<const T> A_columns(*A);
      std::vector<ColumnMajor<T>> columns;
      std::vector<DistributedMatrix<T>> phis;
      for (std::size_t k = 0; k < all->extent(0); ++k) {
        columns.emplace_back(
            StridedMatrix<T>(all->data() + k * all->stride(0),
                             Kokkos::LayoutStride(all->extent(1), all->stride(1), all->extent(2), all->stride(2))),
            false);
        phis.push_back(whole(*columns.back()));
      }
      const PhiReport found = phi<T>(one_rank(), whole(*A_columns), phis, settings.taken(watch));
      for (const ColumnMajor<T>& one : columns) one.give_back();
      all.give_back();
      return found;
    });
  }));
}

nb::dict distributed(const Matrix& a, const std::vector<const Matrix*>& out, const PhiSettings& settings) {
  Watch watch(settings.progress);
  return entries_of(a.visit([&]<Scalar T>(const DistributedMatrix<T>& A) {
    return run(watch, [&] {
      std::vector<DistributedMatrix<T>> phis;
      for (const Matrix* one : out) phis.push_back(one->as<T>());
      return phi<T>(A.communicator(), A, phis, settings.taken(watch));
    });
  }));
}

}  // namespace

void bind_phi(nb::module_& module) {
  nb::class_<PhiSettings>(module, "PhiOptions")
      .def(nb::init<double, const std::string&, const std::string&, Index, int, nb::object>(), nb::arg("tolerance"),
           nb::arg("structure"), nb::arg("arithmetic"), nb::arg("tile"), nb::arg("moduli"), nb::arg("progress").none());
  module.def("phi", functions, nb::arg("a"), nb::arg("out"), nb::arg("options"));
  module.def("distributed_phi", distributed, nb::arg("a"), nb::arg("out"), nb::arg("options"));
}

}  // namespace heddle::python
