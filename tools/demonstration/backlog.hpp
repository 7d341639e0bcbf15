#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/queue_base.hpp>
#include <zkrecipes/session.hpp>

namespace demo {

/// The messages of a source that are not settled.
class backlog {
 public:
  virtual ~backlog() = default;

  /// Messages that are still to be consumed; nothing if it can not be told at the moment.
  virtual boost::asio::awaitable<std::optional<std::uint64_t>> lag() = 0;
  /// Whether `lag` counts the messages that a consumer has in hand, too.
  virtual bool counts_in_hand() const noexcept { return true; }
  virtual boost::asio::awaitable<std::vector<zkrecipes::dead_letter>> dead_letters() = 0;
};

/// That of the queue.
std::unique_ptr<backlog> make_queue_backlog(const zkrecipes::session& over);

}  // namespace demo
