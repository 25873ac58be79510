// The value of an emulated product, element by element, from the integers that it stands for.
#include "core/instantiate.hpp"
#include "emulation/probe.hpp"
#include "exact/products/operand.hpp"
#include "interpose/blas/nearest.hpp"
#include "interpose/blas/off_stack.hpp"
#include "interpose/blas/product.hpp"
#include "interpose/placed/placed_product.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace heddle::impl::interpose {
namespace {

// Integers and sums of a product: of floats mostly 32 and 64 bits are enough.
template <class Number, class Total> struct Words {
  using Integer = Number;
  using Sum = Total;
};

// Kept from call to call.
template <Scalar T> struct ProductWorkspace {
  DirectVectors<T> left;
  DirectVectors<T> right;
  std::vector<std::int32_t> sums;
  Index inner = -1;  // That `moduli` are for.
  int moduli = 0;
  int threads = 1;
};
template <Scalar T> ProductWorkspace<T>& workspace() {
  thread_local ProductWorkspace<T> the;
  return the;
}

using LeadingBits16 = std::vector<std::int16_t>;

// Columns [begin, end) of a plane of sums.
void multiply_leading(const LeadingBits16& left, const LeadingBits16& right, Index m, Index begin, Index end,
                      Index inner, std::int32_t* sums) {
  for (Index j = begin; j < end; ++j) {
    const std::int16_t* const b = right.data() + j * inner;
    for (Index i = 0; i < m; ++i) {
      const std::int16_t* const a = left.data() + i * inner;
      std::int32_t sum = 0;
      for (Index k = 0; k < inner; ++k) sum += std::int32_t{a[k]} * std::int32_t{b[k]};
      sums[i + j * m] = sum;
    }
  }
}

// EmulatedProduct::probe().
template <Scalar T> class Probe {
 public:
  Probe(const Product<T>& product, ProductWorkspace<T>& work)
      : m_(product.m), n_(product.n), inner_(product.k), width_(leading_width(product.k)), work_(work) {}

  [[gnu::noinline]] Spread spread() {
    work_.sums.resize(plane());
    Probed seen = probed(1);
    Spread spread{std::sqrt(seen.square), seen.undecided};
    if (seen.undecided == 0) return spread;
    work_.left.measure_far(width_);
    work_.right.measure_far(width_);
    work_.sums.resize(plane() * overlap_count);
    seen = probed(overlap_count);
    spread = {std::sqrt(seen.square), seen.undecided};
    if (seen.undecided > 0 && seen.undecided <= worth_deciding(m_ * n_)) {
      spread.ratio = std::max(spread.ratio, std::ldexp(1.0, excess()));
    }
    return spread;
  }

 private:
  [[nodiscard]] std::size_t plane() const { return static_cast<std::size_t>(m_ * n_); }
  // The elements as they were gathered: op(A) by rows, op(B) by columns.
  [[nodiscard]] Overlaps<T> overlaps(int count) const {
    using Matrix = MatrixView<const T>;
    const auto extents = [&](Index vectors) {
      return Kokkos::LayoutStride(static_cast<std::size_t>(inner_), 1, static_cast<std::size_t>(vectors),
                                  static_cast<std::size_t>(inner_));
    };
    return {work_.sums.data(),
            m_,
            m_ * n_,
            count,
            work_.left.squares.data(),
            work_.right.squares.data(),
            work_.left.exponents.data(),
            work_.right.exponents.data(),
            std::ldexp(1.0, 4 * (width_ - norm_bits)),
            Operand<T>(Matrix(work_.left.elements.data(), extents(m_)), Operation::transpose),
            Operand<T>(Matrix(work_.right.elements.data(), extents(n_)), Operation::none),
            inner_};
  }
  // By one plane of sums, which are computed first, or by all, where the first is there.
  Probed probed(int count) const {
    const Overlaps<T> looked_at = overlaps(count);
    const DirectVectors<T>& left = work_.left;
    const DirectVectors<T>& right = work_.right;
    Probed all;
    std::mutex mutex;
    in_parts(n_, work_.threads, [&](Index begin, Index end) {
      const auto sum = [&](const LeadingBits16& a, const LeadingBits16& b, int which) {
        multiply_leading(a, b, m_, begin, end, inner_, work_.sums.data() + static_cast<std::size_t>(which) * plane());
      };
      if (count == 1) {
        sum(left.near, right.near, near_near);
      } else {
        sum(left.near, right.far, near_far);
        sum(left.far, right.near, far_near);
        sum(left.far, right.far, far_far);
        sum(left.present, right.present, present);
      }
      Probed seen;
      for (Index j = begin; j < end; ++j) {
        for (Index i = 0; i < m_; ++i) probe_element(looked_at, i, j, seen);
      }
      const std::scoped_lock lock(mutex);
      all += seen;
    });
    return all;
  }
  [[nodiscard]] int excess() const {
    const Overlaps<T> looked_at = overlaps(overlap_count);
    int largest = 0;
    for (Index j = 0; j < n_; ++j) {
      for (Index i = 0; i < m_; ++i) {
        if (looked_at.counts(i, j) && looked_at.least(i, j) == 0.0) {
          largest = std::max(largest, looked_at.excess(i, j));
        }
      }
    }
    return largest;
  }

  Index m_;
  Index n_;
  Index inner_;
  int width_;
  ProductWorkspace<T>& work_;
};

// Inner products of the vectors of a block. By itself, where sums have all registers.
template <class W, int parts, int rows, int columns>
[[gnu::noinline]] void inner_products(const typename W::Integer* a, const typename W::Integer* b, Index inner,
                                      typename W::Sum (&re)[rows][columns], typename W::Sum (&im)[rows][columns]) {
  using Sum = typename W::Sum;
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) re[r][c] = im[r][c] = Sum{0};
  }
  for (Index k = 0; k < inner; ++k) {
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < columns; ++c) {
        const Sum x = a[r * parts * inner + k];
        const Sum y = b[c * parts * inner + k];
        re[r][c] += x * y;
        if constexpr (parts == 2) {
          const Sum u = a[(r * parts + 1) * inner + k];
          const Sum v = b[(c * parts + 1) * inner + k];
          re[r][c] -= u * v;
          im[r][c] += x * v + u * y;
        }
      }
    }
  }
}

