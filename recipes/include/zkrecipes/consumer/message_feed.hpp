// Messages for a consumer, from a source other than a queue.
#pragma once

#include <memory>
#include <utility>

#include <zkrecipes/session.hpp>

namespace zkrecipes {

namespace detail {
class message_source;
}

/// Where the messages of a `queue_consumer` come from: `topic::feed` makes one, and so does `feed` of other
/// sources, such as `external_source`. It is for one consumer at a time, and copies stand for the same. Thread safety:
/// distinct objects safe, shared objects unsafe.
class message_feed {
 public:
  message_feed() = default;  ///< Stands for nothing, like one that was moved from: no consumer can be made of it.

  const session& get_session() const noexcept { return session_; }

  /// For the library; the type is not public.
  using source_ptr = std::shared_ptr<detail::message_source>;
  message_feed(session over, source_ptr source) : session_(std::move(over)), source_(std::move(source)) {}
  const source_ptr& get_source() const noexcept { return source_; }

 private:
  session session_;
  source_ptr source_;
};

}  // namespace zkrecipes
