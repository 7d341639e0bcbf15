#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <zkrecipes/session_options.hpp>

#include "backend/guardian/guardian_message.hpp"
#include "backend/link.hpp"
#include "session/condition.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

class guardian_client;

/// Keeps the guardian told of a term, until it is destroyed. A guard that is destroyed with its context takes nothing
/// back: its term has not ended in order, and the guardian has to say that the leader has died.
class term_guard {
 public:
  term_guard(std::weak_ptr<guardian_client> by, std::uint64_t number) : by_(std::move(by)), number_(number) {}
  term_guard(const term_guard&) = delete;
  term_guard& operator=(const term_guard&) = delete;
  ~term_guard();

 private:
  std::weak_ptr<guardian_client> by_;
  std::uint64_t number_;
};

/// Null where there is no guardian.
using term_guard_ptr = std::unique_ptr<term_guard>;

/// Tells the guardian of this machine which ZooKeeper sessions and terms this process has, so that they can be ended as
/// soon as the process is dead. Connects again after the end of a connection, or when the guardian does not answer, and
/// then tells everything again. Without a guardian everything else goes on as if there were none to be. On the strand.
class guardian_client final : public std::enable_shared_from_this<guardian_client>, private backend::guardian_listener {
 public:
  struct settings {
    std::string path;
    std::chrono::milliseconds hang_limit{0};
    std::vector<backend::endpoint> servers;  ///< Names, unresolved.
    std::vector<credentials> digest;
  };
  /// Told each change: whether everything is held now. `error` and `detail` say why not. The first failure in a row
  /// is told as news.
  using report = std::function<void(bool is_held, bool is_news, const error_code& error, std::string_view detail)>;

  guardian_client(scheduler_ptr on, settings what, report told);
  guardian_client(const guardian_client&) = delete;
  guardian_client& operator=(const guardian_client&) = delete;
  ~guardian_client();

  void start();
  /// An incarnation has begun, or goes on with this key.
  void begin(const backend::session_key& key);
  /// The sessions have these credentials from now on.
  void know(const std::vector<credentials>& digest);
  /// It is over.
  void end(std::int64_t id);
  /// The session is closed in order: what was told is taken back. Tells the report nothing more.
  void leave();
  /// Tells nothing any more, to nobody. What was told stays until the process ends.
  void stop();

  /// A term is to begin. It is over when its guard is gone. One guard at a time for a term: the guardian knows it by
  /// its record and node.
  term_guard_ptr hold(backend::guarded_term term);
  /// For the guard.
  void release(std::uint64_t number);

 private:
  // backend::guardian_listener
  void guardian_up() override;
  void guardian_said(const backend::guardian_answer& what) override;
  void guardian_down(const error_code& reason) override;

  void connect();
  void send(const backend::guardian_message& what);
  void send_everything();
  void ask();
  void give_up();
  void ping();
  void call_later(lease_clock::time_point when, backend::timer_id& timer, void (guardian_client::*what)());
  void cancel(backend::timer_id& timer);
  void on_failure(const error_code& error, std::string_view detail);
  backend::guarded_session guarded(const backend::session_key& key) const;

  scheduler_ptr scheduler_;
  settings settings_;
  report told_;
  std::string client_;
  std::map<std::int64_t, backend::session_key> sessions_;
  std::map<std::uint64_t, backend::guarded_term> terms_;
  std::uint64_t last_term_ = 0;
  std::unique_ptr<backend::guardian_line> line_;
  bool is_up_ = false;
  bool is_held_ = false;          // reported
  bool is_failing_ = false;       // reported, and not held since
  int answers_ = 0;               // on this line
  backend::guarded_count asked_;  // what was told before the last question
  std::string refusal_;           // what the guardian said before it ended the connection
  back_off pause_;
  backend::timer_id retry_timer_ = 0;
  backend::timer_id ping_timer_ = 0;
  backend::timer_id look_timer_ = 0;  // for the answer, or until the next question
};

}  // namespace zkrecipes::detail
