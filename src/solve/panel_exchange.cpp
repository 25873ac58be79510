#include "solve/panel_exchange.hpp"

#include "core/instantiate.hpp"

#include <string>

namespace heddle::impl {
namespace {

constexpr int panel_tag = 11;
constexpr int result_tag = 12;

// Numbers travel as what transports know.
Kokkos::View<double*, MemorySpace> as_doubles(const Kokkos::View<Index*, MemorySpace>& numbers) {
  static_assert(sizeof(Index) == sizeof(double));
  return Kokkos::View<double*, MemorySpace>(reinterpret_cast<double*>(numbers.data()), numbers.extent(0));
}

}  // namespace

template <Scalar T>
PanelExchange<T>::PanelExchange(const Communicator& comm, const LuSchedule& schedule)
    : comm_(comm), schedule_(schedule), transport_(transport_of(comm)) {
  const Index width = 2 * schedule.group * schedule.block;
  const auto memory = [&](const std::string& label) {
    return Kokkos::view_alloc(comm.space(), Kokkos::WithoutInitializing, label);
  };
  storage_ = Kokkos::View<T**, Kokkos::LayoutLeft, MemorySpace>(memory("heddle::solve::panels"), schedule.rows, width);
  kept_ = matrix_view(storage_.data(), schedule.rows, width, schedule.rows);
  for (auto& message : messages_) {
    message = Kokkos::View<T*, MemorySpace>(memory("heddle::solve::message"), schedule.rows * schedule.block);
  }
}

template <Scalar T> MatrixView<T> PanelExchange<T>::panels(Index first, Index last) const {
  const Index begin = slot(first) * schedule_.block;
  return block_of(kept_, 0, schedule_.rows, begin, begin + (schedule_.panel(last - 1).end - first * schedule_.block));
}

template <Scalar T>
void PanelExchange<T>::share(Index p, int owner, const MatrixView<const T>& panel,
                             const Kokkos::View<Index*, MemorySpace>& numbers) {
  const Range columns = schedule_.panel(p);
  const Index rows = schedule_.rows - columns.begin;
  const auto turn = static_cast<std::size_t>(p % 2);
  for (Request& sent : sends_[turn]) sent.wait();
  sends_[turn].clear();
  const auto message = Kokkos::subview(messages_[turn], Kokkos::pair<Index, Index>(0, rows * columns.size()));
  const MatrixView<T> packed = matrix_view(message.data(), rows, columns.size(), rows);
  const auto packed_numbers = as_doubles(numbers);
  if (rank() == owner) {
    copy_elements<T>(comm_.space(), "heddle::solve::pack_panel", panel, packed);
    for (int other = 0; other < comm_.size(); ++other) {
      if (other == owner) continue;
      sends_[turn].push_back(
          transport_.send<double>(Kokkos::View<const double*, MemorySpace>(packed_numbers), other, result_tag));
      sends_[turn].push_back(transport_.send<T>(Kokkos::View<const T*, MemorySpace>(message), other, panel_tag));
    }
  } else {
    Request numbers_here = transport_.receive<double>(packed_numbers, owner, result_tag);
    Request panel_here = transport_.receive<T>(Kokkos::View<T*, MemorySpace>(message), owner, panel_tag);
    numbers_here.wait();
    panel_here.wait();
  }
  const MatrixView<T> place = panels(p, p + 1);
  copy_elements<T>(comm_.space(), "heddle::solve::unpack_panel", packed,
                   block_of(place, columns.begin, schedule_.rows, 0, columns.size()));
  transport_.progress();
}

#define HEDDLE_INSTANTIATE(T) template class PanelExchange<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
