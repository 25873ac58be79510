// Placements of ScaLAPACK descriptors.
#include "comm/failures/alike.hpp"
#include "core/instantiate.hpp"
#include <heddle/dist/scalapack.hpp>

#include <algorithm>

namespace heddle {

ScalapackDescriptor ScalapackDescriptor::from(const int* descriptor) {
  return {descriptor[0], descriptor[1], descriptor[2], descriptor[3], descriptor[4],
          descriptor[5], descriptor[6], descriptor[7], descriptor[8]};
}

Placement placement_of(const ScalapackDescriptor& descriptor, const ScalapackGrid& grid) {
  require(descriptor.type == 1, "descriptor: of type ", descriptor.type, "; expected 1, a dense matrix");
  return Placement::block_cyclic(descriptor.rows, descriptor.columns, descriptor.block_rows, descriptor.block_columns,
                                 grid.rows, grid.columns)
      .in_order(grid.order)
      .begun_at(descriptor.first_row, descriptor.first_column);
}

template <Scalar T>
DistributedMatrix<T> matrix_of(const Communicator& comm, const ScalapackGrid& grid,
                               const ScalapackDescriptor& descriptor, T* local, Residence residence) {
  Placement placement;
  Index rows = 0;
  Index columns = 0;
  impl::require_alike(comm, "matrix_of", {}, [&] {
    placement = placement_of(descriptor, grid).in(residence);
    rows = placement.local_rows(comm.rank());
    columns = placement.local_columns(comm.rank());
    require(rows == 0 || columns == 0 || descriptor.leading >= rows, "descriptor: a leading dimension of ",
            descriptor.leading, " for ", rows, " rows on rank ", comm.rank());
    require(rows == 0 || columns == 0 || local != nullptr, "matrix_of: rank ", comm.rank(), " gives no array for its ",
            rows, " x ", columns, " elements");
  });
  const auto leading = static_cast<std::size_t>(std::max<Index>({Index{descriptor.leading}, rows, 1}));
  return DistributedMatrix<T>(comm, placement,
                              MatrixView<T>(local, Kokkos::LayoutStride(static_cast<std::size_t>(rows), 1,
                                                                        static_cast<std::size_t>(columns), leading)));
}

#define HEDDLE_INSTANTIATE(T)                                                                                       \
  template DistributedMatrix<T> matrix_of<T>(const Communicator&, const ScalapackGrid&, const ScalapackDescriptor&, \
                                             T*, Residence)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle
