// Products of matrices in host memory on the device, by slabs that its memory holds.
#include "interpose/device/slabs.hpp"

#include "core/elementwise.hpp"
#include "core/instantiate.hpp"
#include "emulation/emulated.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace heddle::impl::interpose {
namespace {

template <Scalar T> std::byte* bytes_of(const T* data) {
  return reinterpret_cast<std::byte*>(const_cast<T*>(data));
}
template <Scalar T> constexpr double size_of = static_cast<double>(sizeof(T));

/// Rows of op(A) and columns of op(B) that are on the device together, and columns of C that are computed at once.
struct Extents {
  Index rows;
  Index columns;
  Index panel;
  [[nodiscard]] bool operator==(const Extents&) const = default;
};

// Panels of C that are worth a copy of their own, so that copies and products overlap.
template <Scalar T> Index panel_of(Index rows, Index columns) {
  constexpr double worth = 0x1p26;
  constexpr Index tile = 192;
  const double bytes = static_cast<double>(rows) * static_cast<double>(columns) * size_of<T>;
  const auto panels = static_cast<Index>(std::clamp(bytes / worth, 1.0, 8.0));
  return panels == 1 ? columns : std::min(columns, padded((columns + panels - 1) / panels, tile));
}

constexpr Index tiles_at_once = 3;

template <Scalar T> double bytes_of(const Extents& part, Index inner, int moduli) {
  using Vectors = QuantisedVectors<T>;
  const double elements = static_cast<double>(part.rows + part.columns) * static_cast<double>(inner) +
                          static_cast<double>(tiles_at_once * part.rows * part.panel);
  return elements * size_of<T> + Vectors::bytes(part.rows, inner, moduli) +
         bytes_of_right<T>(part.columns, part.panel, inner, moduli, {}) +
         EmulatedProduct<T>::bytes_of_sums(part.rows, part.panel, moduli);
}

// The largest parts that fit; none of no rows.
template <Scalar T> Extents extents_for(const Product<T>& product, int moduli, double memory) {
  constexpr Index least = 16;
  Extents part{product.m, product.n, panel_of<T>(product.m, product.n)};
  while (bytes_of<T>(part, product.k, moduli) > memory) {
    if (part.rows <= least && part.columns <= least) return {0, 0, 0};
    Index& longer = part.rows > part.columns ? part.rows : part.columns;
    longer = padded((longer + 1) / 2, least);
    part.panel = panel_of<T>(part.rows, part.columns);
  }
  return part;
}

// One factor's slabs: rows of op(A), or columns of op(B).
template <Scalar T> struct Side {
  Side(const ExecutionSpace& space, Factor which, Operation operation, const T* data, Index stride, Index most,
       Index length)
      : op(operation),
        by_columns((op == Operation::none) == (which == Factor::right)),
        host(data),
        leading(stride),
        inner(length),
        memory(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "heddle::interpose::slab"),
               static_cast<std::size_t>(most * length)),
        vectors(space, which, most, length) {}

  // Begins to copy other vectors here, unless they are there.
  HostCopies::Ticket load(HostCopies& copies, Index first, Index last) {
    if (first == begin && last == end) return nullptr;
    begin = first;
    end = last;
    measured = taken = false;
    const Index width = by_columns ? inner : count();
    return copies.to_device({bytes_of(by_columns ? host + begin * leading : host + begin), bytes_of(memory.data()),
                             static_cast<std::size_t>(width) * sizeof(T),
                             static_cast<std::size_t>(by_columns ? count() : inner),
                             static_cast<std::size_t>(leading) * sizeof(T)});
  }
  // X of op(X), or of some of its vectors.
  [[nodiscard]] MatrixView<const T> view(Index first, Index wanted) const {
    const auto shape = [](Index rows, Index columns, Index stride) {
      return Kokkos::LayoutStride(static_cast<std::size_t>(rows), 1, static_cast<std::size_t>(columns),
                                  static_cast<std::size_t>(stride));
    };
    return by_columns ? MatrixView<const T>(memory.data() + first * inner, shape(inner, wanted, inner))
                      : MatrixView<const T>(memory.data() + first, shape(wanted, inner, count()));
  }
  [[nodiscard]] MatrixView<const T> view() const { return view(0, count()); }
  [[nodiscard]] Index count() const { return end - begin; }
  void measure(const ExecutionSpace& space) {
    if (!measured) vectors.measure(space, op, view());
    measured = true;
  }

  Operation op;
  bool by_columns;  // Whether the vectors are X's columns.
  const T* host;
  Index leading;
  Index inner;
  Index begin = -1;
  Index end = -1;
  Kokkos::View<T*, MemorySpace> memory;
  QuantisedVectors<T> vectors;
  bool measured = false;
  bool taken = false;  // As leading bits or residues, whichever were wanted last.
};

template <Scalar T> class Slabs {
 public:
  Slabs(const blas::Context& context, HostCopies& copies, const Product<T>& product, const Extents& part, int moduli)
      : context_(context),
        copies_(copies),
        product_(product),
        part_(part),
        left_(context.space(), Factor::left, product.op_a, product.A, product.leading_a, part.rows, product.k),
        right_(context.space(), Factor::right, product.op_b, product.B, product.leading_b, part.columns, product.k),
        emulated_(context.space(), part.rows, part.panel, moduli, 0) {}

  Spread probe();
  void multiply(const EmulationReport& chosen);
  [[nodiscard]] bool has_written() const { return written_; }

 private:
  using Operands = QuantisedOperands<T>;
  // body(first row, first column) for all pairs of slabs, which are on the device.
  template <class Body> void for_each_pair(const Body& body) {
    bool up = true;
    for (Index column = 0; column < product_.n; column += part_.columns) {
      const Index pieces = (product_.m + part_.rows - 1) / part_.rows;
      for (Index step = 0; step < pieces; ++step) {
        // Back and forth, so that the last rows stay.
        const Index row = (up ? step : pieces - 1 - step) * part_.rows;
        // The memory that is overwritten may still be read.
        context_.space().fence("heddle::interpose::slabs");
        const auto first = left_.load(copies_, row, std::min(product_.m, row + part_.rows));
        const auto second = right_.load(copies_, column, std::min(product_.n, column + part_.columns));
        copies_.wait(first);
        copies_.wait(second);
        body(row, column);
      }
      up = !up;
    }
  }
  void multiply_pair(const EmulationReport& chosen, Index row, Index column);
  [[nodiscard]] HostColumns panel_of_C(Index row, Index column, Index width, Index tile) const;
  [[nodiscard]] MatrixView<T> tile(Index number, Index width) const;

  const blas::Context& context_;
  HostCopies& copies_;
  const Product<T>& product_;
  Extents part_;
  Side<T> left_;
  Side<T> right_;
  EmulatedProduct<T> emulated_;
  Kokkos::View<T*, MemorySpace> tiles_;
  std::array<HostCopies::Ticket, tiles_at_once> home_;  // By tile.
  bool written_ = false;
};

template <Scalar T> Spread Slabs<T>::probe() {
  const ExecutionSpace& space = context_.space();
  const int width = leading_width(product_.k);
  const Index decided = worth_deciding(product_.m * product_.n);
  Spread all;
  for_each_pair([&](Index, Index) {
    for (Side<T>* const side : {&left_, &right_}) {
      side->measure(space);
      if (side->taken) continue;
      side->vectors.reserve(space, side->count(), QuantisedVectors<T>::leading_planes);
      side->vectors.take_leading(space, width, side->op, side->view());
      side->taken = true;
    }
    const Operands operands{left_.op, right_.op, left_.view(), right_.view(), &left_.vectors, &right_.vectors};
    const Spread found = emulated_.probe(context_, operands, left_.count(), right_.count(), decided - all.undecided);
    all.ratio = std::max(all.ratio, found.ratio);
    all.undecided += found.undecided;
  });
  return all;
}

template <Scalar T> void Slabs<T>::multiply(const EmulationReport& chosen) {
  const ExecutionSpace& space = context_.space();
  if (!chosen.fallback) {
    emulated_.set_moduli(space, chosen.moduli);
    const int planes = ResidueSystem::planes(field_of<T>, chosen.moduli);
    left_.vectors.reserve(space, part_.rows, planes);
    right_.vectors.reserve(space, part_.panel, planes);
  }
  grow(space, "heddle::interpose::tiles", tiles_at_once * part_.rows * part_.panel, tiles_);
  left_.taken = false;
  for_each_pair([&](Index row, Index column) {
    if (!chosen.fallback) {
      left_.measure(space);
      right_.measure(space);
      if (!left_.taken) {
        left_.vectors.take(space, emulated_.system(), EmulationScheme::residues, left_.op, left_.view());
      }
      left_.taken = true;
    }
    multiply_pair(chosen, row, column);
  });
}

