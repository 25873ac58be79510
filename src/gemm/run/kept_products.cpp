// Products on one rank that keep the residues of their factors.
#include "gemm/run/kept_products.hpp"

#include "comm/vendor/vendor.hpp"
#include "gemm/plan/schedule.hpp"

#include <algorithm>
#include <utility>

namespace heddle::impl {
namespace {

// Whether so many bytes more leave most of the memory free; on CPUs, whose free memory is unknown, at most 1 GiB.
bool leave_room(double bytes) {
  constexpr double little_on_cpus = 0x1p30;
  const auto memory = vendor::memory_info();
  return memory.total > 0 ? bytes <= static_cast<double>(memory.free) / 8.0 : bytes <= little_on_cpus;
}

// body(rows, columns) for the rectangles that make up what is computed of n x n elements.
template <class Body> void for_each_rectangle(Index n, Index tile, const Body& body) {
  if (tile == 0) {
    body(Range{0, n}, Range{0, n});
    return;
  }
  const Index bands = (n + tile - 1) / tile;
  for (Index i = 0; i < bands; ++i) {
    for (Index begin = 0; begin < bands;) {
      Index end = begin;
      while (end < bands && half_holds(i, end, bands)) ++end;
      if (end > begin) {
        body(Range{i * tile, std::min(n, (i + 1) * tile)}, Range{begin * tile, std::min(n, end * tile)});
      }
      begin = end + 1;
    }
  }
}

}  // namespace

template <RealScalar T>
KeptProducts<T>::KeptProducts(const ExecutionSpace& space, Index n, const EmulationOptions& options, std::size_t most)
    : n_(n),
      context_(space),
      product_(space, n, n, moduli_of<T>(n, options), options.workspace_bytes),
      most_(std::max<std::size_t>(2, most)) {
  kept_.reserve(most_);
}

template <RealScalar T> bool KeptProducts<T>::fit(Index n, const EmulationOptions& options) {
  const auto memory = vendor::memory_info();
  return memory.total == 0 ||
         4.0 * QuantisedVectors<T>::bytes(n, n, moduli_of<T>(n, options)) <= static_cast<double>(memory.free) / 3.0;
}

template <RealScalar T> typename KeptProducts<T>::Kept& KeptProducts<T>::free_one() {
  const auto worth = [](const Kept& kept) { return kept.matrix.stale() ? 0 : kept.used; };
  const auto least = std::min_element(kept_.begin(), kept_.end(),
                                      [&](const Kept& one, const Kept& other) { return worth(one) < worth(other); });
  if (least != kept_.end() && worth(*least) == 0) {
    return *least;
  }
  const int moduli = product_.system().count;
  if (kept_.size() < 2 || (kept_.size() < most_ && leave_room(QuantisedVectors<T>::bytes(n_, n_, moduli)))) {
    QuantisedVectors<T> vectors(context_.space(), Factor::right, n_, n_);
    vectors.reserve(context_.space(), moduli);
    return kept_.emplace_back(Kept{{}, false, 0, 0, std::move(vectors)});
  }
  return *least;
}

template <RealScalar T> typename KeptProducts<T>::Kept& KeptProducts<T>::find(const Given& factor, bool rows) {
  ++uses_;
  for (Kept& kept : kept_) {
    if (!kept.matrix.matches(factor.matrix)) continue;
    if (kept.sign == 0) kept.sign = factor.sign;
    if (kept.rows == rows || (rows && kept.sign != 0)) {
      kept.used = uses_;
      return kept;
    }
  }
  Kept& kept = free_one();
  kept.matrix = MatrixStamp<T>(factor.matrix);
  // Columns are read faster.
  kept.rows = rows && factor.sign == 0;
  kept.sign = factor.sign;
  kept.used = uses_;
  const ExecutionSpace& space = context_.space();
  const Operation op = kept.rows ? Operation::transpose : Operation::none;
  kept.vectors.measure(space, op, factor.matrix->local());
  kept.vectors.take(space, product_.system(), EmulationScheme::residues, op, factor.matrix->local());
  return kept;
}

template <RealScalar T>
double KeptProducts<T>::operator()(T alpha, const Given& X, const Given& Y, T beta, const MatrixView<T>& Z,
                                   Index tile) {
  if (n_ == 0) {
    return 0.0;
  }
  const Kept& left = find(X, true);
  const Kept& right = find(Y, false);
  // True if the columns of X replace its rows.
  const bool turned = !left.rows;
  QuantisedOperands<T> operands{turned ? Operation::transpose : Operation::none,
                                Operation::none,
                                X.matrix->local(),
                                Y.matrix->local(),
                                &left.vectors,
                                &right.vectors};
  const T factor = turned && left.sign < 0 ? -alpha : alpha;
  double flops = 0.0;
  for_each_rectangle(n_, tile, [&](const Range& rows, const Range& columns) {
    operands.row = rows.begin;
    operands.column = columns.begin;
    product_(context_, factor, operands, beta, block_of(Z, rows.begin, rows.end, columns.begin, columns.end));
    flops += 2.0 * static_cast<double>(n_) * static_cast<double>(rows.size()) * static_cast<double>(columns.size());
  });
  return flops;
}

template class KeptProducts<float>;
template class KeptProducts<double>;

}  // namespace heddle::impl