// Elements of C.
template <Scalar T, class W> class Elementwise {
 public:
  using Integer = typename W::Integer;
  using Sum = typename W::Sum;

  Elementwise(const Product<T>& product, const ProductWorkspace<T>& work, const Integer* left, const Integer* right)
      : product_(product), work_(work), left_(left), right_(right) {}

  void all() const {
    in_parts(product_.n, work_.threads, [&](Index begin, Index end) {
      constexpr int block = is_complex<T> ? 1 : 2;
      Index j = begin;
      for (; j + block <= end; j += block) column<block>(j);
      for (; j < end; ++j) column<1>(j);
    });
  }

 private:
  template <int columns> void column(Index j) const {
    constexpr int block = is_complex<T> ? 1 : 2;
    Index i = 0;
    for (; i + block <= product_.m; i += block) put<block, columns>(i, j);
    for (; i < product_.m; ++i) put<1, columns>(i, j);
  }
  template <int rows, int columns> void put(Index i, Index j) const {
    const Index length = product_.k * parts<T>;
    Sum re[rows][columns];
    Sum im[rows][columns];
    inner_products<W, parts<T>>(left_ + i * length, right_ + j * length, product_.k, re, im);
    for (int c = 0; c < columns; ++c) {
      for (int r = 0; r < rows; ++r) finish(i + r, j + c, re[r][c], im[r][c]);
    }
  }
  // As Target has it.
  void finish(Index i, Index j, const Sum& re, [[maybe_unused]] const Sum& im) const {
    using R = Real<T>;
    const int row = work_.left.exponents[static_cast<std::size_t>(i)];
    const int column = work_.right.exponents[static_cast<std::size_t>(j)];
    T value{0};
    if (row == QuantisedVectors<T>::special || column == QuantisedVectors<T>::special) {
      const T* const a = work_.left.vector(i);
      const T* const b = work_.right.vector(j);
      for (Index k = 0; k < product_.k; ++k) value = multiply_add(a[k], b[k], value);
    } else if constexpr (is_complex<T>) {
      value = T(nearest_to<R>(re, -(row + column)), nearest_to<R>(im, -(row + column)));
    } else {
      value = nearest_to<R>(re, -(row + column));
    }
    T& c = product_.C[i + j * product_.leading_c];
    const T scaled = product_.alpha == T{1} ? value : multiply_add(product_.alpha, value, T{0});
    c = product_.beta == T{0} ? scaled : multiply_add(product_.beta, c, scaled);
  }

  const Product<T>& product_;
  const ProductWorkspace<T>& work_;
  const Integer* left_;
  const Integer* right_;
};

template <class W, Scalar T, class Integers>
void put(const Product<T>& product, ProductWorkspace<T>& work, double square_of_reach,
         Integers DirectVectors<T>::*integers) {
  work.left.quantise(square_of_reach, work.left.*integers);
  work.right.quantise(square_of_reach, work.right.*integers);
  Elementwise<T, W>(product, work, (work.left.*integers).data(), (work.right.*integers).data()).all();
}

