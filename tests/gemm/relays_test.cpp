// Relays: a band that several ranks of a node load crosses the node's link once.
#include "gemm/plan/relays.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

namespace heddle::impl::relays_test {
namespace {

// 8 ranks, n x n in blocks of (n / 2) x (n / 4) on 2 x 4 ranks, `per_node` ranks per node.
Product product_on(int per_node, int grid_columns) {
  constexpr Index n = 64;
  const Placement blocks = Placement::block_cyclic(n, n, n / 2, n / 4, 2, 4);
  Product product{Operation::none, Operation::none, blocks, blocks, blocks, 8, 8};
  product.grid_columns = grid_columns;
  product.held_b = 100;
  product.first_held_b = 100;
  for (int rank = 0; rank < product.ranks; ++rank) product.node_of.push_back(rank / per_node);
  return product;
}

double between_nodes(const Product& product, int bands_per_pass) {
  double elements = 0.0;
  for (const Workload& work : workloads(product, make_schedules(product, bands_per_pass))) {
    elements += work.in.between_nodes;
  }
  return elements;
}

TEST(Relays, WhatANodeSharesCrossesItsLinkOnce) {
  for (const int per_node : {2, 3, 4}) {
    for (const int grid_columns : {1, 2, 4, 8}) {
      const Product product = product_on(per_node, grid_columns);
      const auto schedules = make_schedules(product, 100);
      for (const PlanOperand& operand : {operand_a, operand_b}) {
        const Placement& placement = product.*operand.placement;
        const Relays relays(product, operand, schedules);
        // Number of ranks of a node that load a band from its owner.
        std::map<std::tuple<int, int, int>, int> of_owners;
        for (int rank = 0; rank < product.ranks; ++rank) {
          const int node = product.node_of[static_cast<std::size_t>(rank)];
          for (const Load& load : schedules[static_cast<std::size_t>(rank)].*operand.loads) {
            for (const Piece& piece : pieces_of(placement, operand.band(product, load.band))) {
              const int source = relays.source(rank, load.band, piece.owner);
              if (product.on_one_node(rank, piece.owner)) {
                EXPECT_EQ(source, piece.owner);
              } else if (source == piece.owner) {
                EXPECT_EQ(++of_owners[std::tuple(node, load.band, piece.owner)], 1);
              } else {
                EXPECT_TRUE(product.on_one_node(rank, source));
                EXPECT_TRUE(relays.passes_on(source, load.band));
                // The forwarding rank receives it from its owner.
                EXPECT_EQ(relays.source(source, load.band, piece.owner), piece.owner);
              }
            }
          }
        }
      }
    }
  }
}

TEST(Relays, BytesAreThoseOfTheBound) {
  // Each of four nodes computes a quarter of C: it takes half of A and of B, and owns a quarter of each.
  constexpr double elements = 64.0 * 64.0;
  EXPECT_EQ(between_nodes(product_on(2, 4), 100), 4 * 2 * elements / 4);
  // With one band of A at a time, the two ranks of a node each load their own, as its slot is reused; for each of its
  // four bands a rank loads its share of B, half of it from another node.
  EXPECT_EQ(between_nodes(product_on(2, 4), 1), 4 * (2 * elements / 4 + 2 * 4 * elements / 8));
}

TEST(Relays, RanksOfANodeTakeTurns) {
  const Product product = product_on(2, 4);
  const auto schedules = make_schedules(product, 100);
  const Relays relays(product, operand_a, schedules);
  for (int rank = 0; rank < product.ranks; ++rank) {
    const auto& loads = schedules[static_cast<std::size_t>(rank)].loads_a;
    // The ranks of a node use the bands in one order, and each loads every other one.
    for (std::size_t k = 0; k < loads.size(); ++k) {
      EXPECT_EQ(loads[k].band, schedules[static_cast<std::size_t>(rank / 2 * 2)].loads_a[k].band);
      EXPECT_EQ(relays.passes_on(rank, loads[k].band), static_cast<int>(k % 2) == rank % 2);
    }
  }
}

TEST(Relays, AreNoneOnOneNodeAndFromHostMemory) {
  Product product = product_on(2, 4);
  product.node_of.clear();
  EXPECT_TRUE(Relays(product, operand_a, make_schedules(product, 100)).empty());
  product = product_on(2, 4);
  product.a = product.a.in(Residence::host);
  const auto schedules = make_schedules(product, 100);
  EXPECT_TRUE(Relays(product, operand_a, schedules).empty());
  EXPECT_EQ(Relays(product, operand_a, schedules).source(0, 0, 7), 7);
}

}  // namespace
}  // namespace heddle::impl::relays_test
