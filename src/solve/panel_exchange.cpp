#include "solve/panel_exchange.hpp"

#include "core/instantiate.hpp"

#include <string>

namespace heddle::impl {
namespace {

constexpr int panel_tag = 11;
constexpr int result_tag = 12;

// Numbers travel as what transports know.
MatrixView<double> as_doubles(const Kokkos::View<Index*, MemorySpace>& numbers) {
  static_assert(sizeof(Index) == sizeof(double));
  const auto count = static_cast<Index>(numbers.extent(0));
  return matrix_view(reinterpret_cast<double*>(numbers.data()), count, 1, count);
}

}  // namespace

template <Scalar T>
PanelExchange<T>::PanelExchange(const Communicator& comm, const LuSchedule& schedule)
    : comm_(comm), schedule_(schedule), transport_(transport_of(comm)) {
  const Index width = kept_panels(schedule) * schedule.block;
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

template <Scalar T> MatrixView<T> PanelExchange<T>::message(Index p) const {
  const Range columns = schedule_.panel(p);
  const Index rows = schedule_.rows - columns.begin;
  return matrix_view(messages_[static_cast<std::size_t>(p % 2)].data(), rows, columns.size(), rows);
}

template <Scalar T>
void PanelExchange<T>::begin(Index p, int owner, const MatrixView<const T>& panel,
                             const Kokkos::View<Index*, MemorySpace>& numbers, const ExecutionSpace& space) {
  auto& sends = sends_[static_cast<std::size_t>(p % 2)];
  for (Request& sent : sends) sent.wait();
  sends.clear();
  const MatrixView<T> packed = message(p);
  const MatrixView<double> packed_numbers = as_doubles(numbers);
  if (rank() != owner) {
    receives_.push_back(transport_.receive<double>(packed_numbers, owner, result_tag));
    receives_.push_back(transport_.receive<T>(packed, owner, panel_tag));
    return;
  }
  copy_elements<T>(space, "heddle::solve::pack_panel", panel, packed);
  packed_ = Event::on(space);
  for (int other = 0; other < comm_.size(); ++other) {
    if (other == owner) continue;
    sends.push_back(transport_.send<double>(MatrixView<const double>(packed_numbers), other, result_tag, packed_));
    sends.push_back(transport_.send<T>(MatrixView<const T>(packed), other, panel_tag, packed_));
  }
}

template <Scalar T> void PanelExchange<T>::end(Index p) {
  for (Request& received : receives_) received.wait();
  receives_.clear();
  packed_.before(comm_.space());
  packed_ = {};
  const Range columns = schedule_.panel(p);
  copy_elements<T>(comm_.space(), "heddle::solve::unpack_panel", message(p),
                   block_of(panels(p, p + 1), columns.begin, schedule_.rows, 0, columns.size()));
  transport_.progress();
}

#define HEDDLE_INSTANTIATE(T) template class PanelExchange<T>
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl
