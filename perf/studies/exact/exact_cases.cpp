// The operations that `heddle study exact` times.
#include "studies/exact/exact_cases.hpp"

#include "studies/exact/exact_peers.hpp"
#include <heddle/core/random.hpp>
#include <heddle/exact/lu.hpp>

#include <memory>

namespace heddle::driver {
namespace {

constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible;
constexpr Index narrow = 256;
constexpr Index batch = 64;

using exact::Algorithm;
template <Scalar T> using Columns = Kokkos::View<T**, Kokkos::LayoutLeft, MemorySpace>;
template <Scalar T> using Batch = Kokkos::View<T***, Kokkos::LayoutRight, MemorySpace>;

// Numbers between -1 and 1 with all their digits, times powers of two from 2^-range to 1.
template <Scalar T> struct SpreadElement {
  std::uint64_t seed;
  int range;

  KOKKOS_FUNCTION T operator()(Index at) const {
    if constexpr (is_complex<T>) {
      return T(part(2 * static_cast<std::uint64_t>(at)), part(2 * static_cast<std::uint64_t>(at) + 1));
    } else {
      return part(static_cast<std::uint64_t>(at));
    }
  }

 private:
  KOKKOS_FUNCTION Real<T> part(std::uint64_t at) const {
    const std::uint64_t bits = mixed_bits(golden_step + mixed_bits(golden_step + seed) + at);
    const double number = unit_from(bits);
    const double share = static_cast<double>(mixed_bits(bits) >> 11U) * 0x1p-53;
    return static_cast<Real<T>>(number * Kokkos::exp2(Kokkos::floor(-share * range)));
  }
};

template <Scalar T>
Columns<T> random_numbers(const ExecutionSpace& space, Index rows, Index columns, int range, std::uint64_t seed) {
  const Columns<T> A(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::study::numbers"),
                     static_cast<std::size_t>(rows), static_cast<std::size_t>(columns));
  const SpreadElement<T> element{seed, range};
  Kokkos::parallel_for(
      "heddle::study::fill", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, rows * columns),
      KOKKOS_LAMBDA(Index at) { A(at % rows, at / rows) = element(at); });
  space.fence("heddle::study::fill");
  return A;
}

// Add to the diagonal, so that the solutions of systems do not grow.
template <Scalar T> void add_to_diagonal(const ExecutionSpace& space, const Columns<T>& A, double by) {
  Kokkos::parallel_for(
      "heddle::study::diagonal",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, static_cast<Index>(A.extent(0))),
      KOKKOS_LAMBDA(Index i) { A(i, i) = A(i, i) + T(static_cast<Real<T>>(by)); });
  space.fence("heddle::study::diagonal");
}

template <Scalar T> void append(std::vector<double>& all, const T& value) {
  if constexpr (is_complex<T>) {
    all.push_back(static_cast<double>(value.real()));
    all.push_back(static_cast<double>(value.imag()));
  } else {
    all.push_back(static_cast<double>(value));
  }
}
template <class View> std::vector<double> numbers_of(const View& view) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
  std::vector<double> all;
  for (std::size_t k = 0; k < host.span(); ++k) append(all, host.data()[k]);
  return all;
}

// Return the peers, which run on CPUs alone.
template <Scalar T> auto peers_of(std::string operation, const ExactOperands<T>& operands) {
  return [=](std::string_view peer) { return on_host ? by_peer(peer, operation, operands) : std::function<void()>(); };
}

template <Scalar T> ExactCase reduction(const ExecutionSpace& space, bool is_dot, Index n, int range) {
  const Columns<T> x = random_numbers<T>(space, n, 1, range, 1);
  const Columns<T> y = random_numbers<T>(space, is_dot ? n : 0, 1, range, 2);
  const auto result = std::make_shared<T>();
  return {[] {},
          [=](Algorithm algorithm) {
            const auto left = Kokkos::subview(x, Kokkos::ALL, 0);
            *result = is_dot ? exact::dot(space, left, Kokkos::subview(y, Kokkos::ALL, 0), algorithm)
                             : exact::sum(space, left, algorithm);
          },
          [=] {
            std::vector<double> all;
            append(all, *result);
            return all;
          },
          peers_of<T>(is_dot ? "dot" : "sum", {n, n, 1, x.data(), y.data(), result.get()})};
}

template <Scalar T>
ExactCase product(const ExecutionSpace& space, std::string_view operation, Index m, Index n, Index columns, int range) {
  const Columns<T> A = random_numbers<T>(space, m, n, range, 1);
  const Columns<T> X = random_numbers<T>(space, n, columns, range, 2);
  const Columns<T> Y("heddle::study::result", static_cast<std::size_t>(m), static_cast<std::size_t>(columns));
  return {[] {},
          [=](Algorithm algorithm) {
            exact::gemm(space, Operation::none, Operation::none, T(1), A, X, T(0), Y, algorithm);
            space.fence("heddle::study::product");
          },
          [=] { return numbers_of(Y); },
          peers_of<T>(std::string(operation), {m, n, columns, A.data(), X.data(), Y.data()})};
}

