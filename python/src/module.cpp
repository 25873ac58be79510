// The module heddle._core: errors, and its parts. What users see of it are the files of Python beside it.
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
    case ErrorKind::computation:
      return PyExc_RuntimeError;
  }
  return PyExc_RuntimeError;
}

// Whether a sentence says that there is not the memory: one of Kokkos, or a refusal of the library's, for which
// ErrorKind has nothing of its own.
bool of_memory(const char* sentence) {
  const std::string_view text(sentence);
  return text.find("failed to allocate") != text.npos || text.find(" of device memory") != text.npos ||
         text.find(" no memory for ") != text.npos;
}

void translate(const std::exception_ptr& thrown, void* /*unused*/) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    const bool memory = error.kind() == ErrorKind::computation && of_memory(error.what());
    PyErr_SetString(memory ? PyExc_MemoryError : exception_of(error.kind()), error.what());
  } catch (const std::runtime_error& error) {
    // Kokkos throws this, or a std::bad_alloc, which becomes a MemoryError anyway.
    if (!of_memory(error.what())) throw;
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
