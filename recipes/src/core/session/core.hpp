// The session behind every public object: it connects, keeps incarnations apart, carries requests, and sends heartbeats
// to prove that it lives. Everything here runs on one strand, except the functions marked as safe from any thread.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <zkrecipes/diagnostic.hpp>
#include <zkrecipes/session.hpp>

#include "backend/world.hpp"
#include "session/back_off.hpp"
#include "session/condition.hpp"
#include "session/exchange.hpp"
#include "session/failure_list.hpp"
#include "session/guardian_client.hpp"
#include "session/host_list.hpp"
#include "session/incarnation.hpp"
#include "session/lease.hpp"
#include "session/outcomes.hpp"
#include "session/path_commons.hpp"
#include "session/paths.hpp"
#include "session/removal.hpp"
#include "session/server_list.hpp"
#include "session/session_log.hpp"
#include "session/turnstile.hpp"
#include "session/watch_registry.hpp"

namespace zkrecipes::detail {

/// The reaction to a connection that breaks before the answer.
enum class retry {
  once,    ///< Report `connection_loss`: only the caller can tell what happened.
  always,  ///< Send it again: doing it twice does no harm.
};

class core final : public std::enable_shared_from_this<core>, private backend::link_listener {
 public:
  core(scheduler_ptr s, session_options options);
  ~core();

  void start();

  // From any thread.
  const asio::any_io_executor& strand() const noexcept { return scheduler_->strand; }
  const scheduler_ptr& get_scheduler() const noexcept { return scheduler_; }
  session_status status() const;
  session_counters counters() const;
  /// The end of the lease. The clock's zero if there is no lease, or if the present incarnation does not have this
  /// number (0: any incarnation).
  lease_clock::time_point valid_until(std::uint64_t number = 0) const;
  /// No error until `valid_until`, by the clock of this moment; else why it is past.
  error_code invalid(std::uint64_t number) const;
  const session_options& options() const noexcept { return options_; }

  // On the strand.
  lease_clock::time_point now() const { return scheduler_->now(); }
  bool connected() const noexcept { return link_ && up_ && !is_past_; }
  /// The session is there, and its lease does not hold for now: what is taken meanwhile is lost at once. Strict mode
  /// only: there the lease takes several heartbeats to hold again, and they are sent without a holder, too.
  bool has_lapsed() const;
  error_code ended() const noexcept { return ended_; }  ///< `closed` or `auth_failed`, once it is over for good.
  /// Like `ended`, but `closed` already from the moment when the close was requested.
  error_code over() const noexcept { return closing_ && !ended_ ? make_error_code(errc::closed) : ended_; }
  condition& changed() noexcept { return changed_; }          ///< The status changed.
  const std::string& root() const noexcept { return root_; }  ///< In front of each path, or empty.
  incarnation_ptr current() const noexcept { return incarnation_; }

  /// Waits for a connection. Errors: `operation_aborted`, `timed_out`, that of `over`, or the reason why `bound` ended.
  awaitable<error_code> wait_connected(incarnation_ptr bound, lease_clock::time_point deadline);

  /// Sends a request at once, behind those sent before. Without a connection the answer is `connection_loss`.
  exchange_ptr send(backend::request what);

  /// Waits for the answer. `operation_aborted` if the wait is cancelled; the request itself goes on.
  awaitable<backend::reply> answer(exchange_ptr which);

  /// Waits for a connection, sends the request and waits for the answer. `policy` decides what happens if the
  /// connection breaks. With `bound` the request is sent in that incarnation only. Errors besides the server's: those
  /// of `wait_connected`, but `connection_loss` instead of `timed_out`, after `retry_policy::limit` or at the deadline.
  awaitable<backend::reply> perform(backend::request what, retry policy, incarnation_ptr bound = nullptr,
                                    lease_clock::time_point deadline = never);

  /// Like `perform` with `retry::always`, for several requests at once, in one round trip. Returns their answers, in
  /// order.
  awaitable<std::vector<backend::reply>> perform_all(std::vector<backend::request> what,
                                                     incarnation_ptr bound = nullptr,
                                                     lease_clock::time_point deadline = never);

