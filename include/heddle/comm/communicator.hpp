// A group of ranks, and the execution space instance that each rank's work for it runs on.
#pragma once

#include <heddle/core/error.hpp>
#include <heddle/core/scalar.hpp>

#include <mpi.h>

#include <any>
#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace heddle {

class Transport;
class Communicator;

namespace impl {
struct Ranks;
Ranks ranks_of(const Communicator& comm);
}  // namespace impl

/// Operation that combines the values of all ranks into one.
enum class Reduction { sum, minimum, maximum };

/// A group of ranks. It owns a duplicate of an MPI communicator, so that no message of the library can be taken for one
/// of its caller. Collective calls block until this rank's part is done, and their results have the same bits on every
/// rank. All local work of an operation that is given a Communicator is ordered on its execution space instance,
/// space(). Errors of MPI become Errors, whatever error handler the caller's communicator has.
///
/// Lifetime: construction, and destruction of the last copy, are collective; copies share the duplicate. MPI and Kokkos
/// must be started before and ended after; the library does neither. A copy destroyed after MPI_Finalize makes no call
/// of MPI. Destroying one after Kokkos::finalize() is not supported.
///
/// Threads: one thread at a time uses a Communicator, its copies and all that was made with them. Collective calls of
/// two threads at the same time are not supported, even on two Communicators. MPI_Init is enough; with
/// MPI_THREAD_SERIALIZED or more, products on CPUs of several nodes call MPI from a thread of their own, too, in turn
/// with the caller's, and no other thread of the program may call MPI meanwhile.
///
/// Mismatch: all ranks make the same calls in the same order; different ones are not supported and not detected. A rank
/// that makes no call is waited for without end, or for HEDDLE_TIMEOUT seconds, which the constructor reads.
///
/// Failure: when a rank throws inside a collective operation of the library, the ranks that wait for it, there or in a
/// later call, throw too: an Error whose message names the rank that failed; see together(). The communicator can be
/// used again; plans and transports that were made before and had messages under way can only be destroyed.
class Communicator {
 public:
  /// Duplicates `parent`; local work is given to `space`. Collective. Throws Error(argument), on every rank alike,
  /// where HEDDLE_NODE_SIZE is no number of ranks, or HEDDLE_TIMEOUT no number of seconds.
  explicit Communicator(MPI_Comm parent, const ExecutionSpace& space = {});

  /// The number of this rank, from 0.
  [[nodiscard]] int rank() const noexcept;
  /// Number of ranks.
  [[nodiscard]] int size() const noexcept;
  /// Number of nodes that the ranks are on. A node is a set of ranks that share memory, or, if HEDDLE_NODE_SIZE is
  /// set to k, k ranks of the job in a row, so that one machine stands for several; devices stay those of the real
  /// node.
  [[nodiscard]] int nodes() const noexcept;
  /// The number of a rank's node, from 0; nodes are numbered by their lowest ranks. Throws Error(argument) where `rank`
  /// is none.
  [[nodiscard]] int node_of(int rank) const;
  /// The node number of every rank.
  [[nodiscard]] const std::vector<int>& nodes_of_ranks() const noexcept;
  /// The number of this rank among the ranks of its node, from 0.
  [[nodiscard]] int node_rank() const noexcept;
  /// Number of ranks on this rank's node.
  [[nodiscard]] int node_size() const noexcept;
  /// The execution space instance on which this rank's work is ordered.
  [[nodiscard]] const ExecutionSpace& space() const noexcept;
  /// The duplicate itself, for callers that must use MPI themselves; this object still owns it. It is another one after
  /// a failure of some rank, so ask for it when it is needed. It returns errors of MPI (MPI_ERRORS_RETURN).
  [[nodiscard]] MPI_Comm native() const noexcept;

  /// Blocks until every rank has called it. Collective.
  void barrier() const;

  /// Copies `values` of rank `root` to every rank. Collective. T must be trivially copyable. Throws Error(argument)
  /// where no rank has the number `root`, as all functions with a `root` do.
  template <class T> void broadcast(std::span<T> values, int root) const {
    static_assert(std::is_trivially_copyable_v<T>);
    broadcast_bytes(values.data(), values.size_bytes(), root);
  }
  /// Copies `text` of rank `root` to every rank. Collective.
  void broadcast(std::string& text, int root) const;

  /// Combines `values` of all ranks element by element and in place, on every rank. Collective. T is double, float, int
  /// or Index.
  template <class T> void all_reduce(std::span<T> values, Reduction reduction) const;
  /// The value that combines those of all ranks. Collective. T is double, float, int or Index.
  template <class T> [[nodiscard]] T all_reduce(T value, Reduction reduction) const {
    all_reduce(std::span<T>(&value, 1), reduction);
    return value;
  }

  /// Combines `values` of all ranks element by element, in place, by combine(from, to), which changes `to` into both of
  /// them combined. It must be a lambda without captures, commutative and associative to the last bit, so that every
  /// rank gets the same result. Collective. T must be trivially copyable, and there are at most 2^31 - 1 elements.
  template <class T, class Combine> void all_reduce_by(std::span<T> values, Combine /*combine*/) const {
    static_assert(std::is_trivially_copyable_v<T> && std::is_empty_v<Combine>);
    all_reduce_bytes(values.data(), values.size(), sizeof(T), [](void* from, void* to, int* count, MPI_Datatype*) {
      for (int k = 0; k < *count; ++k) Combine{}(static_cast<const T*>(from)[k], static_cast<T*>(to)[k]);
    });
  }

