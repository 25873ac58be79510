// Matrices of ScaLAPACK as they lie: descriptors and local arrays.
#pragma once

#include <heddle/dist/matrix.hpp>

#include <array>

namespace heddle {

/// An array descriptor of ScaLAPACK for a dense matrix, in the order of its nine integers.
struct ScalapackDescriptor {
  int type = 1;           ///< DTYPE_: 1 for a dense matrix, the only type taken.
  int context = 0;        ///< CTXT_, a handle of BLACS; not read, as the grid is given beside it.
  int rows = 0;           ///< M_
  int columns = 0;        ///< N_
  int block_rows = 1;     ///< MB_
  int block_columns = 1;  ///< NB_
  int first_row = 0;      ///< RSRC_: the row of the process grid with the first block.
  int first_column = 0;   ///< CSRC_
  int leading = 1;        ///< LLD_: the leading dimension of this rank's array.

  /// From nine integers, as descinit_ fills them.
  [[nodiscard]] static ScalapackDescriptor from(const int* descriptor);
};

/// A process grid of BLACS over the first rows x columns ranks of a communicator, as Cblacs_gridinit(context, order,
/// rows, columns) makes it.
struct ScalapackGrid {
  int rows = 1;                            ///< NPROW
  int columns = 1;                         ///< NPCOL
  GridOrder order = GridOrder::row_major;  ///< "Row", which is usual, or "Column".
};

/// The placement of a matrix with this descriptor on this grid. Throws Error(argument) for another type than 1, for
/// extents below 0, blocks below 1, and a first process that the grid lacks.
[[nodiscard]] Placement placement_of(const ScalapackDescriptor& descriptor, const ScalapackGrid& grid);

/// The matrix whose local array on this rank is `local`, column-major with descriptor.leading, as ScaLAPACK's routines
/// take it; no element is moved. On GPU backends the array may be in host memory, where the library pins it while the
/// matrix lives, or on the device, which `residence` says. The array stays the caller's, who keeps it until the last
/// copy of the matrix is gone. Ranks outside the grid give any pointer. Collective; throws as placement_of() and
/// DistributedMatrix do, and Error(argument), on every rank alike, where the leading dimension of one is below its
/// rows.
template <Scalar T>
[[nodiscard]] DistributedMatrix<T> matrix_of(const Communicator& comm, const ScalapackGrid& grid,
                                             const ScalapackDescriptor& descriptor, T* local,
                                             Residence residence = Residence::host);

}  // namespace heddle
