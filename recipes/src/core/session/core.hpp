// The session behind every public object: its parts, and what a connection brings and its loss takes. Everything here
// runs on one strand, except the functions marked as safe from any thread.
#pragma once

#include <any>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <typeindex>

#include <zkrecipes/diagnostic.hpp>
#include <zkrecipes/session.hpp>

#include "backend/link.hpp"
#include "session/condition.hpp"
#include "session/connector.hpp"
#include "session/credentials.hpp"
#include "session/guardian_client.hpp"
#include "session/lease_keeper.hpp"
#include "session/outcomes.hpp"
#include "session/paths.hpp"
#include "session/removals.hpp"
#include "session/requests.hpp"
#include "session/server_list.hpp"
#include "session/session_life.hpp"

namespace zkrecipes::detail {

/// What all users of one path share within one session: a list, turns, news. The session does not know what it is.
/// One place for an object of each type and path. Its users own the object: the first of them makes it, and its
/// last owner takes it off the list. On the strand.
class path_commons {
 public:
  template <class T>
  std::weak_ptr<T>& at(const std::string& path) {
    return all<T>()[path];
  }

  /// The one that is there, else the one that `make` returns, which takes the place.
  template <class T, class Make>
  std::shared_ptr<T> join(const std::string& path, Make make) {
    auto& place = at<T>(path);
    auto joined = place.lock();
    if (!joined) place = joined = make();
    return joined;
  }

  template <class T>
  void end(const std::string& path) {
    all<T>().erase(path);
  }

 private:
  template <class T>
  std::map<std::string, std::weak_ptr<T>>& all() {
    using places = std::map<std::string, std::weak_ptr<T>>;
    auto& held = by_type_[typeid(T)];
    if (!held.has_value()) held = places();
    return *std::any_cast<places>(&held);
  }

  std::map<std::type_index, std::any> by_type_;
};

/// What the recipes use of a session are its life, its requests, its lease and its removals. Here these are put
/// together with what only the session itself needs, and all decisions are taken that concern several of them.
class core final : private backend::link_listener,
                   private answer_listener,
                   public session_life,
                   public requests,
                   public lease_keeper,
                   public removals {
 public:
  core(scheduler_ptr s, session_options options);
  ~core();

  void start();
  std::shared_ptr<core> shared_from_this() { return std::static_pointer_cast<core>(session_life::shared_from_this()); }

  std::unique_ptr<watch> arm(watch_kind kind, std::string path, condition& changed);

  /// Limits how many acquisitions of this session get in line at once (at most 256), because a request in flight needs
  /// far more memory than a waiter.
  turnstile& entrance() noexcept { return entrance_; }

  /// What the users of one path have in common.
  path_commons& commons() noexcept { return commons_; }

  /// Null: there is to be none.
  const std::shared_ptr<guardian_client>& guardian() const noexcept { return guardian_; }

  /// Adds credentials to the present connection and to every later one, and waits until a server has them. They stay
  /// also if the wait ends before that.
  awaitable<error_code> add_credentials(std::shared_ptr<const credentials> added);

  /// Ends the session.
  awaitable<void> close();
  /// The same, until then at the latest, and waits for all operations to complete. Error: `timed_out`; `why` tells what
  /// is left.
  awaitable<error_code> close_by(lease_clock::time_point deadline, diagnostic why);

 private:
  // backend::link_listener
  void up(const backend::session_key& granted) override;
  void down(error_code reason) override;
  void fired(const backend::watch_event& event) override;
  // answer_listener
  void on_service() override;
  void on_lease_renewed() override { wake(); }
  void on_catch_up_refused() override;
  void on_credentials_required() override;
  void on_older_state() override;

  awaitable<void> live_on(std::function<awaitable<void>()> loop);
  awaitable<void> run();
  void call_guardian();
  void on_guardian(bool is_held, bool is_news, const error_code& error, std::string_view detail);
  void end_incarnation(const error_code& reason);
  void lose_session(const error_code& reason);
  void give_up();
  void end(const error_code& reason);

  credential_list credentials_;
  known_servers servers_;
  connector connector_;
  path_commons commons_;
  turnstile entrance_{256};
  std::shared_ptr<guardian_client> guardian_;
  int closers_ = 0;  // operations that wait for all others
};

using core_ptr = std::shared_ptr<core>;

/// Decides when a background task, which goes on in any case, reports that a server is too busy: a `server_error` is
/// reported only after `retry_policy::limit` from the first one in a row, because an operation would go on trying for
/// as long. Every other result is reported at once.
class refusals {
 public:
  bool is_news(const core& session, const error_code& error) {
    if (!is_server_refusal(error)) {
      until_.reset();
    } else if (!until_) {
      until_ = session.retry_deadline();
    }
    return !until_ || session.now() >= *until_;
  }

 private:
  std::optional<lease_clock::time_point> until_;
};

// Makes the core of a session: checks the options, makes its world, and returns the pointer that closes it.

using world_factory = std::function<std::unique_ptr<backend::world>(asio::any_io_executor strand)>;

/// \throws std::invalid_argument naming the executor, as that of `whose`, if it is empty.
scheduler_ptr make_scheduler(const char* whose, const asio::any_io_executor& executor, const world_factory& world);

/// When the last copy of the pointer is destroyed, the session is closed in the background.
/// \throws std::invalid_argument
core_ptr make_core(const asio::any_io_executor& executor, session_options options, const world_factory& world);

/// The core of the session that a recipe is made on. \throws std::invalid_argument if the session was moved from.
const core_ptr& require_session(const session& over);

/// \throws std::invalid_argument naming the field.
void check(const session_options& options);

}  // namespace zkrecipes::detail
