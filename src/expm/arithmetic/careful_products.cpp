// Emulated products whose factors are scaled and probed unless they are evenly scaled.
#include "expm/arithmetic/careful_products.hpp"

#include <utility>
#include <vector>

namespace heddle::impl {
namespace {

GemmOptions emulated(GemmOptions options) {
  // `Arithmetic::automatic` promises no reproducibility.
  if (options.arithmetic == Arithmetic::automatic) options.emulation.fallback = Fallback::native;
  options.arithmetic = Arithmetic::emulated;
  return options;
}

}  // namespace

template <RealScalar T>
CarefulProducts<T>::CarefulProducts(const Communicator& comm, std::unique_ptr<RealProducts<T>> trusted,
                                    const MatrixPool<T>& rows, const MatrixPool<T>& columns, const GemmOptions& options)
    : comm_(comm),
      trusted_(std::move(trusted)),
      rows_(rows),
      columns_(columns),
      options_(emulated(options)),
      scaling_(comm, rows.placement().rows()) {}

template <RealScalar T> bool CarefulProducts<T>::needs_probe(const SharedMatrix<T>& X, const SharedMatrix<T>& Y) {
  if (trust_ == Trust::always) {
    return false;
  }
  return trust_ == Trust::never || !(scaling_.evenly_scaled(X) && scaling_.evenly_scaled(Y));
}

template <RealScalar T>
ProductCost CarefulProducts<T>::multiply(T alpha, const RealFactor<T>& X, const RealFactor<T>& Y, T beta,
                                         const DistributedMatrix<T>& Z) {
  if (!needs_probe(X.matrix, Y.matrix)) {
    return trusted_->multiply(alpha, X, Y, beta, Z);
  }
  if (!plan_) {
    plan_.emplace(comm_, Operation::none, rows_.placement(), Operation::none, columns_.placement(), rows_.placement(),
                  options_);
  }
  const std::vector<int> exponents = scaling_.between(*X.matrix, *Y.matrix);
  WorkMatrix<T> left = rows_.take();
  WorkMatrix<T> right = columns_.take();
  scaling_.scale(*X.matrix, exponents, 1, false, left.write());
  scaling_.scale(*Y.matrix, exponents, -1, true, right.write());
  const GemmReport report = plan_->execute(alpha, *left.read(), *right.read(), beta, Z);
  return {report.gflops * report.seconds * 1e9, report.seconds, true};
}

template class CarefulProducts<float>;
template class CarefulProducts<double>;

}  // namespace heddle::impl
