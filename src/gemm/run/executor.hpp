// Runs a planned product: two streams of operands, local products, and tiles of C that go home.
#pragma once

#include "comm/transports/progress_thread.hpp"
#include "comm/transports/rest.hpp"
#include "gemm/plan/facts.hpp"
#include "gemm/run/emulated_bands.hpp"
#include "gemm/run/operand.hpp"
#include "gemm/run/tiles.hpp"

#include <optional>
#include <span>

namespace heddle::impl {

/// The workspace of one rank for a planned product, and the loop over its steps. Collective: every rank of the
/// communicator runs the same products in the same order.
template <Scalar T> class Executor {
 public:
  /// Allocates bands, tiles and residues. `setting` outlives it.
  Executor(const Setting& setting, const Planned& planned);

  /// C = alpha op(A) op(B) + beta C, ordered on the communicator's instance. When it returns all is given to that
  /// instance, or done. alpha == 0 or an empty inner dimension moves nothing; beta == 0 does not read C. Messages may
  /// read A and B, and write C, after `ready`: what the instance was given before; empty where that is done.
  void run(T alpha, const DistributedMatrix<T>& A, const DistributedMatrix<T>& B, T beta, const DistributedMatrix<T>& C,
           const Event& ready = {});

  /// Whether one rank owns A, B and C, all of it where kernels read it: nothing travels, and the host has nothing to do
  /// but to give work to instances.
  [[nodiscard]] bool is_local() const { return local_; }
  /// Whether such a product has several tiles that go to the plan's lanes in turn.
  [[nodiscard]] bool takes_lanes() const;
  /// run() where is_local(), ordered on the instances of `lanes`, which take the tiles in turn, and on nothing else. No
  /// View is allocated after the first product with beta other than 0. It blocks where factors are probed.
  void run_local(std::span<const blas::Context> lanes, T alpha, const DistributedMatrix<T>& A,
                 const DistributedMatrix<T>& B, T beta, const DistributedMatrix<T>& C);

  [[nodiscard]] const PlanFacts& facts() const { return facts_; }
  /// Report of the last product; a default one if products are native or nothing was multiplied.
  [[nodiscard]] const EmulationReport& emulation_report() const { return emulation_report_; }

 private:
  // Decide with how many moduli, or by which fallback, this emulated product is multiplied: by the result of probe(),
  // if the options want one.
  template <class Probe>
  [[nodiscard]] EmulationReport settle_emulation(const ExecutionSpace& space, const Probe& probe);
  // Return the spread of the factors over all ranks. All bands travel once for it.
  [[nodiscard]] Spread probe(const DistributedMatrix<T>& A, const DistributedMatrix<T>& B);
  // Add one step to the spread.
  void probe_step(const blas::Context& context, const Step& step, Spread& spread);
  [[nodiscard]] bool has_no_terms(T alpha) const { return alpha == T{0} || facts_.product.inner() == 0; }
  void multiply_all(T alpha, const DistributedMatrix<T>& A, const DistributedMatrix<T>& B, T beta,
                    const DistributedMatrix<T>& C);
  // tile = alpha op(A) op(B) of a step, whose bands are there.
  void multiply(const blas::Context& context, const Step& step, T alpha, const MatrixView<T>& tile);
  void start_bands(const DistributedMatrix<T>& A, const DistributedMatrix<T>& B);
  // Calls body(step, lane) for each step, in order, once its bands are there and may_go() holds. The body gives work to
  // the lane and returns a function that is called once the bands are marked as used.
  template <class MayGo, class Body> void for_each_step(const MayGo& may_go, const Body& body);

  // Lets every stream go on until done() holds.
  template <class Done> void progress_until(const Done& done) {
    const Rest rest;
    while (!done()) {
      progress();
      rest.take();
    }
  }
  void progress();
  // The part of progress() that another thread may do while this one computes step `computed_`: messages alone.
  void progress_beside();
  // Call work(), while messages go on beside it if messenger_ exists.
  template <class Work> void beside_messages(const Work& work) {
    if (messenger_) {
      messenger_->during(work);
    } else {
      work();
    }
  }
  [[nodiscard]] bool bands_sent() const { return a_.idle() && b_.idle(); }

  const Setting& setting_;
  const PlanFacts facts_;
  const RankSchedule schedule_;  // Schedule of this rank.
  OperandStream<T> a_;
  OperandStream<T> b_;
  TileExchange<T> tiles_;
  std::optional<EmulatedBands<T>> emulated_;  // Set if products are emulated.
  EmulationReport emulation_report_;
  int computed_ = 0;
  Event ready_;  // See run().
  bool local_;
  std::optional<ProgressThread> messenger_;
};

}  // namespace heddle::impl
