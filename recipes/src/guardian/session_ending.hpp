// The steps of `end_dead_session`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backend/link.hpp"
#include "backend/request.hpp"
#include "backend/world.hpp"
#include "guardian/dead_session.hpp"
#include "session/condition.hpp"
#include "session/operation.hpp"
#include "session/outcomes.hpp"
#include "session/server_list.hpp"

namespace zkrecipes::detail {

/// The records of the terms of a dead process, and what is to be written into them.
/// The held terms, what is known of each of them, and the requests that bring this further. It sends nothing itself.
/// Nothing is written into the record of a leader whose node, the seat, was never seen as one of the session.
class dead_terms {
 public:
  dead_terms(std::vector<held_term> held, std::int64_t session_id);

  /// Whether each record has been written, or need not or must not be. Seats do not count: they end with the session.
  bool is_settled() const noexcept;
  std::size_t died() const noexcept { return count(state::died); }
  std::size_t passed_over() const noexcept { return count(state::passed_over); }
  /// Whether a server has refused one of the last looks or writes because it is too busy.
  bool was_refused() const noexcept { return was_refused_; }
  /// Whether a record may not be read or written.
  bool was_forbidden() const noexcept { return was_forbidden_; }

  /// Reads of what is not settled yet.
  std::vector<backend::request> looks();
  /// The answers, in the order of `looks`.
  void handle_looks(const std::vector<backend::reply>& answers);
  /// The transactions that follow from the looks, of bounded size. Records come before seats, so that a successor finds
  /// the record written when it becomes the first.
  std::vector<backend::request> writes();
  /// The answers, in the order of `writes`.
  void handle_writes(const std::vector<backend::reply>& answers);

 private:
  enum class state { open, died, passed_over };
  struct record {
    held_term held;
    std::size_t seat;  // its place in `seats_`
    state is = state::open;
    std::string next{};  // what is to be written; empty: it has to be looked at
    std::int32_t version = 0;
    bool was_sent = false;  // a write of ours may have been executed
  };
  struct seat {
    std::string path;
    bool is_open = true;
    bool was_ours = false;  // it was seen, as a node of the session
  };
  /// One transaction: what each of its operations is about.
  struct chunk {
    transaction all{};
    std::size_t bytes = 0;
    std::vector<record*> records{};  // of each operation; null: a seat's
    std::vector<seat*> seats{};
  };

  std::size_t count(state which) const noexcept;
  std::size_t place_of(const std::string& seat_path);
  void record_seat(seat& which, const backend::reply& answer);
  void judge(record& which, const backend::reply& answer) const;
  void handle_read(record& which, const backend::reply& answer);
  chunk& room_for(std::size_t operations, std::size_t bytes);
  void add(record& which);
  void add(seat& which);
  void handle_write(chunk& which, const backend::reply& answer);
  void handle_refusal(chunk& which, const backend::reply& answer);
  void give_up(record& which, const error_code& why);

  std::int64_t session_id_;
  std::vector<record> records_;
  std::vector<seat> seats_;
  std::vector<chunk> chunks_;
  bool was_forbidden_ = false;
  bool was_refused_ = false;
};

/// One connection without the rest of a session: the caller decides everything.
/// On the strand. Each wait ends at its deadline, with `timed_out`, and with `operation_aborted` if the caller is
/// cancelled.
class lone_link final : private backend::link_listener {
 public:
  explicit lone_link(scheduler_ptr on);
  lone_link(const lone_link&) = delete;

  /// Connects. Without an error, the session that the server granted. Otherwise the reason of `link_listener::down`.
  awaitable<outcome<backend::session_key>> open(backend::link_options with, lease_clock::time_point deadline);
  /// Sends all requests at once. With an error, those that are not answered have `connection_loss`, and the link is
  /// down.
  awaitable<outcome<std::vector<backend::reply>>> ask(std::vector<backend::request> all,
                                                      lease_clock::time_point deadline);
  /// Asks the server to end the session, and waits for the end of the connection. `closed`: it has ended.
  awaitable<error_code> close_session(lease_clock::time_point deadline);

 private:
  void up(const backend::session_key& granted) override;
  void down(error_code reason) override;
  void fired(const backend::watch_event&) override {}
  void drop(const error_code& why);

  scheduler_ptr on_;
  condition changed_;
  backend::session_key granted_;
  bool is_up_ = false;
  error_code why_down_;
  std::unique_ptr<backend::link> link_;
};

/// On the strand.
class session_ending {
 public:
  session_ending(scheduler_ptr on, dead_session what, lease_clock::time_point deadline);

  awaitable<dead_session_result> run();

 private:
  bool is_over() const { return is_closed_ || stopped_ || on_->now() >= deadline_; }
  lease_clock::time_point limit() const;
  void lengthen_time_limit();
  dead_session_result result() const;
  awaitable<void> resolve_names();
  awaitable<void> wait_until(lease_clock::time_point when);
  awaitable<void> end_at(backend::endpoint server);
  void handle_refusal(const error_code& why);
  awaitable<error_code> write_deaths(lone_link& link);
  awaitable<error_code> look(lone_link& link);

  scheduler_ptr on_;
  dead_session what_;
  lease_clock::time_point deadline_;
  lease_clock::time_point records_by_;  // half of the time: later the session is closed without its records
  dead_terms terms_;
  server_list servers_;
  back_off pause_;
  condition changed_;
  std::chrono::milliseconds time_limit_;  // with one server
  int lost_ = 0;                          // connections, over the records
  bool was_resumed_ = false;              // at least once
  bool is_closed_ = false;
  bool is_busy_ = false;  // the server could not catch up
  error_code stopped_;    // by the caller
};

}  // namespace zkrecipes::detail
