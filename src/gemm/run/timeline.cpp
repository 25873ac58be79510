// Names of a timeline's kinds, and the hidden share of its transfers.
#include <heddle/core/error.hpp>
#include <heddle/gemm/timeline.hpp>

#include <algorithm>

namespace heddle {
namespace {

struct Span {
  double begin;
  double end;
};

// The union of the intervals of a kind, in order and disjoint.
std::vector<Span> union_of(const Timeline& timeline, TimelineKind kind) {
  std::vector<Span> spans;
  for (const TimelineInterval& interval : timeline) {
    if (interval.kind == kind && interval.end > interval.begin) {
      spans.push_back({interval.begin, interval.end});
    }
  }
  std::sort(spans.begin(), spans.end(), [](const Span& one, const Span& other) { return one.begin < other.begin; });
  std::vector<Span> merged;
  for (const Span& span : spans) {
    if (!merged.empty() && span.begin <= merged.back().end) {
      merged.back().end = std::max(merged.back().end, span.end);
    } else {
      merged.push_back(span);
    }
  }
  return merged;
}

}  // namespace

std::string_view to_string(TimelineKind kind) {
  switch (kind) {
    case TimelineKind::product:
      return "product";
    case TimelineKind::receive:
      return "receive";
    case TimelineKind::send:
      return "send";
    case TimelineKind::wait:
      return "wait";
  }
  throw Error(ErrorKind::argument, "not a value of heddle::TimelineKind");
}

double hidden_share(const Timeline& timeline) {
  const std::vector<Span> received = union_of(timeline, TimelineKind::receive);
  const std::vector<Span> computed = union_of(timeline, TimelineKind::product);
  double total = 0.0;
  double open = 0.0;
  auto product = computed.begin();
  for (const Span& transfer : received) {
    double covered_until = transfer.begin;
    while (product != computed.end() && product->begin < transfer.end) {
      if (product->end > covered_until) {
        open += std::max(product->begin - covered_until, 0.0);
        covered_until = std::min(product->end, transfer.end);
      }
      if (product->end > transfer.end) {
        break;  // It may cover the next transfer too.
      }
      ++product;
    }
    open += transfer.end - covered_until;
    total += transfer.end - transfer.begin;
  }
  // Uncovered time is counted, so that a share of one is exactly one.
  return total > 0.0 ? std::clamp(1.0 - open / total, 0.0, 1.0) : 1.0;
}

}  // namespace heddle
