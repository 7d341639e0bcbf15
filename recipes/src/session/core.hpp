// The session behind every public object: it connects, keeps incarnations apart, carries requests and proves that it
// lives. Everything here happens on one strand, except what is said to be safe from any thread.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <zkrecipes/session.hpp>

#include "backend/backend.hpp"
#include "session/condition.hpp"
#include "session/lease.hpp"
#include "session/paths.hpp"
#include "session/server_list.hpp"
#include "session/turnstile.hpp"
#include "session/watches.hpp"

namespace zkrecipes::detail {

/// One ZooKeeper session out of those that a session object lives through.
struct incarnation {
  std::uint64_t number = 0;
  backend::session_key key;
  error_code ended;  ///< Why it is over: `session_expired` or `closed`.
  lease_clock::time_point lease_end{};  ///< Once it is over: until when its lease would have lasted.
};

using incarnation_ptr = std::shared_ptr<incarnation>;

/// A request on its way.
struct exchange {
  explicit exchange(scheduler_ptr s) : done(std::move(s)) {}
  std::optional<backend::reply> answer;
  condition done;
};

using exchange_ptr = std::shared_ptr<exchange>;

/// A removal that goes on in the background.
struct removal {
  explicit removal(scheduler_ptr s) : changed(std::move(s)) {}
  error_code answer;     ///< To the latest try.
  bool is_over = false;  ///< The node is gone, or goes with its session.
  condition changed;
};

using removal_ptr = std::shared_ptr<removal>;

/// Whether a removal that was answered so leaves the node where it is. A later one may succeed: somebody may give the right,
/// or the server be less busy.
bool leaves_node(const error_code& answer);

class back_off;
class roll_call;

/// What to do when the connection breaks before the answer.
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
  /// The end of the lease; the clock's zero if there is none, or none of the incarnation with this number (0: any).
  lease_clock::time_point valid_until(std::uint64_t number = 0) const;
  const session_options& options() const noexcept { return options_; }

  // On the strand.
  lease_clock::time_point now() const { return scheduler_->now(); }
  bool connected() const noexcept { return link_ && up_; }
  error_code ended() const noexcept { return ended_; }  ///< `closed` or `auth_failed`, once it is over for good.
  /// The same, and `closed` from the moment on when the close was asked for.
  error_code over() const noexcept { return closing_ && !ended_ ? make_error_code(errc::closed) : ended_; }
  condition& changed() noexcept { return changed_; }   ///< The status changed.
  incarnation_ptr current() const noexcept { return incarnation_; }

  /// Waits for a connection. Errors: `operation_aborted`, `timed_out`, what `ended` says, and what ended `bound`.
  awaitable<error_code> wait_connected(incarnation_ptr bound, lease_clock::time_point deadline);

  /// Sends a request at once, behind those sent before. Without a connection it is answered `connection_loss`.
  exchange_ptr send(backend::request what);

  /// The answer; `operation_aborted` if cancelled: the request goes on.
  awaitable<backend::reply> answer(exchange_ptr which);

  /// Sends, and does about a broken connection what the policy says; not in another incarnation than `bound`, if given.
  /// Error, besides the server's: `connection_loss` after `retry_policy::limit` or at the deadline.
  awaitable<backend::reply> perform(backend::request what, retry policy, incarnation_ptr bound = nullptr,
                                    lease_clock::time_point deadline = never);

  /// The same for many at once, which may be done twice; their answers, in order. All of them cost one round trip.
  awaitable<std::vector<backend::reply>> perform_all(std::vector<backend::request> what, incarnation_ptr bound = nullptr,
                                                     lease_clock::time_point deadline = never);

  /// After `connection_loss`, before the same is sent again.
  awaitable<void> before_retry();

  /// The pauses of one operation between tries that the server was too busy for (`reply::throttled`). Such a request, a write
  /// too, is sent again for as long as the operation may take.
  back_off patience() const;
  /// The next of them. Error: there is no other try; why the session or `bound` has ended, or `operation_aborted`.
  awaitable<error_code> outwait(back_off& pause, incarnation_ptr bound);

  /// Until the pause is over. False: there is no other try, the session or `bound` has ended, or this was cancelled.
  awaitable<bool> rest(back_off& pause, incarnation_ptr bound = nullptr);

