// The C interface: Errors as codes and a message.
#include "comm/failures/checked.hpp"
#include "core/current_error.hpp"
#include "exact/triangles/gathered.hpp"
#include <heddle/c/heddle.h>
#include <heddle/comm/device.hpp>
#include <heddle/dist/scalapack.hpp>
#include <heddle/expm/expm.hpp>
#include <heddle/gemm/gemm.hpp>

#include <optional>
#include <string>

/// A grid and the communicator that it is on.
struct heddle_grid {
  heddle::Communicator comm;
  heddle::ScalapackGrid shape;
};

namespace heddle {
namespace {

thread_local std::string message;
bool started_here = false;

int code_of(ErrorKind kind) {
  static_assert(static_cast<int>(ErrorKind::argument) + 1 == HEDDLE_ARGUMENT &&
                static_cast<int>(ErrorKind::input) + 1 == HEDDLE_INPUT &&
                static_cast<int>(ErrorKind::output) + 1 == HEDDLE_OUTPUT &&
                static_cast<int>(ErrorKind::storage) + 1 == HEDDLE_STORAGE &&
                static_cast<int>(ErrorKind::computation) + 1 == HEDDLE_COMPUTATION &&
                static_cast<int>(ErrorKind::memory) + 1 == HEDDLE_MEMORY);
  return static_cast<int>(kind) + 1;
}

// Nothing may leave a function of C.
template <class Work> int code_after(const Work& work) noexcept {
  try {
    work();
    return HEDDLE_OK;
  } catch (...) {
    const Error error = impl::current_error();
    message = error.what();
    return code_of(error.kind());
  }
}

int create(MPI_Comm comm, char order, int rows, int columns, heddle_grid** grid) {
  return code_after([&] {
    if (grid != nullptr) *grid = nullptr;
    require(Kokkos::is_initialized(), "heddle_grid_create: Kokkos is not started; call heddle_start() first");
    const Communicator ranks(comm);
    const bool by_rows = order == 'R' || order == 'r';
    ranks.together([&] {
      require(grid != nullptr, "heddle_grid_create: no place for the grid");
      require(order == 'R' || order == 'r' || order == 'C' || order == 'c', "heddle_grid_create: order '",
              std::string(1, order), "'; expected 'R' or 'C'");
      require(rows >= 1 && columns >= 1 && rows <= ranks.size() / columns, "heddle_grid_create: a grid of ", rows,
              " x ", columns, " for ", ranks.size(), " ranks");
    });
    *grid = new heddle_grid{ranks, {rows, columns, by_rows ? GridOrder::row_major : GridOrder::column_major}};
  });
}

template <Scalar T> DistributedMatrix<T> matrix(const heddle_grid* grid, const Real<T>* data, const int* descriptor) {
  require(descriptor != nullptr, "heddle: a descriptor is a null pointer");
  // Inputs are const for the caller; the matrix of one is only read.
  auto* const elements = reinterpret_cast<T*>(const_cast<Real<T>*>(data));
  return matrix_of<T>(grid->comm, grid->shape, ScalapackDescriptor::from(descriptor), elements);
}

template <Scalar T> T number(const Real<T>* parts) {
  require(parts != nullptr, "heddle: a factor is a null pointer");
  if constexpr (is_complex<T>) {
    return T(parts[0], parts[1]);
  } else {
    return *parts;
  }
}

template <Scalar T>
// NOLINTNEXTLINE(readability-function-size): the arguments of BLAS
int multiply(const heddle_grid* grid, char op_a, char op_b, const Real<T>* alpha, const Real<T>* a, const int* desc_a,
             const Real<T>* b, const int* desc_b, const Real<T>* beta, Real<T>* c, const int* desc_c) {
  return code_after([&] {
    require(grid != nullptr, "heddle: the grid is a null pointer");
    grid->comm.together([&] {
      const Operation of_a = operation_from(std::string(1, op_a));
      const Operation of_b = operation_from(std::string(1, op_b));
      const auto A = matrix<T>(grid, a, desc_a);
      const auto B = matrix<T>(grid, b, desc_b);
      const auto C = matrix<T>(grid, c, desc_c);
      gemm<T>(grid->comm, of_a, of_b, number<T>(alpha), A, B, number<T>(beta), C);
    });
  });
}

template <Scalar T>
int exponential(const heddle_grid* grid, const Real<T>* a, const int* desc_a, Real<T>* e, const int* desc_e) {
  return code_after([&] {
    require(grid != nullptr, "heddle: the grid is a null pointer");
    grid->comm.together([&] {
      const auto A = matrix<T>(grid, a, desc_a);
      const auto E = matrix<T>(grid, e, desc_e);
      expm<T>(grid->comm, A, E);
    });
  });
}

template <Scalar T>
// NOLINTNEXTLINE(readability-function-size): the arguments of ScaLAPACK
int solution(const heddle_grid* grid, const Real<T>* a, const int* desc_a, const Real<T>* b, const int* desc_b,
             Real<T>* x, const int* desc_x, int* info) {
  return code_after([&] {
    if (info != nullptr) *info = 0;
    require(grid != nullptr, "heddle: the grid is a null pointer");
    const Index pivot = grid->comm.together([&] {
      const auto A = matrix<T>(grid, a, desc_a);
      const auto B = matrix<T>(grid, b, desc_b);
      const auto X = matrix<T>(grid, x, desc_x);
      return exact::impl::solve_on_one_rank<T>(grid->comm, A, B, X).info;
    });
    if (info != nullptr) *info = static_cast<int>(pivot);
    if (pivot != 0) {
      throw Error(ErrorKind::computation,
                  message_of("solve: A is singular, element ", pivot, ", ", pivot, " of U is zero"));
    }
  });
}

}  // namespace
}  // namespace heddle

