// The timeline of a product on all ranks, as one trace file.
#include "drivers/gemm/trace.hpp"

#include "drivers/gemm/trace_clocks.hpp"
#include "drivers/support/process/text.hpp"
#include <heddle/core/error.hpp>
#include <heddle/core/pending_file.hpp>
#include <heddle/core/version.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <map>
#include <span>
#include <string>
#include <utility>

namespace heddle::driver {

namespace {

using Json = nlohmann::ordered_json;

// Round to whole nanoseconds, the unit of viewers, before lanes are assigned: no two intervals of a lane then overlap
// by a rounding.
std::int64_t nanoseconds(double seconds) {
  return std::llround(seconds * 1e9);
}

// Name an interval of a factorization: a panel, an update by panels, or a panel's transfer.
std::string name_in_factorization(const TimelineInterval& interval) {
  const std::string panel = format("panel %d", interval.row_band);
  if (interval.kind == TimelineKind::receive) return panel + format(" from rank %d", interval.peer);
  if (interval.kind == TimelineKind::send) return panel + format(" to rank %d", interval.peer);
  if (interval.column_band < 0) return panel;
  return interval.column_band == interval.row_band
             ? "update by " + panel
             : format("update by panels %d to %d", interval.row_band, interval.column_band);
}

std::string name_of(const TimelineInterval& interval) {
  if (interval.operand == 'L') return name_in_factorization(interval);
  const std::string layer = interval.layer > 0 ? format(" of layer %d", interval.layer) : "";
  const std::string tile = format("tile %d,%d", interval.row_band, interval.column_band) + layer;
  if (interval.kind == TimelineKind::wait) return "wait";
  if (interval.kind == TimelineKind::product) return tile;
  const int number = interval.operand == 'A' ? interval.row_band : interval.column_band;
  // A sender may know the elements but not their band.
  const std::string band = (number >= 0 ? format("band %d", number) : "band") + layer;
  return format("%c %s %s rank %d", interval.operand, (interval.operand == 'C' ? tile : band).c_str(),
                interval.kind == TimelineKind::receive ? "from" : "to", interval.peer);
}

Json arguments_of(const TimelineInterval& interval) {
  Json arguments = Json::object();
  const bool factors = interval.operand == 'L';
  if (interval.row_band >= 0) arguments[factors ? "panel" : "row_band"] = interval.row_band;
  if (interval.column_band >= 0) arguments[factors ? "last_panel" : "column_band"] = interval.column_band;
  if (interval.layer > 0) arguments["layer"] = interval.layer;
  if (interval.kind == TimelineKind::receive || interval.kind == TimelineKind::send) {
    const double seconds = interval.end - interval.begin;
    arguments["operand"] = std::string(1, interval.operand);
    arguments["peer"] = interval.peer;
    arguments["bytes"] = interval.bytes;
    if (seconds > 0) arguments["GB/s"] = interval.bytes / seconds / 1e9;
  }
  return arguments;
}

Json metadata(const std::string& what, int rank, int thread, const Json& arguments) {
  Json event = {{"ph", "M"}, {"name", what}, {"pid", rank}};
  if (thread > 0) event["tid"] = thread;
  event["args"] = arguments;
  return event;
}

// Throws if anything that the picture needs is missing or has another type.
void read_as_picture(const Json& trace) {
  const Json& about = trace.at("otherData");
  require(about.at("command").get<std::string>() == "gemm", "a trace of another command");
  for (const char* number : {"rows", "columns", "inner", "tile", "seconds", "gflops", "hidden_share"}) {
    (void)about.at(number).get<double>();
  }
  for (const char* text : {"version", "git_hash", "scalar", "place_a", "place_b", "place_c"}) {
    (void)about.at(text).get<std::string>();
  }
  const int ranks = about.at("ranks").get<int>();
  const auto shares = about.at("hidden_share_of_ranks").get<std::vector<double>>();
  require(shares.size() == static_cast<std::size_t>(ranks), shares.size(), " hidden shares for ", ranks, " ranks");
  for (const Json& event : trace.at("traceEvents")) {
    if (event.at("ph").get<std::string>() != "X") continue;
    for (const char* text : {"name", "cat"}) (void)event.at(text).get<std::string>();
    for (const char* number : {"tid", "ts", "dur"}) (void)event.at(number).get<double>();
    const int rank = event.at("pid").get<int>();
    require(rank >= 0 && rank < ranks, "an event of rank ", rank);
  }
}

// Sort intervals by their begin and put each on the first free lane.
std::vector<std::vector<const TimelineInterval*>> lanes_of(std::vector<const TimelineInterval*> intervals) {
  std::stable_sort(intervals.begin(), intervals.end(), [](const TimelineInterval* one, const TimelineInterval* other) {
    return one->begin < other->begin;
  });
  std::vector<std::vector<const TimelineInterval*>> lanes;
  for (const TimelineInterval* interval : intervals) {
    const auto free = std::find_if(lanes.begin(), lanes.end(), [&](const auto& lane) {
      return nanoseconds(lane.back()->end) <= nanoseconds(interval->begin);
    });
    (free != lanes.end() ? *free : lanes.emplace_back()).push_back(interval);
  }
  return lanes;
}

Json event_of(const TimelineInterval& interval, int rank, int thread) {
  const std::int64_t begin = nanoseconds(interval.begin);
  return {{"ph", "X"},
          {"name", name_of(interval)},
          {"cat", to_string(interval.kind)},
          {"pid", rank},
          {"tid", thread},
          {"ts", static_cast<double>(begin) / 1e3},
          {"dur", static_cast<double>(nanoseconds(interval.end) - begin) / 1e3},
          {"args", arguments_of(interval)}};
}

void append_rank(int rank, const Timeline& timeline, Json& events) {
  events.push_back(metadata("process_name", rank, 0, {{"name", format("rank %d", rank)}}));
  events.push_back(metadata("process_sort_index", rank, 0, {{"sort_index", rank}}));
  std::map<TimelineKind, std::map<int, std::vector<const TimelineInterval*>>> groups;
  for (const TimelineInterval& interval : timeline) groups[interval.kind][interval.lane].push_back(&interval);
  int thread = 0;
  for (const auto& [kind, by_lane] : groups) {
    int number = 0;
    for (const auto& [given_lane, intervals] : by_lane) {
      for (const auto& lane : lanes_of(intervals)) {
        ++thread;
        ++number;
        std::string name = std::string(to_string(kind)) + 's';
        if (number > 1) name += format(" %d", number);
        events.push_back(metadata("thread_name", rank, thread, {{"name", name}}));
        events.push_back(metadata("thread_sort_index", rank, thread, {{"sort_index", thread}}));
        for (const TimelineInterval* interval : lane) events.push_back(event_of(*interval, rank, thread));
      }
    }
  }
}

}  // namespace

std::vector<Timeline> gather_timelines(const Communicator& comm, const Timeline& mine) {
  const auto count = static_cast<Index>(mine.size());
  std::vector<Index> counts(static_cast<std::size_t>(comm.size()));
  comm.all_gather(std::span<const Index>(&count, 1), std::span(counts));
  std::vector<Timeline> timelines;
  for (int rank = 0; rank < comm.size(); ++rank) {
    Timeline timeline =
        rank == comm.rank() ? mine : Timeline(static_cast<std::size_t>(counts[static_cast<std::size_t>(rank)]));
    comm.broadcast(std::span(timeline), rank);
    timelines.push_back(std::move(timeline));
  }
  align_clocks(timelines);
  return timelines;
}

double overall_hidden_share(const std::vector<Timeline>& timelines) {
  // The timelines one after the other are the timeline of one rank that did it all.
  Timeline all;
  double begin = 0;
  for (const Timeline& timeline : timelines) {
    double end = begin;
    for (TimelineInterval interval : timeline) {
      interval.begin += begin;
      interval.end += begin;
      end = std::max(end, interval.end);
      all.push_back(interval);
    }
    begin = end;
  }
  return hidden_share(all);
}

bool anything_travelled(const std::vector<Timeline>& timelines) {
  return std::any_of(timelines.begin(), timelines.end(), [](const Timeline& timeline) {
    return std::any_of(timeline.begin(), timeline.end(), [](const TimelineInterval& interval) {
      return interval.kind == TimelineKind::receive && interval.end > interval.begin;
    });
  });
}

Json trace_events(const std::vector<Timeline>& timelines, const Json& about) {
  Json events = Json::array();
  for (std::size_t rank = 0; rank < timelines.size(); ++rank) {
    append_rank(static_cast<int>(rank), timelines[rank], events);
  }
  return {{"traceEvents", std::move(events)}, {"displayTimeUnit", "ms"}, {"otherData", about}};
}

void write_trace(const std::filesystem::path& path, const Json& events) {
  PendingStream stream(path);
  // File names, which `about` may hold, are any bytes; JSON is UTF-8.
  stream << events.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
  stream.commit();
}

void keep_factorization_trace(const Communicator& comm, const std::filesystem::path& path, const std::string& command,
                              const FactorizationReport& report, const Json& inputs) {
  const std::vector<Timeline> timelines = gather_timelines(comm, report.timeline);
  Json about = {{"command", command}, {"version", version()}, {"git_hash", git_hash()}, {"ranks", comm.size()}};
  about.update(inputs);
  about.update({{"seconds", report.seconds},
                {"gflops", report.gflops},
                {"arithmetic", to_string(report.arithmetic)},
                {"block", report.block},
                {"group", report.group},
                {"hidden_share", overall_hidden_share(timelines)}});
  comm.on_rank(0, [&] { write_trace(path, trace_events(timelines, about)); });
}

bool looks_like_json(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  char first = '\0';
  return stream >> first && (first == '{' || first == '[');
}

void require_trace(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  const Json trace = Json::parse(stream, nullptr, false);
  if (trace.is_discarded()) throw Error(ErrorKind::input, message_of(path.string(), ": is not readable JSON"));
  try {
    read_as_picture(trace);
  } catch (const std::exception&) {
    throw Error(ErrorKind::input, message_of(path.string(), ": is not a trace that heddle gemm --trace wrote"));
  }
}

}  // namespace heddle::driver
