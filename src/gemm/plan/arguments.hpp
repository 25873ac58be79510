// Arguments that a plan of products refuses, before any rank depends on it.
#pragma once

#include "gemm/plan/schedule.hpp"
#include <heddle/gemm/gemm.hpp>

#include <string>

namespace heddle::impl {

/// Throws Error(argument), on every rank alike, for shapes and options that don't fit or that differ between ranks.
/// Collective; `scalar` names the type of the elements.
void require_plan(const Communicator& comm, const std::string& scalar, const Product& product,
                  const GemmOptions& options);

/// The same of one process. Not collective.
void require_plan(const Product& product, const GemmOptions& options);

/// Throws Error(argument), on every rank alike, for matrices of other placements or other ranks than the plan's, a
/// C that shares storage with A or B on any rank, and an alpha or beta that differs between ranks. Collective.
template <Scalar T>
void require_operands(const Communicator& comm, const Product& product, T alpha, const DistributedMatrix<T>& A,
                      const DistributedMatrix<T>& B, T beta, const DistributedMatrix<T>& C);

/// The same for one process, with any alpha and beta. Not collective; allocates no memory if nothing is wrong.
template <Scalar T>
void require_operands(const Communicator& comm, const Product& product, const DistributedMatrix<T>& A,
                      const DistributedMatrix<T>& B, const DistributedMatrix<T>& C);

/// Reason why rates are useless for the tile model; empty if they are not.
[[nodiscard]] std::string trouble_with(const MachineRates& rates);

}  // namespace heddle::impl