  /// Writes `mine` of every rank into `all`, in order of rank: all.size() == size() * mine.size(). Collective. T must
  /// be trivially copyable. Throws Error(argument), on every rank alike, where `all` of one has another size.
  template <class T> void all_gather(std::span<const T> mine, std::span<T> all) const {
    static_assert(std::is_trivially_copyable_v<T>);
    if (all.size() != mine.size() * static_cast<std::size_t>(size())) {
      refuse(message_of("all_gather: ", all.size(), " places for ", size(), " x ", mine.size(), " values"));
    }
    all_gather_bytes(mine.data(), mine.size_bytes(), all.data());
  }

  /// Sends to[r] to rank r, and returns what came from each rank, in order of rank. Collective. T must be trivially
  /// copyable. Throws Error(argument), on every rank alike, where `to` of one has not a message for each rank.
  template <class T> [[nodiscard]] std::vector<std::vector<T>> exchange(std::vector<std::vector<T>> to) const {
    static_assert(std::is_trivially_copyable_v<T>);
    if (to.size() != static_cast<std::size_t>(size())) {
      refuse(message_of("exchange: messages to ", to.size(), " of ", size(), " ranks"));
    }
    struct Messages {
      std::vector<std::vector<T>> to;
      std::vector<std::vector<T>> from;
    };
    // Shared with MPI, which may still touch them where a rank fails.
    const auto messages = std::make_shared<Messages>(Messages{std::move(to), {}});
    std::vector<std::span<const std::byte>> out;
    for (const std::vector<T>& message : messages->to) out.push_back(std::as_bytes(std::span(message)));
    std::vector<std::span<std::byte>> in;
    const std::vector<std::size_t> bytes = exchange_sizes(out);
    messages->from.resize(bytes.size());
    for (std::size_t r = 0; r < bytes.size(); ++r) {
      messages->from[r].resize(bytes[r] / sizeof(T));
      in.push_back(std::as_writable_bytes(std::span(messages->from[r])));
    }
    exchange_bytes(out, in, messages);
    return std::move(messages->from);
  }

  /// Runs `work` on every rank and returns its result. Unlike on_each(), `work` may have collective calls on this
  /// communicator and messages of its transport. If it throws on some ranks, the others stop waiting for them, here
  /// or in their next call, and all throw one Error: that of the lowest rank that failed by itself, whose number its
  /// message begins with. If it throws on every rank by itself, as for arguments that are wrong everywhere, each
  /// throws its own. Exceptions of other types become Errors. Collective; costs nothing where nothing is thrown. The
  /// library's collective operations do this themselves; it is for callers' own loops, callbacks and steps between
  /// them.
  ///
  /// Ranks that have not come after 10 seconds (3 where HEDDLE_TIMEOUT is set) are not waited for: this rank throws its
  /// Error alone, and the communicator can't be used any more.
  template <class Work> std::invoke_result_t<Work> together(Work&& work) const {
    const Scope scope(*this);
    try {
      return std::forward<Work>(work)();
    } catch (...) {
      scope.fail();
    }
  }
  /// Runs `work` on rank `root` alone. An exception of it is thrown on every rank as the same Error. Collective.
  void on_rank(int root, const std::function<void()>& work) const;
  /// Runs `work`, which must not have collective calls, on every rank. If it throws, the exception of the lowest
  /// such rank is thrown on every rank. Collective.
  void on_each(const std::function<void()>& work) const;

  /// The transport of this communicator; see transport_of() in <heddle/comm/transport.hpp>.
  [[nodiscard]] Transport transport() const;

  /// Ends the whole job, as abort_job() does.
  [[noreturn]] void abort(int exit_code) const;

 private:
  // Throws Error(argument), and tells the ranks that wait for this one.
  [[noreturn]] void refuse(const std::string& message) const;
  void broadcast_bytes(void* data, std::size_t bytes, int root) const;
  void all_reduce_bytes(void* data, std::size_t count, std::size_t bytes, MPI_User_function* combine) const;
  void all_gather_bytes(const void* mine, std::size_t bytes, void* all) const;
  [[nodiscard]] std::vector<std::size_t> exchange_sizes(const std::vector<std::span<const std::byte>>& out) const;
  void exchange_bytes(const std::vector<std::span<const std::byte>>& out, const std::vector<std::span<std::byte>>& in,
                      std::any kept) const;
  // The error of rank `root`, on all ranks.
  void rethrow_from(int root, const std::optional<Error>& error) const;

  // A run of together(): the outermost one meets the other ranks where something is thrown.
  class Scope {
   public:
    explicit Scope(const Communicator& comm);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    [[noreturn]] void fail() const;

   private:
    const Communicator& comm_;
  };
  friend impl::Ranks impl::ranks_of(const Communicator& comm);

  struct State;
  std::shared_ptr<State> state_;
};

/// Ends the whole job, all ranks, with `exit_code`. It is for drivers, where one rank fails alone. This rank ends
/// within three seconds, even where MPI itself waits for a host that is gone.
[[noreturn]] void abort_job(MPI_Comm comm, int exit_code);

extern template void Communicator::all_reduce<double>(std::span<double>, Reduction) const;
extern template void Communicator::all_reduce<float>(std::span<float>, Reduction) const;
extern template void Communicator::all_reduce<int>(std::span<int>, Reduction) const;
extern template void Communicator::all_reduce<Index>(std::span<Index>, Reduction) const;

}  // namespace heddle
