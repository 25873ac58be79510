// Several transports as one: each message travels by the way of its two ranks.
#include "comm/transports/transports.hpp"

#include <algorithm>

namespace heddle::impl {
namespace {

class MixedTransport final : public TransportImplementation {
 public:
  MixedTransport(const Ranks& ranks, const std::vector<Way>& ways, std::vector<int> of_partner)
      : TransportImplementation(ranks, "several ways"), of_partner_(std::move(of_partner)) {
    for (const Way& way : ways) ways_.push_back(make_transport_of(way, ranks, shared_progress()));
  }
  ~MixedTransport() override { close(); }

  TransportKind kind(int partner) const noexcept override { return to(partner).kind(partner); }
  bool only(TransportKind /*kind*/) const noexcept override { return false; }
  const std::string& reason(int partner) const noexcept override { return to(partner).reason(partner); }
  bool takes_blocks() const noexcept override {
    return std::all_of(ways_.begin(), ways_.end(), [](const auto& way) { return way->takes_blocks(); });
  }
  bool shows_blocks(int partner) const noexcept override { return to(partner).shows_blocks(partner); }
  void set_timed(bool timed) noexcept override {
    for (const auto& way : ways_) way->set_timed(timed);
  }
  void drained() override {
    for (const auto& way : ways_) way->drained();
  }

  std::shared_ptr<Transfer> make_send(const Bytes& block, int destination, int tag, const Event& ready) override {
    return to(destination).make_send(block, destination, tag, ready);
  }
  std::shared_ptr<Transfer> make_receive(const Bytes& block, int source, int tag,
                                         std::span<const Event> free) override {
    return to(source).make_receive(block, source, tag, free);
  }
  std::shared_ptr<Transfer> make_receive_by(const Bytes& shape, int source, int tag,
                                            std::function<void(const Bytes&)> read) override {
    return to(source).make_receive_by(shape, source, tag, std::move(read));
  }

 private:
  [[nodiscard]] TransportImplementation& to(int partner) const {
    return *ways_[static_cast<std::size_t>(of_partner_[static_cast<std::size_t>(partner)])];
  }

  std::vector<std::unique_ptr<TransportImplementation>> ways_;
  std::vector<int> of_partner_;
};

}  // namespace

std::unique_ptr<TransportImplementation> make_mixed_transport(const Ranks& ranks, const std::vector<Way>& ways,
                                                              std::vector<int> of_partner) {
  return std::make_unique<MixedTransport>(ranks, ways, std::move(of_partner));
}

}  // namespace heddle::impl
