// C = A B by p?gemm of ScaLAPACK, or of a library with the same names, through the addresses of its functions: some
// programs are linked to it, others load it.
#pragma once

#include <heddle/comm/communicator.hpp>
#include <heddle/dist/matrix.hpp>

#include <algorithm>

namespace heddle::driver {

/// The process grids of ScaLAPACK.
struct Blacs {
  int (*handle_of)(MPI_Comm) = nullptr;                                                  ///< Csys2blacs_handle
  void (*free_handle)(int) = nullptr;                                                    ///< Cfree_blacs_system_handle
  void (*begin_grid)(int* context, const char* order, int rows, int columns) = nullptr;  ///< Cblacs_gridinit
  void (*end_grid)(int context) = nullptr;                                               ///< Cblacs_gridexit
};

/// psgemm, pdgemm, pcgemm or pzgemm.
template <Scalar T>
using PblasGemm = void(const char* op_a, const char* op_b, const int* m, const int* n, const int* k, const T* alpha,
                       const T* a, const int* ia, const int* ja, const int* descriptor_a, const T* b, const int* ib,
                       const int* jb, const int* descriptor_b, const T* beta, T* c, const int* ic, const int* jc,
                       const int* descriptor_c);

/// C = A B of square matrices of one block-cyclic placement, in the ranks' own arrays. Collective, as are all calls.
template <Scalar T> class PblasProduct {
 public:
  PblasProduct(const Communicator& comm, const Blacs& blacs, PblasGemm<T>* gemm, const Placement& placement)
      : blacs_(blacs), gemm_(gemm), n_(static_cast<int>(placement.rows())), handle_(blacs.handle_of(comm.native())) {
    context_ = handle_;
    const CyclicAxis& rows = placement.row_axis();
    const CyclicAxis& columns = placement.column_axis();
    blacs_.begin_grid(&context_, "R", rows.processes, columns.processes);
    const auto leading = std::max<Index>(1, placement.local_rows(comm.rank()));
    const int values[] = {1,
                          context_,
                          n_,
                          n_,
                          static_cast<int>(rows.block),
                          static_cast<int>(columns.block),
                          0,
                          0,
                          static_cast<int>(leading)};
    std::copy(std::begin(values), std::end(values), descriptor_);
  }
  ~PblasProduct() {
    blacs_.end_grid(context_);
    blacs_.free_handle(handle_);
  }
  PblasProduct(const PblasProduct&) = delete;
  PblasProduct& operator=(const PblasProduct&) = delete;

  void multiply(const DistributedMatrix<T>& A, const DistributedMatrix<T>& B, const DistributedMatrix<T>& C) const {
    const T alpha(1.0);
    const T beta(0.0);
    const int one = 1;
    gemm_("N", "N", &n_, &n_, &n_, &alpha, A.local().data(), &one, &one, descriptor_, B.local().data(), &one, &one,
          descriptor_, &beta, C.local().data(), &one, &one, descriptor_);
  }

 private:
  Blacs blacs_;
  PblasGemm<T>* gemm_;
  int n_;
  int handle_;
  int context_ = 0;
  int descriptor_[9] = {};
};

}  // namespace heddle::driver
