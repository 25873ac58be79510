// Arguments of distributed operations as require_alike() takes them.
#pragma once

#include "comm/failures/alike.hpp"
#include <heddle/dist/matrix.hpp>

namespace heddle::impl {

template <class T> [[nodiscard]] Argument argument(std::string_view name, const T& value) {
  return {name, message_of(value)};
}

/// The value is describe() and the properties that it leaves out.
[[nodiscard]] inline Argument argument(std::string_view name, const Placement& placement) {
  return {name, message_of(placement.describe(), " (blocks of ", placement.row_axis().block, " x ",
                           placement.column_axis().block, " from rank ", placement.first_rank(), " on)")};
}

/// Throws Error(argument) where the matrix that the caller knows as `name` lies on other ranks than those of `comm`, or
/// on the same in another order. Local: ranks may find different things, so it is called within together().
template <Scalar T>
void require_same_ranks(std::string_view of, std::string_view name, const DistributedMatrix<T>& matrix,
                        const Communicator& comm) {
  const Communicator& its = matrix.communicator();
  require(same_ranks(comm, its), of, ": ", name, " is a matrix of another communicator (rank ", its.rank(), " of ",
          its.size(), " here); expected the ranks of this operation's communicator (rank ", comm.rank(), " of ",
          comm.size(), " here)");
}

}  // namespace heddle::impl
