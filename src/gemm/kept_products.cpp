#include "gemm/kept_products.hpp"

#include "comm/vendor.hpp"
#include "gemm/schedule.hpp"

#include <algorithm>

namespace heddle::impl {
namespace {

// Residues of as many matrices: two factors of a product, and what the next ones share with it.
constexpr std::size_t most_kept = 4;

// As many as a third of the free memory takes; all of them where nobody knows how much that is.
template <RealScalar T> std::size_t kept_in_memory(Index n, int moduli) {
  using Vectors = QuantisedVectors<T>;
  const auto memory = vendor::memory_info();
  if (memory.total == 0) {
    return most_kept;
  }
  const auto each = static_cast<std::size_t>(padded(n, Vectors::vector_padding) * padded(n, Vectors::inner_padding)) *
                    static_cast<std::size_t>(moduli);
  return std::min(most_kept, memory.free / 3 / std::max<std::size_t>(each, 1));
}

template <class T> bool same(const std::weak_ptr<T>& one, const std::shared_ptr<T>& other) {
  return !one.owner_before(other) && !other.owner_before(one);
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
KeptProducts<T>::KeptProducts(const ExecutionSpace& space, Index n, const EmulationOptions& options)
    : n_(n),
      context_(space),
      product_(space, n, n, moduli_of<T>(n, options), options.workspace_bytes),
      most_(std::max<std::size_t>(2, kept_in_memory<T>(n, moduli_of<T>(n, options)))) {
  kept_.reserve(most_);
}

template <RealScalar T> bool KeptProducts<T>::fit(Index n, const EmulationOptions& options) {
  return kept_in_memory<T>(n, moduli_of<T>(n, options)) >= 2;
}

template <RealScalar T> typename KeptProducts<T>::Kept& KeptProducts<T>::find(const Given& factor, bool rows) {
  ++uses_;
  for (Kept& kept : kept_) {
    if (!same(kept.matrix, factor.matrix)) continue;
    if (kept.sign == 0) kept.sign = factor.sign;
    if (kept.rows == rows || (rows && kept.sign != 0)) {
      kept.used = uses_;
      return kept;
    }
  }
  const ExecutionSpace& space = context_.space();
  if (kept_.size() < most_) {
    kept_.push_back({{}, false, 0, 0, {space, Factor::right, n_, n_}});
    kept_.back().vectors.reserve(space, product_.system().count);
  }
  // What nobody holds any more goes first, then what was used longest ago.
  const auto worth = [](const Kept& kept) { return kept.matrix.expired() ? 0 : kept.used; };
  Kept& kept = *std::min_element(kept_.begin(), kept_.end(),
                                 [&](const Kept& one, const Kept& other) { return worth(one) < worth(other); });
  kept.matrix = factor.matrix;
  // Columns are read faster.
  kept.rows = rows && factor.sign == 0;
  kept.sign = factor.sign;
  kept.used = uses_;
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
  // Columns of X for its rows.
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

template <RealScalar T> void KeptProducts<T>::forget(const Matrix& matrix) {
  for (Kept& kept : kept_) {
    if (same(kept.matrix, matrix)) kept.matrix.reset();
  }
}

template <RealScalar T> void KeptProducts<T>::forget_all() {
  for (Kept& kept : kept_) kept.matrix.reset();
}

template class KeptProducts<float>;
template class KeptProducts<double>;

}  // namespace heddle::impl
