// The requests of a session: those sent on its present connection, and what their answers show; and how they are tried
// again, after a lost connection and when a server is too busy.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/lease_clock.hpp>
#include <zkrecipes/node.hpp>

#include "backend/link.hpp"
#include "backend/request.hpp"
#include "session/condition.hpp"
#include "session/outcomes.hpp"
#include "session/paths.hpp"
#include "session/session_life.hpp"
#include "session/watch_registry.hpp"

namespace zkrecipes::detail {

/// The connection of a session to a server, or the attempt to get one.
struct connection {
  explicit connection(scheduler_ptr on) : changed(std::move(on)) {}

  /// A request can be sent, and its answer is believed.
  bool is_usable() const noexcept { return link && is_up && !is_past; }

  std::unique_ptr<backend::link> link;
  backend::endpoint server;
  lease_clock::time_point asked{};
  error_code error;  ///< Why it has ended.
  bool is_up = false;
  bool is_served = false;        ///< The server has answered a request.
  bool is_past = false;          ///< The server has shown an older state than the session has seen.
  bool has_lost_writes = false;  ///< A write was not answered, or the server was left.
  condition changed;
};

/// A request in flight, and its answer.
struct exchange {
  exchange(scheduler_ptr s, bool writes) : done(std::move(s)), is_write(writes) {}
  std::optional<backend::reply> answer;
  condition done;
  bool is_write;
};

using exchange_ptr = std::shared_ptr<exchange>;

/// Told what an answer says of the server that gave it.
class answer_listener {
 public:
  /// The first answer on this connection.
  virtual void on_service() = 0;
  /// The lease was over and holds again.
  virtual void on_lease_renewed() = 0;
  // The server can not serve this session. The request whose answer shows that is still in flight.
  /// The server has refused the catch-up: its reads may show an older state than the session has seen.
  virtual void on_catch_up_refused() = 0;
  /// The server serves only sessions with credentials, and has executed nothing of this connection.
  virtual void on_credentials_required() = 0;
  /// The servers have gone back to an older state than the session has seen: a backup was restored.
  virtual void on_older_state() = 0;

 protected:
  ~answer_listener() = default;
};

class requests_in_flight {
 public:
  requests_in_flight(session_life& whose, answer_listener& told, root_path root);

  const std::string& root() const noexcept { return root_.text(); }  ///< In front of each path, or empty.
  const root_path& paths() const noexcept { return root_; }
  bool connected() const noexcept { return connection_.is_usable(); }

  /// Sends a request at once, behind those sent before. Without a connection the answer is `connection_loss`.
  exchange_ptr send(backend::request what);
  /// Waits for the answer. `operation_aborted` if the wait is cancelled; the request itself goes on.
  awaitable<backend::reply> answer(exchange_ptr which);

  // For the parts of a session.
  /// Hands out the first request of this connection, once, while its answer is awaited: it proves life like a
  /// heartbeat, so none has to be sent beside it.
  exchange_ptr take_welcome();
  const std::shared_ptr<watch_registry>& watches() const noexcept { return watches_; }

 protected:
  ~requests_in_flight() = default;
  /// Sends the requests that the server has to execute before any request that waited for the connection.
  void send_first(bool is_new);
  /// Answers all requests in flight, because the connection or the session is over.
  void answer_all(const error_code& error);
  connection& present() noexcept { return connection_; }

 private:
  struct sent_request;

  exchange_ptr refuse(const error_code& why);
  exchange_ptr refuse_unsent(const backend::request& what, const error_code& why);
  bool on_answer(const sent_request& request, backend::reply& answer);
  void record(const sent_request& request, const backend::reply& answer);
  void on_probe(backend::opcode op, const std::string& path, const backend::reply& answer);
  bool shows_past(std::uint64_t number, const backend::reply& answer);
  void create_root();
  void look_at_root();
  void forget_watch(watch_kind kind, const std::string& path);

  session_life& life_;
  answer_listener& told_;
  root_path root_;
  connection connection_;
  std::map<std::uint64_t, exchange_ptr> in_flight_;  // in the order of sending
  exchange_ptr welcome_;                             // the first request on the present connection
  std::uint64_t welcome_number_ = 0;                 // of a catch-up, else 0: its refusal ends the connection
  std::shared_ptr<watch_registry> watches_;
};

/// The reaction to a connection that breaks before the answer.
enum class retry {
  once,    ///< Report `connection_loss`: only the caller can tell what happened.
  always,  ///< Send it again: doing it twice does no harm.
};

class requests : public requests_in_flight {
 public:
  requests(session_life& whose, answer_listener& told, root_path root)
      : requests_in_flight(whose, told, std::move(root)), life_(whose) {}

  /// Waits for a connection. Errors: `operation_aborted`, `timed_out`, that of `session_life::over`, or the reason why
  /// `bound` ended.
  awaitable<error_code> wait_connected(incarnation_ptr bound, lease_clock::time_point deadline);

  /// Waits for a connection, sends the request and waits for the answer. `policy` decides what happens if the
  /// connection breaks. With `bound` the request is sent in that incarnation only. Errors besides the server's: those
  /// of `wait_connected`, but `connection_loss` instead of `timed_out`, after `retry_policy::limit` or at the deadline.
  awaitable<backend::reply> perform(backend::request what, retry policy, incarnation_ptr bound = nullptr,
                                    lease_clock::time_point deadline = never);

  /// Like `perform` with `retry::always`, for several requests at once, in one round trip: more only if the server
  /// throttles a later one. Returns their answers, in order.
  awaitable<std::vector<backend::reply>> perform_all(std::vector<backend::request> what,
                                                     incarnation_ptr bound = nullptr,
                                                     lease_clock::time_point deadline = never);

  /// Creates a persistent node and its missing parents, in one round trip.
  awaitable<error_code> ensure_path(std::string path, incarnation_ptr bound = nullptr);

  /// Until when an operation that begins now waits for a connection and is tried again.
  lease_clock::time_point retry_deadline() const;

  /// To be called after `connection_loss`, before the same request is sent again.
  awaitable<void> before_retry();

  /// The pauses of one operation whose request was throttled (`reply::throttled`). Such a request was not executed, so
  /// it is sent again, also if it is a write, for as long as the operation may take.
  back_off backoff() const;
  /// Waits for the next of these pauses. An error means that there is no further try: the reason why the session or
  /// `bound` has ended, or `operation_aborted`.
  awaitable<error_code> pause_before_retry(back_off& pause, incarnation_ptr bound);

  /// Waits until the pause is over. False: there is no further try, because the session or `bound` has ended or the
  /// wait was cancelled.
  awaitable<bool> rest(back_off& pause, incarnation_ptr bound = nullptr);

 protected:
  ~requests() = default;

 private:
  awaitable<std::vector<backend::reply>> send_all(const std::vector<backend::request>& what, bool one_by_one,
                                                  incarnation_ptr bound, lease_clock::time_point deadline);
  error_code report_no_connection(const backend::request& what, bool was_sent) const;

  session_life& life_;
};

}  // namespace zkrecipes::detail
