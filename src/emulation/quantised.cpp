// Quantisation of bands of op(A) and op(B) to residues of integers.
#include "core/elementwise.hpp"
#include "core/instantiate.hpp"
#include "emulation/planes.hpp"

#include <Kokkos_Profiling_ScopedRegion.hpp>

namespace heddle::impl {
namespace {

// Length of a piece of a vector. Statistics of pieces are joined by exact operations, so in any order.
constexpr Index piece_length = on_host ? 256 : 64;
constexpr Index vectors_abreast = on_host ? 16 : 1;

// body(first, count, begin, end): elements begin ... end of `count` neighbouring vectors.
template <class Body>
void for_each_piece(const ExecutionSpace& space, const std::string& label, Index vectors, Index inner,
                    const Body& body) {
  const Index pieces = (inner + piece_length - 1) / piece_length;
  const Index groups = (vectors + vectors_abreast - 1) / vectors_abreast;
  for_each_element(
      space, label, groups, pieces, KOKKOS_LAMBDA(Index group, Index piece) {
        const Index first = group * vectors_abreast;
        const Index begin = piece * piece_length;
        body(first, first + vectors_abreast < vectors ? vectors_abreast : vectors - first, begin,
             begin + piece_length < inner ? begin + piece_length : inner);
      });
}

template <Scalar T>
void find_largest(const ExecutionSpace& space, const VectorsOf<T>& x, Index vectors, Index inner,
                  const Kokkos::View<std::uint64_t*, MemorySpace>& largest) {
  for_each_piece(
      space, "heddle::gemm::find_largest", vectors, inner,
      KOKKOS_LAMBDA(Index first, Index count, Index begin, Index end) {
        std::uint64_t most[vectors_abreast] = {};
        for (Index k = begin; k < end; ++k) {
          for (Index v = 0; v < count; ++v) {
            const std::uint64_t bits = magnitude_bits(x(first + v, k));
            most[v] = bits > most[v] ? bits : most[v];
          }
        }
        for (Index v = 0; v < count; ++v) {
          if (most[v] != 0) Kokkos::atomic_max(&largest(first + v), most[v]);
        }
      });
}

template <Scalar T>
void add_squares(const ExecutionSpace& space, const VectorsOf<T>& x, Index vectors, Index inner,
                 const Kokkos::View<std::uint64_t*, MemorySpace>& largest,
                 const Kokkos::View<std::uint64_t*, MemorySpace>& squares) {
  for_each_piece(
      space, "heddle::gemm::add_squares", vectors, inner,
      KOKKOS_LAMBDA(Index first, Index count, Index begin, Index end) {
        std::uint64_t sum[vectors_abreast] = {};
        int exponent[vectors_abreast] = {};
        for (Index v = 0; v < count; ++v) exponent[v] = exponent_of(largest(first + v));
        for (Index k = begin; k < end; ++k) {
          for (Index v = 0; v < count; ++v) sum[v] += coarse_square(x(first + v, k), exponent[v]);
        }
        for (Index v = 0; v < count; ++v) {
          if (sum[v] != 0) Kokkos::atomic_add(&squares(first + v), sum[v]);
        }
      });
}

// Both statistics of contiguous vectors on GPUs, with a team for each vector.
template <Scalar T>
void measure_columns(const ExecutionSpace& space, const VectorsOf<T>& x, Index vectors, Index inner,
                     const Kokkos::View<std::uint64_t*, MemorySpace>& largest,
                     const Kokkos::View<std::uint64_t*, MemorySpace>& squares) {
  using Policy = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::IndexType<Index>>;
  Kokkos::parallel_for(
      "heddle::gemm::measure_columns", Policy(space, static_cast<int>(vectors), 256),
      KOKKOS_LAMBDA(const typename Policy::member_type& team) {
        const Index v = team.league_rank();
        std::uint64_t most = 0;
        Kokkos::parallel_reduce(
            Kokkos::TeamThreadRange(team, inner),
            [&](Index k, std::uint64_t& local) {
              const std::uint64_t bits = magnitude_bits(x(v, k));
              local = bits > local ? bits : local;
            },
            Kokkos::Max<std::uint64_t>(most));
        const int exponent = exponent_of(most);
        std::uint64_t sum = 0;
        Kokkos::parallel_reduce(
            Kokkos::TeamThreadRange(team, inner),
            [&](Index k, std::uint64_t& local) { local += coarse_square(x(v, k), exponent); }, sum);
        Kokkos::single(Kokkos::PerTeam(team), [&]() {
          largest(v) = most;
          squares(v) = sum;
        });
      });
}

// Store run after run, of as many vectors together as share the cache lines that they are read from.
template <class Work> void store_runs(const ExecutionSpace& space, const std::string& label, const Work& work) {
  for_each_element(
      space, label, work.leading / run_length, work.padded / vectors_abreast, KOKKOS_LAMBDA(Index number, Index group) {
        const Index begin = number * run_length;
        for (Index v = group * vectors_abreast; v < (group + 1) * vectors_abreast; ++v) {
          const int s = work.exponent(v);
          typename Work::Element run[run_length];
          for (Index k = 0; k < run_length; ++k) run[k] = work.element(v, begin + k, s);
          work.store(run, v, begin, s);
        }
      });
}

// The same for vectors that are rows, on GPUs: through scratch memory, so that both reads and writes are contiguous.
template <class Work> void store_rows(const ExecutionSpace& space, const std::string& label, const Work& work) {
  using T = typename Work::Element;
  constexpr int rows = 32;
  constexpr int length = is_complex<T> ? 64 : 128;
  constexpr int runs = length / static_cast<int>(run_length);
  using Policy = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::IndexType<Index>>;
  using Scratch = Kokkos::View<T[rows][length + 1], typename ExecutionSpace::scratch_memory_space,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  const Index groups = (work.padded + rows - 1) / rows;
  const Index pieces = (work.leading + length - 1) / length;
  Policy policy(space, static_cast<int>(groups * pieces), 256);
  policy.set_scratch_size(0, Kokkos::PerTeam(Scratch::shmem_size()));
  Kokkos::parallel_for(
      label, policy, KOKKOS_LAMBDA(const typename Policy::member_type& team) {
        const Scratch block(team.team_scratch(0));
        const Index first = team.league_rank() % groups * rows;
        const Index begin = team.league_rank() / groups * length;
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, static_cast<int>(rows * length)), [&](int e) {
          const int row = e % rows;
          const int k = e / rows;
          block(row, k) = work.element(first + row, begin + k, work.exponent(first + row));
        });
        team.team_barrier();
        Kokkos::parallel_for(Kokkos::TeamThreadRange(team, static_cast<int>(rows * runs)), [&](int e) {
          const int row = e / runs;
          const int at = e % runs * run_length;
          if (first + row < work.padded && begin + at < work.leading) {
            T run[run_length];
            for (int k = 0; k < run_length; ++k) run[k] = block(row, at + k);
            work.store(run, first + row, begin + at, work.exponent(first + row));
          }
        });
      });
}

}  // namespace