  /// Creates a persistent node and its missing parents, in one round trip.
  awaitable<error_code> ensure_path(std::string path, incarnation_ptr bound = nullptr);

  /// Removes a node in the background, for as long as the incarnation lives, until the server says that it is gone: what
  /// the server refuses or is too busy for is tried again with growing pauses.
  /// `first`: the first try, if it has been sent. With a GUID: every child of the node's parent with that GUID in its name.
  removal_ptr remove_surely(std::string path, incarnation_ptr bound, exchange_ptr first = nullptr);
  void remove_all_surely(std::string parent, std::string guid, incarnation_ptr bound);

  std::unique_ptr<watch> arm(watch_kind kind, std::string path, condition& tell);

  /// To be passed to get in a line: what is on its way takes far more memory than what waits.
  turnstile& entrance() noexcept { return entrance_; }

  /// The list of a line that is about to be asked for, if any: see `roll_call`.
  std::weak_ptr<roll_call>& next_roll_call(const std::string& parent) { return roll_calls_[parent]; }
  void end_roll_call(const std::string& parent) { roll_calls_.erase(parent); }

  /// While there are holders the session proves by heartbeats that it lives; `tell` is notified when the lease is over.
  using holder = std::list<condition*>::iterator;
  holder add_holder(condition& tell);
  void remove_holder(holder which) noexcept { holders_.erase(which); }

  /// On the strand only, as all that draws from the world's random numbers.
  std::string make_guid();

  /// Ends the session.
  awaitable<void> close();

  /// Until when a request that begins now waits for a connection.
  lease_clock::time_point retry_deadline() const;

 private:
  // backend::link_listener
  void up(const backend::session_key& granted) override;
  void down(error_code reason) override;
  void fired(const backend::watch_event& event) override;

  awaitable<void> run();
  awaitable<bool> connect_somewhere();
  awaitable<bool> connect_to(backend::endpoint server);
  awaitable<void> serve();
  awaitable<void> resolve_names();
  awaitable<void> pause_before_next_round();
  awaitable<void> prove_life();
  awaitable<void> watch_lease();
  void send_first(bool is_new);
  void forsake();
  void answer_all(error_code error);
  void enter(session_state state, error_code reason);
  void end_incarnation(error_code reason);
  void give_up();
  void end(error_code reason);
  void apply_root(backend::request& what) const;
  void strip_root(backend::reply& answer) const;
  std::string below_root(std::string path) const;
  backend::request heartbeat() const;
  void answered(backend::opcode op, const std::string& path, lease_clock::time_point sent, const error_code& outcome);
  exchange_ptr refuse(error_code why);
  std::chrono::milliseconds connect_timeout() const;

  scheduler_ptr scheduler_;
  session_options options_;
  std::vector<backend::endpoint> names_;
  server_list servers_;
  std::string root_;

  std::unique_ptr<backend::link> link_;
  bool up_ = false;
  bool served_ = false;  // the present server has answered something
  bool closing_ = false;
  error_code ended_;
  error_code link_error_;
  backend::endpoint server_;
  bool has_lost_writes_ = false;  // on the present connection
  lease_clock::time_point asked_{};
  std::chrono::milliseconds pause_{0};
  incarnation_ptr incarnation_;
  std::map<std::uint64_t, exchange_ptr> in_flight_;  // in the order of sending
  exchange_ptr welcome_;                             // the first request on the present connection
  std::uint64_t welcome_number_ = 0;                 // without its answer the connection is worth nothing; 0: with it, too
  std::shared_ptr<watch_registry> watches_;
  condition changed_;
  condition link_changed_;
  condition heartbeat_;  // for whoever proves that we live, and whoever watches the lease
  std::map<std::string, std::weak_ptr<roll_call>> roll_calls_;
  turnstile entrance_{256};
  std::list<condition*> holders_;

  mutable std::mutex mutex_;  // guards what follows, read from any thread
  session_status status_;
  session_counters counters_;
  lease lease_;
  bool given_up_ = false;  // by us: nothing is believed any more
};

using core_ptr = std::shared_ptr<core>;

}  // namespace zkrecipes::detail