template <Scalar T> ExactCase triangular_system(const ExecutionSpace& space, Index n, int range) {
  const Columns<T> A = random_numbers<T>(space, n, n, range, 1);
  add_to_diagonal(space, A, static_cast<double>(n));
  const Columns<T> b = random_numbers<T>(space, n, 1, range, 2);
  const Columns<T> x("heddle::study::result", b.extent(0), 1);
  return {[=] { Kokkos::deep_copy(x, b); },
          [=](Algorithm algorithm) {
            exact::trsv(space, Triangle::lower, Operation::none, Diagonal::stored, A,
                        Kokkos::subview(x, Kokkos::ALL, 0), 0, algorithm);
          },
          [=] { return numbers_of(x); }, peers_of<T>("trsv", {n, n, 1, A.data(), nullptr, x.data()})};
}

template <Scalar T> ExactCase factorization(const ExecutionSpace& space, bool blocked, Index n, int range) {
  const Columns<T> A = random_numbers<T>(space, n, n, range, 1);
  const Columns<T> LU("heddle::study::result", A.extent(0), A.extent(1));
  return {[=] { Kokkos::deep_copy(LU, A); },
          [=](Algorithm algorithm) { exact::lu(space, LU, {.block = blocked ? 0 : 1, .algorithm = algorithm}); },
          [=] { return numbers_of(LU); },
          peers_of<T>(blocked ? "lu" : "lu-unblocked", {n, n, n, nullptr, nullptr, LU.data()})};
}

template <Scalar T> ExactCase factorizations(const ExecutionSpace& space, Index n, int range) {
  const Columns<T> numbers = random_numbers<T>(space, batch * n, n, range, 1);
  const auto order = static_cast<std::size_t>(n);
  const Batch<T> A("heddle::study::batch", batch, order, order);
  Kokkos::parallel_for(
      "heddle::study::fill", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(space, 0, batch * n * n),
      KOKKOS_LAMBDA(Index at) { A.data()[at] = numbers.data()[at]; });
  space.fence("heddle::study::fill");
  const Batch<T> LU("heddle::study::result", batch, order, order);
  return {[=] { Kokkos::deep_copy(LU, A); }, [=](Algorithm) { exact::lu_batched(space, LU); },
          [=] { return numbers_of(LU); }, [](std::string_view) { return std::function<void()>(); }};
}

}  // namespace

const std::vector<std::string>& exact_operations() {
  static const std::vector<std::string> names = {"sum",  "dot", "gemv",         "gemv-tall",  "gemv-wide",
                                                 "trsv", "lu",  "lu-unblocked", "lu-batched", "gemm"};
  return names;
}

bool is_of_vectors(std::string_view operation) {
  return operation == "sum" || operation == "dot";
}

bool is_studied(std::string_view operation, Index n) {
  return operation != "lu-batched" || n <= 512;
}

bool has_algorithm(std::string_view operation, Algorithm algorithm) {
  if (algorithm == Algorithm::automatic) return true;
  // Only the automatic algorithm has blocks and batches.
  if (operation == "lu-batched") return false;
  if (operation == "lu") return exact::lu_takes(algorithm) && algorithm == Algorithm::plain;
  if (operation == "lu-unblocked") return exact::lu_takes(algorithm);
  return operation != "trsv" || exact::trsv_takes(algorithm);
}

template <Scalar T> ExactCase exact_case(const Communicator& comm, std::string_view operation, Index n, int range) {
  const ExecutionSpace& space = comm.space();
  if (is_of_vectors(operation)) return reduction<T>(space, operation == "dot", n, range);
  if (operation == "gemv") return product<T>(space, operation, n, n, 1, range);
  if (operation == "gemv-tall") return product<T>(space, operation, n, narrow, 1, range);
  if (operation == "gemv-wide") return product<T>(space, operation, narrow, n, 1, range);
  if (operation == "gemm") return product<T>(space, operation, n, n, n, range);
  if (operation == "trsv") return triangular_system<T>(space, n, range);
  if (operation == "lu-batched") return factorizations<T>(space, n, range);
  return factorization<T>(space, operation == "lu", n, range);
}

template ExactCase exact_case<float>(const Communicator&, std::string_view, Index, int);
template ExactCase exact_case<double>(const Communicator&, std::string_view, Index, int);
template ExactCase exact_case<Kokkos::complex<float>>(const Communicator&, std::string_view, Index, int);
template ExactCase exact_case<Kokkos::complex<double>>(const Communicator&, std::string_view, Index, int);

}  // namespace heddle::driver
