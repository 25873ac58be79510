// heddle._core.phi: phi functions of a matrix, on one rank.
#include "arrays.hpp"
#include "module.hpp"
#include "whole.hpp"
#include <heddle/expm/phi.hpp>

#include <string>
#include <vector>

namespace heddle::python {
namespace {

// out: p + 1 matrices along its first axis.
nb::dict functions(const Input& a, const Output& out, double tolerance, const std::string& structure,
                   const std::string& arithmetic, Index tile, int moduli, const nb::object& progress) {
  Watch watch(progress);
  PhiOptions options{.tolerance = tolerance, .structure = expm_structure_from(structure)};
  options.gemm.arithmetic = arithmetic_from(arithmetic);
  options.gemm.tile = tile;
  options.gemm.emulation.moduli = moduli;
  options.progress = watch.of_steps();
  const PhiReport report = with_scalar(a, [&]<class T>() {
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
      const PhiReport found = phi<T>(one_rank(), whole(*A_columns), phis, options);
      for (const ColumnMajor<T>& one : columns) one.give_back();
      all.give_back();
      return found;
    });
  });
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

}  // namespace

void bind_phi(nb::module_& module) {
  module.def("phi", functions, nb::arg("a"), nb::arg("out"), nb::arg("tolerance"), nb::arg("structure"),
             nb::arg("arithmetic"), nb::arg("tile"), nb::arg("moduli"), nb::arg("progress").none());
}

}  // namespace heddle::python
