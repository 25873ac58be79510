// heddle._core: start, end, and information on this build and this process.
#include "arrays.hpp"
#include "module.hpp"
#include <heddle/blas/blas.hpp>
#include <heddle/core/version.hpp>
#include <heddle/emulation/emulation.hpp>

namespace heddle::python {
namespace {

nb::dict info() {
  start();
  nb::dict all;
  all["version"] = std::string(version());
  all["git_hash"] = std::string(git_hash());
  all["kokkos"] = message_of(KOKKOS_VERSION / 10000, '.', KOKKOS_VERSION / 100 % 100, '.', KOKKOS_VERSION % 100);
  all["backend"] = std::string(ExecutionSpace::name());
  all["concurrency"] = space().concurrency();
  all["devices"] = std::max(Kokkos::num_devices(), 0);
  all["blas"] = blas::description();
  all["integers"] = emulation_description();
  nb::list absent;
  for (const AbsentLibrary& library : absent_libraries()) absent.append(std::string(library.name));
  all["absent"] = absent;
  return all;
}

}  // namespace

void bind_information(nb::module_& module) {
  module.def("version", [] { return std::string(version()); });
  module.def("start", start, nb::arg("threads").none(), nb::arg("device").none());
  module.def("end", end);
  module.def("running", running);
  module.attr("on_gpus") = !views_on_host;
  module.def("device", [] {
    start();
    return views_on_host ? -1 : Kokkos::device_id();
  });
  module.def("info", info);
}

}  // namespace heddle::python
