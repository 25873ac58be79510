// Lowest states by propagation of a block of vectors in imaginary time.
#include "blas/symmetric.hpp"
#include "core/report_line.hpp"
#include "libm/functions.hpp"
#include "schrodinger/propagators/normalise.hpp"
#include <heddle/core/error.hpp>
#include <heddle/expm/expm.hpp>
#include <heddle/schrodinger/imaginary_time.hpp>
#include <heddle/schrodinger/simulation.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace heddle::schrodinger {

namespace {

using impl::symmetric::dot;

// A step is long enough if the block's highest state decays by exp(-2) relative to its lowest.
constexpr double enough_decay = 2.0;

double norm_bound(const Hamiltonian& hamiltonian, std::span<const double> potential) {
  double sum = 0.0;
  for (const double value : hamiltonian.kinetic()) sum += 2 * std::abs(value);
  double largest = 0.0;
  for (const double value : potential) largest = std::max(largest, std::abs(value));
  return sum + largest;
}

double square(double x) {
  return x * x;
}

// The block on rank 0: n x vectors, column-major, with its Ritz energies.
class Block {
 public:
  Block(const Hamiltonian& hamiltonian, std::span<const double> potential, Index vectors)
      : hamiltonian_(hamiltonian),
        potential_(potential),
        n_(potential.size()),
        vectors_(static_cast<std::size_t>(vectors)),
        values_(n_ * vectors_),
        products_(n_ * vectors_) {
    for (std::size_t k = 0; k < vectors_; ++k) {
      for (std::size_t i = 0; i < n_; ++i) {
        const double angle = std::numbers::pi * static_cast<double>((k + 1) * (i + 1)) / static_cast<double>(n_ + 1);
        column(k)[i] = libm::sin(angle);
      }
    }
    improve();
  }

  [[nodiscard]] std::span<double> column(std::size_t k) { return std::span(values_).subspan(k * n_, n_); }
  [[nodiscard]] const std::vector<double>& values() const { return values_; }
  [[nodiscard]] const std::vector<double>& energies() const { return energies_; }

  void assign(const HostMatrix<double>& whole) {
    for (std::size_t k = 0; k < vectors_; ++k) {
      for (std::size_t i = 0; i < n_; ++i) column(k)[i] = whole(i, k);
    }
    improve();
  }

  // Largest || H phi_k - E_k phi_k || of the first `count`, vectors of 2-norm 1.
  [[nodiscard]] double residual(Index count) {
    double largest = 0.0;
    for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k) {
      hamiltonian_.apply(potential_, column(k), product(k));
      double sum = 0.0;
      for (std::size_t i = 0; i < n_; ++i) sum += square(product(k)[i] - energies_[k] * column(k)[i]);
      largest = std::max(largest, std::sqrt(sum));
    }
    return largest;
  }

 private:
  [[nodiscard]] std::span<double> product(std::size_t k) { return std::span(products_).subspan(k * n_, n_); }

  // Gram and Schmidt's method, twice: one pass leaves errors of cancellation.
  void orthonormalise() {
    for (std::size_t k = 0; k < vectors_; ++k) {
      const auto now = column(k);
      for (int pass = 0; pass < 2; ++pass) {
        const double before = std::sqrt(dot(now, now));
        for (double& value : now) value /= before;
        for (std::size_t j = 0; j < k; ++j) {
          const double share = dot(column(j), now);
          for (std::size_t i = 0; i < n_; ++i) now[i] -= share * column(j)[i];
        }
        const double after = std::sqrt(dot(now, now));
        for (double& value : now) value /= after;
      }
    }
  }

  // Rayleigh and Ritz's method: the block's best approximations of the lowest states, energies rising.
  void improve() {
    orthonormalise();
    std::vector<double> matrix(vectors_ * vectors_);
    for (std::size_t k = 0; k < vectors_; ++k) {
      hamiltonian_.apply(potential_, column(k), product(k));
      for (std::size_t j = 0; j < vectors_; ++j) matrix[k * vectors_ + j] = dot(column(j), product(k));
    }
    std::vector<double> turns;
    impl::symmetric::dense_lowest(vectors_, matrix, vectors_, energies_, turns);
    std::vector<double> turned(values_.size(), 0.0);
    for (std::size_t k = 0; k < vectors_; ++k) {
      for (std::size_t j = 0; j < vectors_; ++j) {
        for (std::size_t i = 0; i < n_; ++i) turned[k * n_ + i] += turns[k * vectors_ + j] * values_[j * n_ + i];
      }
    }
    values_ = std::move(turned);
  }

  const Hamiltonian& hamiltonian_;
  std::span<const double> potential_;
  std::size_t n_;
  std::size_t vectors_;
  std::vector<double> values_;
  std::vector<double> products_;
  std::vector<double> energies_;
};

// Rank 0's result, on every rank.
struct Verdict {
  double lowest = 0.0;
  double spread = 0.0;
  double residual = 0.0;
};

