// A world without servers: time moves when the test says so, and connections do what the test says.
#pragma once

#include "backend/backend.hpp"
#include "session/condition.hpp"
#include "session/core.hpp"

#include <zkrecipes/session.hpp>

#include <boost/asio/io_context.hpp>

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace zkrecipes::test {

namespace asio = boost::asio;

/// One connection that the session asked for, as the test sees it.
struct fake_connection {
  backend::link_options options;
  backend::link_listener* listener = nullptr;
  bool open = true;                    ///< The session still holds the link.
  bool closing = false;                ///< The session asked to be ended.
  std::vector<std::string> forgotten;  ///< Watches taken away, as "forget_data /a"; answered at once.
  std::deque<std::pair<backend::request, backend::reply_handler>> pending;
};

/// What a fake world shares with its test.
struct fake_state {
  lease_clock::time_point now{std::chrono::hours(1)};
  std::uint64_t random = 0;
  std::uint64_t last_timer = 0;
  std::map<backend::timer_id, std::pair<lease_clock::time_point, std::function<void()>>> timers;
  std::optional<std::vector<backend::endpoint>> resolved;  ///< What names resolve to; unset: to themselves.
  bool resolver_hangs = false;
  std::vector<std::shared_ptr<fake_connection>> connections;
};

std::unique_ptr<backend::world> make_fake_world(asio::any_io_executor strand,
                                                std::shared_ptr<fake_state> state);

/// A context and a world; time stands still unless advanced.
class fake_bench {
 public:
  fake_bench();

  asio::io_context& io() { return *io_; }
  fake_state& state() { return *state_; }
  lease_clock::time_point now() const { return state_->now; }
  detail::scheduler_ptr make_scheduler();
  session make_session(session_options options);

  /// Runs all that can run now.
  void settle();
  /// Moves the clock, stopping at every timer on the way.
  void advance(std::chrono::nanoseconds by);
  /// Ends the context, as a program does that returns from `main`.
  void destroy_context() { io_.reset(); }

  fake_connection& last() { return *state_->connections.back(); }
  /// The server accepts the session.
  void accept(std::int64_t id, std::chrono::milliseconds timeout = std::chrono::seconds(10));
  /// Answers the oldest request; returns it.
  backend::request answer(backend::reply with = {});
  /// The connection ends, and every pending request with it.
  void lose(error_code reason = errc::connection_loss);
  void fire(backend::change what, std::string path);

 private:
  std::unique_ptr<asio::io_context> io_;
  std::shared_ptr<fake_state> state_;
};

}  // namespace zkrecipes::test
