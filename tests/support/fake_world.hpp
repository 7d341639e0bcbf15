// A world without servers: the test moves the time, and decides what happens on connections.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <zkrecipes/session.hpp>

#include "backend/world.hpp"
#include "session/condition.hpp"
#include "session/core.hpp"

namespace zkrecipes::test {

namespace asio = boost::asio;

/// One connection that the session asked for, as the test sees it.
struct fake_connection {
  backend::link_options options;
  backend::link_listener* listener = nullptr;
  bool open = true;                    ///< The session still holds the link.
  bool closing = false;                ///< The client asked to close the session.
  std::vector<std::string> forgotten;  ///< Requests to remove a watch, as "forget_data /a"; they are answered at once.
  std::deque<std::pair<backend::request, backend::reply_handler>> pending;
};

/// One connection to the guardian that the session asked for, as the test sees it.
struct fake_guardian {
  std::string path;
  backend::guardian_listener* listener = nullptr;
  bool open = true;                              ///< The session still holds the line.
  std::vector<backend::guardian_message> heard;  ///< As far as a real guardian would hear it.
};

/// The state that a fake world shares with its test.
struct fake_state {
  lease_clock::time_point now{std::chrono::hours(1)};
  std::uint64_t random = 0;
  std::uint64_t last_timer = 0;
  std::map<backend::timer_id, std::pair<lease_clock::time_point, std::function<void()>>> timers;
  std::map<std::string, std::vector<backend::endpoint>> resolved;  ///< By name; any other name is its own address.
  bool resolver_hangs = false;
  std::set<std::string> slow_names;  ///< The test answers their lookups: see `fake_bench::resolve`.
  std::vector<std::pair<backend::endpoint, backend::resolve_handler>> lookups;
  std::vector<std::shared_ptr<fake_connection>> connections;
  bool has_guardian = true;
  std::vector<std::shared_ptr<fake_guardian>> guardians;
};

std::unique_ptr<backend::world> make_fake_world(asio::any_io_executor strand, std::shared_ptr<fake_state> state);

/// The parts of an answer that a test names; the others are as in every `backend::reply`.
struct answer_parts {
  error_code error{};
  bool throttled = false;
  std::int64_t zxid = 0;
  std::string path{};
  std::string data{};
  node_stat stat{};
  std::vector<std::string> children{};
};

/// An `io_context` and a fake world. Time stands still until the test advances it.
class fake_bench {
 public:
  fake_bench();
  fake_bench(const fake_bench&) = delete;
  ~fake_bench() { std::exchange(state_->lookups, {}); }  // those that were never answered keep their session alive

  asio::io_context& io() { return *io_; }
  fake_state& state() { return *state_; }
  lease_clock::time_point now() const { return state_->now; }
  detail::scheduler_ptr make_scheduler();
  session make_session(session_options options);
  /// Makes worlds with this time, for objects that have no session.
  detail::world_factory worlds();

  /// Runs all handlers that are ready.
  void settle();
  /// Moves the clock forward by this time, and runs every timer on the way at its time.
  void advance(std::chrono::nanoseconds by);
  /// Answers the lookups of a slow name.
  void resolve(const std::string& name, std::vector<backend::endpoint> addresses);
  /// Destroys the context, as a program does when it returns from `main`.
  void destroy_context() { io_.reset(); }

  fake_connection& last() { return *state_->connections.back(); }
  /// The server accepts the session.
  void accept(std::int64_t id, std::chrono::milliseconds timeout = std::chrono::seconds(10));
  /// Answers the oldest pending request, and returns the request. A node that was created is still that node, and a
  /// probe shows what was told when the watch was set, unless the answer says something else.
  backend::request answer(backend::reply with = {});
  backend::request answer_with(answer_parts with);
  /// The connection ends; every pending request fails with `connection_loss`.
  void lose(error_code reason = errc::connection_loss);
  void fire(backend::change what, std::string path);

 private:
  std::unique_ptr<asio::io_context> io_;
  std::shared_ptr<fake_state> state_;
  backend::reply unchanged(const std::string& path) const;

  std::map<std::string, std::int64_t> born_;      // the `czxid` of nodes whose creation was answered
  std::map<std::string, backend::reply> seen_;    // the latest answers that set watches: on a node,
  std::map<std::string, backend::reply> listed_;  // and on its children
};

}  // namespace zkrecipes::test