template <Scalar T>
QuantisedVectors<T>::QuantisedVectors(const ExecutionSpace& space, Factor factor, Index most_vectors, Index inner)
    : factor_(factor),
      most_vectors_(most_vectors),
      leading_(padded(inner, inner_padding)),
      exponents_(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::gemm::exponents"),
                 static_cast<std::size_t>(most_vectors)),
      largest_(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::gemm::largest"),
               static_cast<std::size_t>(most_vectors)),
      squares_(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::gemm::squares"),
               static_cast<std::size_t>(most_vectors)) {}

template <Scalar T> void QuantisedVectors<T>::reserve(const ExecutionSpace& space, int moduli) {
  reserve(space, most_vectors_, ResidueSystem::planes(field_of<T>, moduli));
}
template <Scalar T> void QuantisedVectors<T>::reserve(const ExecutionSpace& space, Index vectors, int planes) {
  grow(space, "heddle::gemm::residues", padded(vectors, vector_padding) * leading_ * planes, residues_);
}

template <Scalar T> bool QuantisedVectors<T>::by_rows(Operation op) const {
  return (op == Operation::none) == (factor_ == Factor::left);
}

// Set the sizes to those of X, whose vectors are those from `first` on.
template <Scalar T> void QuantisedVectors<T>::show(const MatrixView<const T>& X, Operation op, Index first) {
  first_ = first;
  vectors_ = static_cast<Index>(X.extent(by_rows(op) ? 0 : 1));
  inner_ = static_cast<Index>(X.extent(by_rows(op) ? 1 : 0));
  padded_ = padded(vectors_, vector_padding);
}