  /// To be called after `connection_loss`, before the same request is sent again.
  awaitable<void> before_retry();

  /// The back-off of one operation whose request was throttled (`reply::throttled`). Such a request was not executed,
  /// so it is sent again, also if it is a write, for as long as the operation may take.
  back_off patience() const;
  /// Waits for the next of these pauses. An error means that there is no further try: the reason why the session or
  /// `bound` has ended, or `operation_aborted`.
  awaitable<error_code> outwait(back_off& pause, incarnation_ptr bound);

  /// Waits until the pause is over. False: there is no further try, because the session or `bound` has ended or the
  /// wait was cancelled.
  awaitable<bool> rest(back_off& pause, incarnation_ptr bound = nullptr);

  /// Creates a persistent node and its missing parents, in one round trip.
  awaitable<error_code> ensure_path(std::string path, incarnation_ptr bound = nullptr);

  /// Removes a node in the background. Tries again until the server says that the node is gone, or `bound` ends; if the
  /// server refuses or is too busy, with growing pauses. `first`: the first try, if it has been sent already.
  removal_ptr remove_surely(std::string path, incarnation_ptr bound, exchange_ptr first = nullptr);
  /// Does the same with every child of `parent` that has `guid` in its name.
  void remove_all_surely(std::string parent, std::string guid, incarnation_ptr bound);

  std::unique_ptr<watch> arm(watch_kind kind, std::string path, condition& tell);

  /// Limits how many acquisitions of this session get in line at once (at most 256), because a request in flight needs
  /// far more memory than a waiter.
  turnstile& entrance() noexcept { return entrance_; }

  /// What the users of one path have in common.
  path_commons& commons() noexcept { return commons_; }

  /// While there are holders (in strict mode: always) the session sends heartbeats to prove that it lives. `tell` is
  /// notified when the lease has ended.
  using holder = std::list<condition*>::iterator;
  holder add_holder(condition& tell);
  void remove_holder(holder which) noexcept { holders_.erase(which); }

  /// On the strand only, like everything that draws random numbers from the world.
  std::string make_guid();

  /// The same for a node of ours in a line. All such GUIDs of this object begin alike, so a node is told from others in
  /// the name of the same session for as long as `whose` lives: see `remove_orphans`.
  std::string make_own_guid(std::weak_ptr<const void> whose);
  std::string own_guid_in(const std::string& path) const;
  /// `names` stand in the line at `parent`. Removes in the background what belongs to this session and no object knows
  /// of: a node that was removed, and that a restored backup has brought back.
  void remove_orphans(const std::string& parent, const std::vector<std::string>& names);

  /// Tells the guardian, if there is one, that this process is to lead a term, as long as the guard is kept.
  term_guard_ptr guard_term(const incarnation& bound, const std::string& record, const std::string& node,
                            const std::string& seat);

  /// Adds credentials to the present connection and to every later one, and waits until a server has them. They stay
  /// also if the wait ends before that.
  awaitable<error_code> add_credentials(std::shared_ptr<const credentials> added);

  /// Ends the session.
  awaitable<void> close();
  /// The same, until then at the latest, and waits for all operations to complete. Error: `timed_out`; `why` tells what
  /// is left.
  awaitable<error_code> close_by(lease_clock::time_point deadline, diagnostic why);

  /// Until when an operation that begins now waits for a connection and is tried again.
  lease_clock::time_point retry_deadline() const;

 private:
  struct sought_name {
    bool is_sought = false;  // a lookup is under way
    backend::resolved_name last;
  };

  // backend::link_listener
  void up(const backend::session_key& granted) override;
  void down(error_code reason) override;
  void fired(const backend::watch_event& event) override;

