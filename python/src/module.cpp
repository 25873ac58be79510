// The module heddle._core: errors, and its parts. Users see it through the Python files of the package.
#include "module.hpp"

#include "arrays.hpp"

#include <exception>
#include <stdexcept>
#include <string_view>

namespace heddle::python {
namespace {

PyObject* exception_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::argument:
    case ErrorKind::input:
      return PyExc_ValueError;
    case ErrorKind::output:
    case ErrorKind::storage:
      return PyExc_OSError;
    case ErrorKind::memory:
      return PyExc_MemoryError;
    case ErrorKind::computation:
      return PyExc_RuntimeError;
  }
  return PyExc_RuntimeError;
}

void translate(const std::exception_ptr& thrown, void* /*unused*/) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    // Python puts such errors into the caller's words (python/heddle/_options.py), but not those of callbacks.
    const nb::handle type(exception_of(error.kind()));
    nb::object raised = type(error.what());
    raised.attr("of_heddle") = true;
    PyErr_SetObject(type.ptr(), raised.ptr());
  } catch (const std::runtime_error& error) {
    // Some versions of Kokkos throw this, others a std::bad_alloc, which becomes a MemoryError anyway.
    if (std::string_view(error.what()).find("failed to allocate") == std::string_view::npos) throw;
    PyErr_SetString(PyExc_MemoryError, error.what());
  }
}

}  // namespace
}  // namespace heddle::python

NB_MODULE(_core, module) {
  using namespace heddle::python;
  nb::set_leak_warnings(false);  // Objects that are alive when the interpreter ends are let go by end().
  nb::register_exception_translator(translate);
  bind_information(module);
  bind_matmul(module);
  bind_solve(module);
  bind_stacks(module);
  bind_eigen(module);
  bind_expm(module);
  bind_action(module);
  bind_frechet(module);
  bind_phi(module);
  bind_transpose(module);
  bind_exact(module);
  bind_search(module);
  bind_distributed(module);
  bind_tdse(module);
  bind_plans(module);
}