// Takes the factors, and asks how many moduli they want: 0 where no number is enough.
template <Scalar T> [[gnu::noinline]] int look_at(const Product<T>& product, ProductWorkspace<T>& work) {
  work.left.take(product.op_a, product.A, product.leading_a, true, product.m, product.k, work.threads);
  work.right.take(product.op_b, product.B, product.leading_b, false, product.n, product.k, work.threads);
  work.left.measure(leading_width(product.k));
  work.right.measure(leading_width(product.k));
  const Spread spread = product.look ? Probe<T>(product, work).spread() : Spread{};
  if (work.inner != product.k) {
    work.moduli = emulation_moduli<T>(product.k);
    work.inner = product.k;
  }
  if (spread.undecided == 0 && spread.ratio <= usual_spread) return work.moduli;
  const EmulationReport report = choose_emulation<T>(product.k, product.m * product.n, spread, {});
  return report.fallback ? 0 : report.moduli;
}

// Whether the factors that were looked at were emulated, by integers of 64 bits at most or of any number; otherwise
// nothing is done.
template <Scalar T>
[[gnu::noinline]] bool emulate(const Product<T>& product, ProductWorkspace<T>& work, int moduli, bool any) {
  if (moduli == 0) return false;
  const ResidueSystem& system = residue_system(field_of<T>, moduli);
  const double square_of_reach = square_of_reach_for(system, product.k);
  // Integers are below the root of half of P, sums of their products below half of P.
  if (system.log2_product < 62.0) {
    put<Words<std::int32_t, std::int64_t>>(product, work, square_of_reach, &DirectVectors<T>::narrow);
  } else if (system.log2_product < 126.0) {
    put<Words<std::int64_t, Int128>>(product, work, square_of_reach, &DirectVectors<T>::wide);
  } else if (any) {
    put<Words<Int128, Integer256>>(product, work, square_of_reach, &DirectVectors<T>::widest);
  } else {
    return false;
  }
  return true;
}

// In doubles, or else by integers as emulate() has it; one look serves both.
template <Scalar T>
[[gnu::noinline]] bool multiply_by_either(const Product<T>& product, ProductWorkspace<T>& work, bool any) {
  std::optional<int> moduli;
  const auto look = [&] {
    moduli = look_at(product, work);
    return *moduli;
  };
  if (multiply_placed(product, work.threads, look)) return true;
  return emulate(product, work, moduli ? *moduli : look(), any);
}

// exact::gemm() on the calling threads.
template <Scalar T>
[[gnu::noinline]] void multiply_exactly(const Product<T>& product, const ProductWorkspace<T>& work) {
  namespace sums = exact::impl;
  const Index inner = product.k;
  // op(A) as it was gathered, by rows.
  sums::Operand<T> rows;
  rows.data = work.left.elements.data();
  rows.rows = product.m;
  rows.columns = inner;
  rows.row_stride = inner;
  const sums::Update<T> update{product.alpha, product.beta};
  in_parts(product.n, work.threads, [&](Index begin, Index end) {
    for (Index j = begin; j < end; ++j) {
      const sums::RowSums<T> all(rows, work.right.vector(j));
      for (Index i = 0; i < product.m; ++i) {
        T& c = product.C[i + j * product.leading_c];
        T result;
        if (!update.rounds_to(all.compensated(i, 0, inner), inner, c, result)) {
          const OffStack<sums::ExactSum<T>> sum(std::in_place);
          all.add_to(*sum, i, 0, inner);
          result = update.exactly(*sum, c, *OffStack<exact::bits::WideSum>());
        }
        c = result;
      }
    }
  });
}

template <Scalar T> std::unique_ptr<ProductWorkspace<T>> workspace_of(int threads) {
  auto work = std::make_unique<ProductWorkspace<T>>();
  work->threads = threads;
  return work;
}

}  // namespace

template <Scalar T> int moduli_by_planes(const Product<T>& product, int threads) {
  const auto work = workspace_of<T>(threads);
  return look_at(product, *work);
}

template <Scalar T> bool multiply_directly(const Product<T>& product) {
  // Integers are faster for a few products.
  const bool few = product.m * product.n * product.k <= 8;
  ProductWorkspace<T>& work = workspace<T>();
  return few ? emulate(product, work, look_at(product, work), false) : multiply_by_either(product, work, false);
}

template <Scalar T> void multiply_on_host(const Product<T>& product, int threads) {
  const auto work = workspace_of<T>(threads);
  if (!multiply_by_either(product, *work, true)) multiply_exactly(product, *work);
}

#define HEDDLE_INSTANTIATE(T)                               \
  template int moduli_by_planes<T>(const Product<T>&, int); \
  template bool multiply_directly<T>(const Product<T>&);    \
  template void multiply_on_host<T>(const Product<T>&, int)
HEDDLE_FOR_EACH_SCALAR(HEDDLE_INSTANTIATE);
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::impl::interpose
