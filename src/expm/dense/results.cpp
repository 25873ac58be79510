// Sums of the terms of a series in pairs, and delivery of results with a test for NaN and infinity.
#include "expm/dense/results.hpp"

#include "core/elementwise.hpp"

#include <limits>
#include <utility>

namespace heddle::impl {
namespace {

// target = (begun ? target : identity I) + first + second, in this order, in row bands. An empty `second` is zero.
template <RealScalar T>
void add_terms(bool begun, T identity, const SharedMatrix<T>& first, const SharedMatrix<T>& second,
               const DistributedMatrix<T>& target) {
  const MatrixView<T>& local = target.local();
  const Index first_row = local.extent(0) > 0 ? target.global_row(0) : 0;
  const bool both = static_cast<bool>(second);
  const Elements<T> a(first->local());
  const Elements<T> b((both ? second : first)->local());
  const Elements<T> to(local);
  for_each_run(
      target.communicator().space(), "heddle::expm::add_terms", static_cast<Index>(local.extent(0)),
      static_cast<Index>(local.extent(1)), KOKKOS_LAMBDA(Index j, Index begin, Index end) {
        if (begun && both) {
          for (Index i = begin; i < end; ++i) {
            to(i, j) = (to(i, j) + a(i, j)) + b(i, j);
          }
        } else if (begun) {
          for (Index i = begin; i < end; ++i) {
            to(i, j) = to(i, j) + a(i, j);
          }
        } else {
          for (Index i = begin; i < end; ++i) {
            const T sum = (i + first_row == j ? identity : T(0)) + a(i, j);
            to(i, j) = both ? sum + b(i, j) : sum;
          }
        }
      });
}

// to = from (unless `in_place`: the same elements), and `bad` becomes 1 if one of them is not finite.
template <RealScalar T>
void copy_checked(const ExecutionSpace& space, const MatrixView<T>& from, bool in_place, const MatrixView<T>& to,
                  const Kokkos::View<int, MemorySpace>& bad) {
  const Elements<T> source(from);
  const Elements<T> target(to);
  const T largest = std::numeric_limits<T>::max();
  for_each_run(
      space, "heddle::expm::copy_checked", static_cast<Index>(to.extent(0)), static_cast<Index>(to.extent(1)),
      KOKKOS_LAMBDA(Index j, Index begin, Index end) {
        int found = 0;
        for (Index i = begin; i < end; ++i) {
          found |= static_cast<int>(!(Kokkos::abs(source(i, j)) <= largest));
        }
        if (!in_place) {
          for (Index i = begin; i < end; ++i) {
            target(i, j) = source(i, j);
          }
        }
        if (found != 0) {
          Kokkos::atomic_store(bad.data(), 1);
        }
      });
}

}  // namespace

template <RealScalar T> void SeriesSum<T>::add(const SharedMatrix<T>& term) {
  if (!term) {
    return;
  }
  waiting_[count_++] = term;
  if (count_ == waiting_.size()) {
    add_waiting();
  }
}

template <RealScalar T> void SeriesSum<T>::add_waiting() {
  if (!target_) {
    target_ = arithmetic_->take();
  }
  add_terms<T>(begun_, identity_, waiting_[0], waiting_[1], target_.write());
  begun_ = true;
  waiting_ = {};
  count_ = 0;
}

template <RealScalar T> WorkMatrix<T> SeriesSum<T>::finish() {
  if (count_ > 0) {
    add_waiting();
  }
  if (!begun_) {
    if (identity_ == T{0}) {
      return {};
    }
    WorkMatrix<T> result = arithmetic_->combine(identity_, {}, {}).real;
    if (!target_) {
      return result;
    }
    copy(*result.read(), target_.write());
  }
  return std::move(target_);
}

template <RealScalar T>
Delivery<T>::Delivery(const Communicator& comm)
    : comm_(comm),
      bad_(Kokkos::view_alloc(comm.space(), Kokkos::WithoutInitializing, "heddle::expm::not_finite")),
      host_bad_(Kokkos::create_mirror_view(
          Kokkos::view_alloc(Kokkos::WithoutInitializing, Kokkos::SharedHostPinnedSpace{}), bad_)) {}

template <RealScalar T> void Delivery<T>::begin() {
  Kokkos::deep_copy(comm_.space(), bad_, 0);
}

template <RealScalar T> void Delivery<T>::hand_out(const SharedMatrix<T>& part, const DistributedMatrix<T>& to) {
  if (!part) {
    fill(to, T{0});
    return;
  }
  const bool moves = part->placement() != to.placement();
  const bool in_place = moves || part->local().data() == to.local().data();
  copy_checked<T>(comm_.space(), part->local(), in_place, in_place ? part->local() : to.local(), bad_);
  if (moves) {
    redistribute(*part, to);
  }
}

template <RealScalar T> bool Delivery<T>::finite() {
  Kokkos::deep_copy(comm_.space(), host_bad_, bad_);
  comm_.space().fence("heddle::expm::not_finite");
  return comm_.all_reduce(host_bad_(), Reduction::maximum) == 0;
}

template class SeriesSum<float>;
template class SeriesSum<double>;
template class Delivery<float>;
template class Delivery<double>;

}  // namespace heddle::impl