  awaitable<void> live_on(awaitable<void> (core::*loop)());
  awaitable<void> run();
  awaitable<bool> connect_somewhere();
  awaitable<bool> connect_to(backend::endpoint server);
  awaitable<void> serve();
  awaitable<void> look_names_up();
  awaitable<void> pause_before_next_round();
  awaitable<void> prove_life();
  awaitable<void> watch_lease();
  void note_lapse(lease_clock::time_point end);
  void note_name(std::size_t which, backend::resolved_name answer);
  void note_failure(const backend::endpoint& server, const error_code& error);
  void note_service();
  void publish_failures();
  void refresh_certificates();
  error_code keep(const credentials& added);
  void give_missing_credentials();
  void send_first(bool is_new);
  void create_root();
  void look_at_root(bool is_new);
  void forsake();
  void turn_away();
  void leave_past();
  void answer_all(error_code error);
  void enter(session_state state, error_code reason);
  void call_guardian();
  void note_guardian(bool is_held, bool is_news, const error_code& error, std::string_view detail);
  void end_incarnation(error_code reason);
  void give_up();
  void end(error_code reason);
  void apply_root(backend::request& what) const;
  void strip_root(backend::reply& answer) const;
  std::string full_path(std::string path) const;
  std::string below_root(std::string path) const;
  lease_clock::time_point next_beat() const;
  std::vector<exchange_ptr> beat();
  backend::request heartbeat() const;
  void note_probe(backend::opcode op, const std::string& path, const backend::reply& answer);
  /// `paths`: of the request, or of each operation of a transaction; empty without a trace and a log.
  void answered(backend::opcode op, const std::vector<std::string>& paths, lease_clock::time_point sent,
                const backend::reply& answer);
  bool shows_past(std::uint64_t number, const backend::reply& answer);
  exchange_ptr refuse(error_code why);
  exchange_ptr refuse_unsent(const backend::request& what, error_code why);
  error_code report_no_connection(const backend::request& what, bool was_sent) const;
  std::chrono::milliseconds connect_timeout() const;

  scheduler_ptr scheduler_;
  session_options options_;
  std::vector<backend::endpoint> names_;
  std::vector<sought_name> found_;  // of each
  server_list servers_;
  failure_list failures_;
  session_log log_;
  std::string root_;
  std::shared_ptr<backend::tls_context> tls_;  // null: plain text
  std::vector<credentials> credentials_;       // those of the options, and behind them those that were added
  std::size_t given_credentials_ = 0;          // so many of them did the present connection begin with

  std::unique_ptr<backend::link> link_;
  bool up_ = false;
  bool served_ = false;   // the present server has answered a request
  bool is_past_ = false;  // the present server has shown an older state than the session has seen
  bool closing_ = false;
  lease_clock::time_point close_by_ = never;
  int closers_ = 0;              // operations that wait for all others
  bool is_unconfirmed_ = false;  // the server has not confirmed the end of the session in time
  error_code ended_;
  error_code link_error_;
  backend::endpoint server_;
  bool has_lost_writes_ = false;  // a write on the present connection was not answered (`forsake` sets it, too)
  lease_clock::time_point asked_{};
  back_off pause_;
  incarnation_ptr incarnation_;
  std::map<std::uint64_t, exchange_ptr> in_flight_;  // in the order of sending
  exchange_ptr welcome_;                             // the first request on the present connection
  std::uint64_t welcome_number_ = 0;                 // of a catch-up, else 0: its refusal ends the connection
  std::shared_ptr<watch_registry> watches_;
  condition changed_;
  condition link_changed_;
  condition heartbeat_;  // wakes `prove_life` and `watch_lease`
  path_commons commons_;
  turnstile entrance_{256};
  std::string own_mark_;                                        // with it all GUIDs of nodes of ours begin
  std::map<std::string, std::weak_ptr<const void>> own_guids_;  // and whose they are
  std::size_t most_own_guids_ = 64;                             // then those whose owner has gone are forgotten
  std::list<condition*> holders_;
  lease_clock::time_point next_probe_{};       // of the nodes that are waited for
  std::shared_ptr<guardian_client> guardian_;  // null: there is to be none
  lease_clock::time_point told_lapse_{};       // the end of the lease that the log was told last

  mutable std::mutex mutex_;  // guards the members below, which any thread may read
  session_status status_;
  session_counters counters_;
  lease lease_;
  bool given_up_ = false;  // the user closes the session: no lease is valid any more
};

using core_ptr = std::shared_ptr<core>;

}  // namespace zkrecipes::detail
