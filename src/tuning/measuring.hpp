// Code that measurements of rates share.
#pragma once

#include "core/elementwise.hpp"
#include <heddle/comm/communicator.hpp>
#include <heddle/tuning/rates.hpp>

#include <algorithm>
#include <vector>

namespace heddle::impl {

/// Rates of emulated products of whole tiles, with the moduli that round-off takes and without a look. Collective;
/// about `seconds`, and the time of two products of the smallest tile at least.
template <Scalar T>
[[nodiscard]] std::vector<MachineRates::GemmPoint> measure_emulated(const Communicator& comm, double seconds);

/// The inner dimension of the native products that are measured: long enough for a BLAS to be at its rate.
constexpr Index measured_inner = on_host ? 2048 : 8192;

/// The order of C, and rows of A, in the native products that are measured: well beyond a cache; less where A, B and C
/// would take more than `memory` bytes, but on a GPU never less than 2048.
[[nodiscard]] Index measured_rows(std::size_t bytes_of_element, double memory);

template <Scalar T> struct MixDigits {
  Elements<T> elements;
  KOKKOS_INLINE_FUNCTION void operator()(Index i, Index j) const {
    const auto mixed = static_cast<std::uint32_t>(i * 2654435761 + j * 2246822519);
    elements(i, j) = T(static_cast<Real<T>>(mixed) / static_cast<Real<T>>(4294967296.0) + Real<T>(0.1));
  }
};

/// Numbers with mixed digits: power and so clock rate follow the bits that toggle.
template <Scalar T> [[nodiscard]] LocalMatrix<T> make_operand(const Communicator& comm, Index rows, Index columns) {
  LocalMatrix<T> matrix(Kokkos::view_alloc(comm.space(), Kokkos::WithoutInitializing, "heddle::gemm::measure"),
                        static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
  for_each_element(comm.space(), "heddle::gemm::measure_fill", rows, columns, MixDigits<T>{Elements<T>(matrix)});
  return matrix;
}

/// Seconds of the slowest rank, all of them at work at once.
template <class Work> [[nodiscard]] double slowest(const Communicator& comm, const Work& work) {
  comm.space().fence("heddle::gemm::measure_begin");
  comm.barrier();
  const Kokkos::Timer timer;
  work();
  comm.space().fence("heddle::gemm::measure_end");
  return comm.all_reduce(timer.seconds(), Reduction::maximum);
}

/// The shortest of `repeats` measurements, after one that isn't counted: the machine's time without interference, which
/// a median over a fraction of a second does not tell.
template <class Work> [[nodiscard]] double best_of(const Communicator& comm, int repeats, const Work& work) {
  static_cast<void>(slowest(comm, work));
  double best = slowest(comm, work);
  for (int k = 1; k < repeats; ++k) {
    best = std::min(best, slowest(comm, work));
  }
  return best;
}

}  // namespace heddle::impl
