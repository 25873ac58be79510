#include "expm/dense/results.hpp"

#include "dist/elementwise.hpp"

#include <limits>
#include <utility>

namespace heddle::impl {
namespace {

// to = (begun ? to : identity I) + first + second, in this order; `second` may be null. Row bands, `first_row` being
// the global number of the first local one.
template <RealScalar T>
void add_terms(const ExecutionSpace& space, bool begun, T identity, Index first_row, const MatrixView<T>& first,
               const MatrixView<T>* second, const MatrixView<T>& target) {
  const bool both = second != nullptr;
  const Elements<T> a(first);
  const Elements<T> b(both ? *second : first);
  const Elements<T> to(target);
  for_each_run(
      space, "heddle::expm::add_terms", static_cast<Index>(target.extent(0)), static_cast<Index>(target.extent(1)),
      KOKKOS_LAMBDA(Index j, Index begin, Index end) {
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

// to = from (the same elements, where `in_place`), and `bad` becomes 1 where one of them is not finite.
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

template <RealScalar T> void SeriesSum<T>::add(const Part<T>& term) {
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
  const MatrixView<T>& first = waiting_[0]->local();
  const Index first_row = target_->local().extent(0) > 0 ? target_->global_row(0) : 0;
  add_terms<T>(target_->communicator().space(), begun_, identity_, first_row, first,
               count_ == 2 ? &waiting_[1]->local() : nullptr, target_->local());
  begun_ = true;
  waiting_ = {};
  count_ = 0;
}

template <RealScalar T> Part<T> SeriesSum<T>::finish() {
  if (count_ > 0) {
    add_waiting();
  }
  if (!begun_) {
    if (identity_ == T{0}) {
      return {};
    }
    Part<T> result = arithmetic_->combine(identity_, {}, {}).real;
    if (!target_) {
      return result;
    }
    copy(*result, *target_);
  }
  return target_;
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

template <RealScalar T> void Delivery<T>::hand_out(const Part<T>& part, const DistributedMatrix<T>& to) {
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