template <Scalar T> HostColumns Slabs<T>::panel_of_C(Index row, Index column, Index width, Index number) const {
  return {bytes_of(product_.C + row + column * product_.leading_c), bytes_of(tile(number, width).data()),
          static_cast<std::size_t>(left_.count()) * sizeof(T), static_cast<std::size_t>(width),
          static_cast<std::size_t>(product_.leading_c) * sizeof(T)};
}
template <Scalar T> MatrixView<T> Slabs<T>::tile(Index number, Index width) const {
  const auto rows = static_cast<std::size_t>(left_.count());
  return MatrixView<T>(tiles_.data() + number * part_.rows * part_.panel,
                       Kokkos::LayoutStride(rows, 1, static_cast<std::size_t>(width), rows));
}

template <Scalar T> void Slabs<T>::multiply_pair(const EmulationReport& chosen, Index row, Index column) {
  const ExecutionSpace& space = context_.space();
  const Index columns = right_.count();
  const Index panels = (columns + part_.panel - 1) / part_.panel;
  const auto width_of = [&](Index number) { return std::min(part_.panel, columns - number * part_.panel); };
  // A tile comes where C counts, once what was in its place is home.
  const auto fetch = [&](Index number) -> HostCopies::Ticket {
    const Index at = number % tiles_at_once;
    copies_.wait(home_[static_cast<std::size_t>(at)]);
    home_[static_cast<std::size_t>(at)] = nullptr;
    if (product_.beta == T{0}) return nullptr;
    return copies_.to_device(panel_of_C(row, column + number * part_.panel, width_of(number), at));
  };
  HostCopies::Ticket next = fetch(0);
  for (Index number = 0; number < panels; ++number) {
    const HostCopies::Ticket here = next;
    if (number + 1 < panels) next = fetch(number + 1);
    const Index first = number * part_.panel;
    const Index width = width_of(number);
    const Index at = number % tiles_at_once;
    Operands operands{left_.op, right_.op, left_.view(), right_.view(first, width), &left_.vectors, nullptr};
    if (!chosen.fallback) {
      right_.vectors.take(space, emulated_.system(), EmulationScheme::residues, right_.op, operands.B, first);
      operands.right = &right_.vectors;
    }
    copies_.wait(here);
    if (chosen.fallback) {
      multiply_instead<T>(context_, *chosen.fallback, product_.alpha, operands, product_.beta, tile(at, width));
    } else {
      emulated_(context_, product_.alpha, operands, product_.beta, tile(at, width));
    }
    written_ = true;
    home_[static_cast<std::size_t>(at)] = copies_.to_host(panel_of_C(row, column + first, width, at), Event::on(space));
  }
  // Other slabs have tiles of another height.
  for (auto& ticket : home_) {
    copies_.wait(ticket);
    ticket = nullptr;
  }
}

}  // namespace

template <Scalar T>
bool multiply_in_slabs(const blas::Context& context, HostCopies& copies, const Product<T>& product, double memory) {
  const EmulationOptions options{.look = product.look};
  const int least = moduli_of<T>(product.k, options);
  const Extents probed = extents_for(product, least, memory);
  if (probed.rows == 0) return false;
  std::optional<Slabs<T>> slabs;
  slabs.emplace(context, copies, product, probed, least);
  EmulationReport chosen;
  chosen.moduli = least;
  if (product.look) chosen = choose_emulation<T>(product.k, product.m * product.n, slabs->probe(), options);
  const Extents multiplied = chosen.moduli <= least ? probed : extents_for(product, chosen.moduli, memory);
  if (multiplied.rows == 0) return false;
  if (multiplied != probed) {
    slabs.reset();
    slabs.emplace(context, copies, product, multiplied, chosen.moduli);
  }
  try {
    slabs->multiply(chosen);
  } catch (const std::exception& error) {
    if (slabs->has_written()) throw Interrupted(error.what());
    throw;
  }
  return true;
}

#define HEDDLE_INSTANTIATE(T) \
  template bool multiply_in_slabs<T>(const blas::Context&, HostCopies&, const Product<T>&, double)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl::interpose
