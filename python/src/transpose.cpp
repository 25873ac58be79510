// heddle._core.transpose: op(A) of a matrix, or of a stack of them, on one rank.
#include "arrays.hpp"
#include "module.hpp"
#include <heddle/transpose/transpose.hpp>

#include <cstdint>

namespace heddle::python {
namespace {

void transpose_array(const Input& a, const Output& out, const std::string& operation) {
  const Operation op = operation_from(operation);
  const auto move = [&]<class T>() {
    run([&] {
      if (a.ndim() == 3) {
        const Operand<const T, 3> A(a, "a");
        const Operand<T, 3> B(out, "out");
        require_apart("transpose", "a", A, "out", B);
        transpose(space(), T(1), as_batch(*A), op, as_batch(*B));
        B.give_back();
      } else {
        const Operand<const T, 2> A(a, "a");
        const Operand<T, 2> B(out, "out");
        require_apart("transpose", "a", A, "out", B);
        transpose(space(), T(1), *A, op, *B);
        B.give_back();
      }
    });
  };
  with_type_of<float, double, Kokkos::complex<float>, Kokkos::complex<double>, std::int32_t, std::int64_t>(a.dtype(),
                                                                                                           move);
}

}  // namespace

void bind_transpose(nb::module_& module) {
  module.def("transpose", transpose_array, nb::arg("a"), nb::arg("out"), nb::arg("operation"));
}

}  // namespace heddle::python
