// Results whose bits are promised on every machine, for `heddle verify --manifest`.
#pragma once

#include "drivers/support/matrices/matrices.hpp"
#include "drivers/support/options/scalars.hpp"
#include "drivers/support/process/sha256.hpp"
#include <heddle/comm/communicator.hpp>
#include <heddle/dist/matrix.hpp>

#include <functional>
#include <string>
#include <vector>

namespace heddle::driver {

/// A result of the manifest: a name, and the computation of its SHA-256, which is collective.
struct ManifestResult {
  std::string name;
  std::function<std::string(const Communicator&)> compute;
};

/// Each adds the results of one part of the library.
void add_products(std::vector<ManifestResult>& results);
void add_systems(std::vector<ManifestResult>& results);
void add_exponentials(std::vector<ManifestResult>& results);
void add_exact_results(std::vector<ManifestResult>& results);
void add_small_matrices(std::vector<ManifestResult>& results);
void add_eigensystems(std::vector<ManifestResult>& results);
void add_searches(std::vector<ManifestResult>& results);
void add_wave_functions(std::vector<ManifestResult>& results);

/// Call work.operator()<T>(name) for each of the four scalar types.
template <class Work> void for_each_scalar(const Work& work) {
  for (const std::string name : {"double", "float", "complex-double", "complex-float"}) {
    with_scalar(name, [&]<class T>() { work.template operator()<T>(name); });
  }
}

/// Random numbers in bands of rows.
template <Scalar T>
[[nodiscard]] DistributedMatrix<T> random_bands(const Communicator& comm, Index rows, Index columns,
                                                std::uint64_t seed) {
  return random_matrix<T>(comm, rows, columns, "rows", seed);
}

/// Hash Views, each in the order of its elements in memory.
template <class... Views> [[nodiscard]] std::string hash_of_views(const Views&... views) {
  Sha256 hash;
  const auto add = [&](const auto& view) {
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, view);
    hash.add_numbers(host.data(), host.span());
  };
  (add(views), ...);
  return hash.digest();
}

/// elements[k] = element(k, 0).
template <class T> struct FillRandom {
  T* elements;
  RandomElement<T> element;
  KOKKOS_INLINE_FUNCTION void operator()(Index k) const { elements[k] = element(k, 0); }
};

/// Make element k of a View, in the order of memory, that of RandomElement in row k and column 0.
template <class View> void fill_random(const View& view, std::uint64_t seed) {
  using T = typename View::non_const_value_type;
  Kokkos::parallel_for(
      "heddle::driver::fill_random",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(0, static_cast<Index>(view.span())),
      FillRandom<T>{view.data(), RandomElement<T>{seed}});
  Kokkos::fence();
}

}  // namespace heddle::driver
