// One-way links between the devices of two ranks, by a vendor's library, as linked_transport.cpp needs them.
#pragma once

#include <heddle/comm/event.hpp>

#include <array>
#include <cstddef>
#include <memory>

namespace heddle::impl {

/// Identifier that the two ends of a link share. The sender makes it.
using LinkId = std::array<char, 128>;

/// One end of a link, on a stream of its own. Both ends give it the same messages in the same order; each occupies its
/// device until the other end has been given it too. Calls may go on after they have returned, and the next one may be
/// made once ready().
class Link {
 public:
  Link() = default;
  /// Ends the link, whatever is under way.
  virtual ~Link() = default;
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  /// Whether all calls so far are complete: messages are on the stream, the link is open, or closed. Throws their
  /// errors.
  [[nodiscard]] virtual bool ready() = 0;
  /// A message in one run of memory that the device reaches.
  virtual void send(const void* data, std::size_t bytes) = 0;
  virtual void receive(void* data, std::size_t bytes) = 0;
  /// Event after the messages so far.
  [[nodiscard]] virtual Event event(bool timed) const = 0;
  /// Begins to close the link, once nothing is under way: it is closed when both ends have done so and are ready().
  virtual void close() = 0;
  /// Stop all messages where they are, on this end. No calls follow.
  virtual void abort() noexcept = 0;
};

/// Makes links.
class LinkMaker {
 public:
  LinkMaker() = default;
  virtual ~LinkMaker() = default;
  LinkMaker(const LinkMaker&) = delete;
  LinkMaker& operator=(const LinkMaker&) = delete;

  [[nodiscard]] virtual LinkId new_id() = 0;
  /// Begins to open this rank's end of a link with rank `partner`, which opens the other one.
  [[nodiscard]] virtual std::unique_ptr<Link> open(const LinkId& id, bool sends, int partner) = 0;
};

}  // namespace heddle::impl