template <Scalar T>
void QuantisedVectors<T>::measure(const ExecutionSpace& space, Operation op, const MatrixView<const T>& X) {
  show(X, op, 0);
  const VectorsOf<T> x(X, !by_rows(op));
  if (by_rows(op) || on_host) {
    Kokkos::deep_copy(space, largest_, std::uint64_t{0});
    Kokkos::deep_copy(space, squares_, std::uint64_t{0});
    find_largest(space, x, vectors_, inner_, largest_);
    add_squares(space, x, vectors_, inner_, largest_, squares_);
  } else {
    measure_columns(space, x, vectors_, inner_, largest_, squares_);
  }
}

template <Scalar T>
template <class Work>
void QuantisedVectors<T>::store(const ExecutionSpace& space, const std::string& label, Operation op,
                                const Work& work) const {
  if constexpr (on_host) {
    store_runs(space, label, work);
  } else {
    by_rows(op) ? store_rows(space, label, work) : store_runs(space, label, work);
  }
}

template <Scalar T>
void QuantisedVectors<T>::take(const ExecutionSpace& space, const ResidueSystem& system, EmulationScheme scheme,
                               Operation op, const MatrixView<const T>& X, Index first) {
  const Kokkos::Profiling::ScopedRegion region("heddle::gemm::quantise");
  show(X, op, first);
  const double square_of_reach = square_of_reach_for(system, inner_);
  const auto largest = largest_;
  const auto squares = squares_;
  const auto exponents = exponents_;
  Kokkos::parallel_for(
      "heddle::gemm::find_exponents",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, first_, first_ + vectors_),
      KOKKOS_LAMBDA(Index v) {
        exponents(v) = largest(v) >= Format<double>::exponent_mask
                           ? special
                           : scale_of(squares(v), exponent_of(largest(v)), square_of_reach);
      });
  const Planes<T> planes{VectorsOf<T>(X, !by_rows(op)), vectors_, inner_, leading_, padded_, residues_.data(),
                         exponents_.data() + first_};
  const bool conjugated = op == Operation::conjugate_transpose;
  scheme_ = scheme;
  if (scheme == EmulationScheme::slices) {
    store(space, "heddle::gemm::make_slices", op, Slices<T>{planes, conjugated, slices_for(system.reach)});
    return;
  }
  const std::string label = "heddle::gemm::make_residues";
  // Integers below 2^55.1 with 14 moduli (of complex numbers 15), 2^87 with 22 (24), 2^117 with all.
  if (system.log2_product < 112.0) {
    store(space, label, op, Residues<T, 0>{planes, conjugated, system});
  } else if (system.log2_product < 174.0) {
    store(space, label, op, Residues<T, 1>{planes, conjugated, system});
  } else {
    store(space, label, op, Residues<T, 2>{planes, conjugated, system});
  }
}

template <Scalar T>
void QuantisedVectors<T>::take_leading(const ExecutionSpace& space, int width, Operation op,
                                       const MatrixView<const T>& X) {
  show(X, op, 0);
  const auto largest = largest_;
  const auto exponents = exponents_;
  Kokkos::parallel_for(
      "heddle::gemm::find_exponents", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, vectors_),
      KOKKOS_LAMBDA(Index v) {
        exponents(v) = largest(v) >= Format<double>::exponent_mask ? special : exponent_of(largest(v));
      });
  const Planes<T> planes{
      VectorsOf<T>(X, !by_rows(op)), vectors_, inner_, leading_, padded_, residues_.data(), exponents_.data()};
  store(space, "heddle::gemm::make_leading_bits", op, LeadingBits<T>{planes, width});
}

#define HEDDLE_INSTANTIATE(T) template class QuantisedVectors<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
