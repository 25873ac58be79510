// Check that all ranks give the same arguments, before anything depends on them.
#pragma once

#include <heddle/comm/communicator.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::impl {

/// An argument by its name, and its value as text that tells any two values apart: message_of(value).
struct Argument {
  std::string_view name;
  std::string value;
};

/// Throws Error(argument), on every rank alike, where an argument differs between ranks: "gemm: tile is 8 on rank 1 and
/// 16 on rank 0; expected the same on every rank". Before that it runs `check`, which has no collective calls: what it
/// throws on the lowest rank where it throws is thrown on every rank, whatever the others found.
///
/// Collective: to be called before any rank may leave because of its arguments. `of` names the operation; all ranks
/// name the same arguments. Cost: a reduction of three numbers, nothing on one rank.
void require_alike(const Communicator& comm, std::string_view of, const std::vector<Argument>& arguments,
                   const std::function<void()>& check = {});

/// Return true if both have the same ranks in the same order, as duplicates of one communicator do. Local; cost:
/// O(size) where they are not copies of each other.
[[nodiscard]] bool same_ranks(const Communicator& one, const Communicator& other);

}  // namespace heddle::impl