void require_options(const ImaginaryTimeOptions& options) {
  require(std::isfinite(options.tolerance) && options.tolerance > 0, "imaginary time: tolerance = ", options.tolerance,
          " must be finite and positive");
  require(options.most_steps > 0, "imaginary time: most_steps = ", options.most_steps, " must be positive");
  require(options.tile >= 0, "imaginary time: tile = ", options.tile, " must not be negative");
}

// The first `count` states of rank 0's block, on every rank.
Eigenstates lowest_of(const Communicator& comm, const Grid& grid, const std::optional<Block>& block, Index count) {
  Eigenstates states;
  states.points = grid.points;
  states.energies.resize(static_cast<std::size_t>(count));
  states.values.resize(static_cast<std::size_t>(count * grid.points));
  comm.on_rank(0, [&] {
    std::copy_n(block->energies().begin(), count, states.energies.begin());
    std::copy_n(block->values().begin(), count * grid.points, states.values.begin());
    impl::normalise(grid, states);
  });
  comm.broadcast(std::span(states.energies), 0);
  comm.broadcast(std::span(states.values), 0);
  return states;
}

}  // namespace

Eigenstates imaginary_time_states(const Communicator& comm, const Hamiltonian& hamiltonian, double time, Index count,
                                  const ImaginaryTimeOptions& options, ImaginaryTimeReport* report) {
  return comm.together([&] {
    const Grid& grid = hamiltonian.grid();
    const Index n = grid.points;
    require(count >= 1 && count <= n, count, " states by imaginary time on ", n, " points: expected 1 to ", n);
    require_options(options);
    const Index vectors = std::min(count + 2, n);
    const std::vector<double> potential = hamiltonian.potential_at(time);
    require(std::all_of(potential.begin(), potential.end(), [](double value) { return std::isfinite(value); }),
            "states by imaginary time at t = ", time, ": the potential is not finite there");

    GemmOptions products;
    products.tile = options.tile > 0 ? options.tile : default_tile(n);
    products.arithmetic = options.arithmetic;
    const Placement bands = Placement::row_bands(n, n, comm.size());
    DistributedMatrix<double> A(comm, bands, "heddle::schrodinger::imaginary_time_A");
    DistributedMatrix<double> E(comm, bands, "heddle::schrodinger::imaginary_time_E");
    const Placement thin = Placement::on_rank(n, vectors, 0);
    const DistributedMatrix<double> from(comm, thin, "heddle::schrodinger::imaginary_time_block");
    const DistributedMatrix<double> to(comm, thin, "heddle::schrodinger::imaginary_time_product");

    std::optional<Block> block;
    Verdict found;
    const auto judge = [&] {
      comm.on_rank(0, [&] {
        found = {block->energies().front(), block->energies().back() - block->energies().front(),
                 block->residual(count)};
      });
      comm.broadcast(std::span(&found, 1), 0);
    };
    comm.on_rank(0, [&] { block.emplace(hamiltonian, potential, vectors); });
    judge();

    ImaginaryTimeReport done;
    done.step = 1.0 / norm_bound(hamiltonian, potential);
    double shift = found.lowest;
    hamiltonian.fill(-done.step, time, A);
    add_identity(shift * done.step, A);
    ExpmOptions exponential;
    exponential.gemm = products;
    (void)expm(comm, A, E, exponential);

    while (!(found.residual <= options.tolerance)) {
      if (done.steps == options.most_steps) {
        throw Error(ErrorKind::computation,
                    message_of("imaginary time: residual ", found.residual, " after ", done.steps,
                               " steps; the tolerance is ", options.tolerance, " (see initial.tolerance)"));
      }
      HostMatrix<double> whole;
      comm.on_rank(0, [&] {
        whole = HostMatrix<double>("heddle::schrodinger::imaginary_time_whole", n, vectors);
        std::copy(block->values().begin(), block->values().end(), whole.data());
      });
      scatter(whole, 0, from);
      gemm(comm, Operation::none, Operation::none, 1.0, E, from, 0.0, to, products);
      const HostMatrix<double> product = gather(to, 0);
      comm.on_rank(0, [&] { block->assign(product); });
      ++done.steps;
      done.time += done.step;
      judge();
      if (vectors > 1 && found.spread * done.step < enough_decay) {
        // exp(-(H - s') 2 step) = exp((s' - s) 2 step) exp(-(H - s) step)^2: with s at the lowest level so far the
        // matrix neither grows nor vanishes.
        gemm(comm, Operation::none, Operation::none, libm::exp((found.lowest - shift) * 2 * done.step), E, E, 0.0, A,
             products);
        std::swap(A, E);
        shift = found.lowest;
        done.step *= 2;
      }
    }
    done.residual = found.residual;
    if (report != nullptr) *report = done;

    return lowest_of(comm, grid, block, count);
  });
}

std::ostream& operator<<(std::ostream& out, const ImaginaryTimeReport& report) {
  return out << heddle::impl::ReportLine("ImaginaryTimeReport")
                    .field("steps", report.steps)
                    .field("time", report.time)
                    .field("step", report.step)
                    .field("residual", report.residual);
}

}  // namespace heddle::schrodinger
