// The timeline of a product for people: of all ranks, as one file, a trace, that Perfetto, chrome://tracing and `heddle
// plot` read.
#pragma once

#include <heddle/comm/communicator.hpp>
#include <heddle/gemm/timeline.hpp>
#include <heddle/solve/lu.hpp>

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace heddle::driver {

/// Return every rank's timeline, in order of rank, on every rank, by one clock (align_clocks()). Collective.
[[nodiscard]] std::vector<Timeline> gather_timelines(const Communicator& comm, const Timeline& mine);

/// Total of the hidden times over the total of the times of transfers.
[[nodiscard]] double overall_hidden_share(const std::vector<Timeline>& timelines);

/// Whether any rank received anything.
[[nodiscard]] bool anything_travelled(const std::vector<Timeline>& timelines);

/// Trace Event Format (JSON object): a process for each rank and in it a thread for each lane of products, receives,
/// sends and waits. Intervals of one kind that overlap are on different threads, since no viewer can show them on one.
/// `about` becomes "otherData".
[[nodiscard]] nlohmann::ordered_json trace_events(const std::vector<Timeline>& timelines,
                                                  const nlohmann::ordered_json& about);

/// Write the events beside `path` and rename the file. Throws Error(output) if that fails.
void write_trace(const std::filesystem::path& path, const nlohmann::ordered_json& events);

/// Write the timeline of a factorization on every rank to `path` on rank 0, with the command, its inputs and the
/// reported numbers. Collective.
void keep_factorization_trace(const Communicator& comm, const std::filesystem::path& path, const std::string& command,
                              const FactorizationReport& report, const nlohmann::ordered_json& inputs);

/// Whether a file is JSON by its first character: traces are, HDF5 is not.
[[nodiscard]] bool looks_like_json(const std::filesystem::path& path);

/// Throws Error(input) naming the file unless it is what write_trace() writes.
void require_trace(const std::filesystem::path& path);

}  // namespace heddle::driver