extern "C" {

const char* heddle_message(void) {
  return heddle::message.c_str();
}

int heddle_start(void) {
  return heddle::code_after([] {
    if (Kokkos::is_initialized()) return;
    Kokkos::initialize(heddle::bind_device(MPI_COMM_WORLD).settings());
    heddle::started_here = true;
  });
}

int heddle_end(void) {
  return heddle::code_after([] {
    if (!heddle::started_here) return;
    heddle::started_here = false;
    Kokkos::finalize();
  });
}

int heddle_grid_create(MPI_Comm comm, char order, int rows, int columns, heddle_grid** grid) {
  return heddle::create(comm, order, rows, columns, grid);
}
int heddle_grid_create_f(MPI_Fint comm, char order, int rows, int columns, heddle_grid** grid) {
  return heddle::create(heddle::impl::communicator_of(comm), order, rows, columns, grid);
}
int heddle_grid_free(heddle_grid* grid) {
  return heddle::code_after([&] { delete grid; });
}

#define HEDDLE_C(letter, T, R)                                                                                       \
  int heddle_p##letter##gemm(heddle_grid* grid, char op_a, char op_b, const R* alpha, const R* a, const int* desc_a, \
                             const R* b, const int* desc_b, const R* beta, R* c, const int* desc_c) {                \
    return heddle::multiply<T>(grid, op_a, op_b, alpha, a, desc_a, b, desc_b, beta, c, desc_c);                      \
  }                                                                                                                  \
  int heddle_p##letter##expm(heddle_grid* grid, const R* a, const int* desc_a, R* e, const int* desc_e) {            \
    return heddle::exponential<T>(grid, a, desc_a, e, desc_e);                                                       \
  }                                                                                                                  \
  int heddle_p##letter##solve(heddle_grid* grid, const R* a, const int* desc_a, const R* b, const int* desc_b, R* x, \
                              const int* desc_x, int* info) {                                                        \
    return heddle::solution<T>(grid, a, desc_a, b, desc_b, x, desc_x, info);                                         \
  }
// NOLINTBEGIN(readability-function-size): the arguments of BLAS and ScaLAPACK
HEDDLE_C(s, float, float)
HEDDLE_C(d, double, double)
HEDDLE_C(c, Kokkos::complex<float>, float)
HEDDLE_C(z, Kokkos::complex<double>, double)
// NOLINTEND(readability-function-size)
#undef HEDDLE_C

}  // extern "C"
