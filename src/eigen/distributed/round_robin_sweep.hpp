// The schedule of a sweep in the order of Brent and Luk whose pairs of blocks are dealt to ranks.
#pragma once

#include "eigen/dense/round_robin.hpp"

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

namespace heddle::eigen::impl {

/// The ranks of the pairs of blocks: the first rank has the first ceil(pairs / ranks) of them, and so on; trailing
/// ranks may have fewer or none. A pair is the two blocks at positions k and pairs + k, 0 <= k < pairs.
struct PairShares {
  int pairs;
  int ranks;

  [[nodiscard]] int share() const { return (pairs + ranks - 1) / ranks; }
  [[nodiscard]] int begin(int rank) const { return std::min(pairs, rank * share()); }
  [[nodiscard]] int count(int rank) const { return begin(rank + 1) - begin(rank); }
  /// The rank of the block at a position.
  [[nodiscard]] int owner(int position) const { return position % pairs / share(); }
};

/// A block that another rank sends or receives. `row` is 0 if it comes to one of the first `pairs` positions, else 1.
struct BlockMove {
  int slot;
  int rank;
  int row;
};

/// The steps of a sweep as one rank does them: a pure function of shares and rank. The order in which blocks meet
/// depends on the number of pairs alone. A rank keeps its blocks in slots: two for each pair, and four that receive
/// others, if blocks move at all, so that a slot has two steps to send its block before another comes there.
class RoundRobinSweep {
 public:
  struct Step {
    int leaving = 0;              ///< The first pairs of the step's have blocks that other ranks wait for.
    std::vector<BlockMove> sent;  ///< After the rotations of these.
    std::vector<BlockMove> received;
  };

  RoundRobinSweep(const PairShares& shares, int rank)
      : shares_(shares), rank_(rank), begin_(shares.begin(rank)), count_(shares.count(rank)) {
    for (int slot = 0; slot < 2 * count_; ++slot) {
      places_.push_back(slot);
    }
    for (int slot = 2 * count_; slot < slots(); ++slot) {
      free_.push_back(slot);
    }
  }

  [[nodiscard]] int slots() const { return 2 * count_ + (count_ > 0 && count_ < shares_.pairs ? 4 : 0); }
  /// Positions of this rank: those of the first blocks of its pairs, then those of the second ones.
  [[nodiscard]] int position(int at) const { return at < count_ ? begin_ + at : shares_.pairs + begin_ + at - count_; }
  /// The slot of the block that is at position(at) now.
  [[nodiscard]] int slot(int at) const { return places_[static_cast<std::size_t>(at)]; }

  /// Plan one sweep: its steps, and the two slots of each pair, step by step. Blocks are where they began after it, in
  /// other slots.
  std::vector<Step> plan(std::vector<int>& pairs) {
    std::vector<Step> steps;
    for (int step = 0; count_ > 0 && step < 2 * shares_.pairs - 1; ++step) {
      steps.push_back(next(pairs));
    }
    return steps;
  }

 private:
  // Index of a position of this rank.
  [[nodiscard]] int index_of(int position) const {
    return position < shares_.pairs ? position - begin_ : count_ + position - shares_.pairs - begin_;
  }
  [[nodiscard]] bool leaves(int at) const { return shares_.owner(next_position(position(at), shares_.pairs)) != rank_; }

  Step next(std::vector<int>& pairs) {
    Step step;
    for (const bool leaving : {true, false}) {
      for (int k = 0; k < count_; ++k) {
        if ((leaves(k) || leaves(count_ + k)) == leaving) {
          pairs.push_back(slot(k));
          pairs.push_back(slot(count_ + k));
          step.leaving += leaving ? 1 : 0;
        }
      }
    }
    std::vector<int> places(places_.size(), -1);
    for (int at = 0; at < 2 * count_; ++at) {
      const int to = next_position(position(at), shares_.pairs);
      if (leaves(at)) {
        step.sent.push_back({slot(at), shares_.owner(to), to / shares_.pairs});
      } else {
        places[static_cast<std::size_t>(index_of(to))] = slot(at);
      }
    }
    for (int at = 0; at < 2 * count_; ++at) {
      if (places[static_cast<std::size_t>(at)] < 0) {
        const int to = position(at);
        step.received.push_back({free_.front(), shares_.owner(occupant(to, shares_.pairs, 1)), to / shares_.pairs});
        places[static_cast<std::size_t>(at)] = free_.front();
        free_.pop_front();
      }
    }
    for (const BlockMove& move : step.sent) {
      free_.push_back(move.slot);
    }
    places_ = std::move(places);
    return step;
  }

  PairShares shares_;
  int rank_;
  int begin_;
  int count_;
  std::vector<int> places_;
  std::deque<int> free_;
};

}  // namespace heddle::eigen::impl
