// Matrices that commands generate, read or write.
#pragma once

#include "drivers/support/context.hpp"
#include "drivers/support/outputs.hpp"
#include "drivers/support/process/sha256.hpp"
#include <heddle/core/random.hpp>
#include <heddle/dist/matrix.hpp>

#include <cstdint>
#include <string>

namespace heddle::driver {

/// Seeded element of a random matrix, uniform in (-1, 1), as a function of its global index: the same matrix on any
/// number of ranks and for any placement.
template <Scalar T> struct RandomElement {
  std::uint64_t seed = 0;

  KOKKOS_INLINE_FUNCTION T operator()(Index row, Index column) const {
    const std::uint64_t key =
        mixed_bits(golden_step + mixed_bits(golden_step + seed + static_cast<std::uint64_t>(row)) +
                   static_cast<std::uint64_t>(column));
    if constexpr (is_complex<T>) {
      return T(uniform(key), uniform(mixed_bits(golden_step + key)));
    } else {
      return uniform(key);
    }
  }

 private:
  KOKKOS_INLINE_FUNCTION static Real<T> uniform(std::uint64_t bits) {
    // An odd number of 23 bits over 2^23: exact in float too, and never zero.
    return static_cast<Real<T>>(static_cast<double>(static_cast<std::int64_t>(bits >> 41U) * 2 + 1 - 8388608) /
                                8388608.0);
  }
};

/// Random matrix in the placement that `place` names.
template <Scalar T>
[[nodiscard]] DistributedMatrix<T> random_matrix(const Communicator& comm, Index rows, Index columns,
                                                 const std::string& place, std::uint64_t seed) {
  DistributedMatrix<T> A(comm, placement_from(place, rows, columns, comm.size()));
  fill(A, RandomElement<T>{seed});
  return A;
}

/// Return the SHA-256 of a matrix by its columns.
template <Scalar T> [[nodiscard]] std::string hash_of(const HostMatrix<T>& whole) {
  Sha256 hash;
  for (std::size_t j = 0; j < whole.extent(1); ++j) hash.add_numbers(&whole(0, j), whole.extent(0));
  return hash.digest();
}
/// Collective: the same of a distributed matrix, which is gathered on rank 0; every rank gets the digits.
template <Scalar T> [[nodiscard]] std::string hash_of(const DistributedMatrix<T>& A) {
  const Communicator& comm = A.communicator();
  const HostMatrix<T> whole = gather(A, 0);
  std::string digest;
  comm.on_rank(0, [&] { digest = hash_of<T>(whole); });
  comm.broadcast(digest, 0);
  return digest;
}

/// Reads the matrix in `path` into the placement that `place` names.
template <Scalar T>
[[nodiscard]] DistributedMatrix<T> read_placed(const Communicator& comm, const std::string& path,
                                               const std::string& place);

/// Write a result; an HDF5 file gets its provenance. As `vector`, a matrix of one column is an array of one dimension
/// in formats that have such arrays.
template <Scalar T> void write_result(const std::string& path, const DistributedMatrix<T>& A, bool vector = false);

/// Throws Error(argument) unless the matrix comes either from a file or from a size to generate.
void require_one_input(const std::string& input, Index size);

/// Collective: return complex-double if the file `input` has complex numbers, otherwise (and for an empty name) double.
[[nodiscard]] std::string scalar_of_input(const Context& context, const std::string& input);

/// Collective: throws Error(argument), on every rank alike, if writing the matrix `output` would replace one of
/// `inputs`. Datasets of different names in one HDF5 file are distinct: FILE.h5:NAME keeps the others.
void require_inputs_kept(const Context& context, const std::vector<Output>& inputs, const Output& output);

/// Collective: throws Error, on every rank alike, unless `path` has a matrix file's ending and its folder can be
/// written. Does nothing for an empty path.
void require_writable_matrix(const Context& context, const std::string& path);
/// Check both for all matrices that a command writes. Also throws Error(argument), on every rank alike, if two of them,
/// or one and the report of --json, are the same file and not different datasets in it: one would be lost.
void require_outputs(const Context& context, const std::vector<Output>& inputs, const std::vector<Output>& outputs);
/// The same for these and `other`, a file of another kind and any ending that is written beside them.
void require_outputs(const Context& context, const std::vector<Output>& inputs, const std::vector<Output>& outputs,
                     const Output& other);

}  // namespace heddle::driver
