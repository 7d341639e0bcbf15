#include "guardian/dead_session.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/link.hpp"
#include "backend/request.hpp"
#include "backend/world.hpp"
#include "election/term_record.hpp"
#include "session/condition.hpp"
#include "session/operation.hpp"
#include "session/outcomes.hpp"
#include "session/server_list.hpp"
#include "session/together.hpp"

namespace zkrecipes::detail {

// The steps of `end_dead_session`.

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

using backend::opcode;

namespace {

/// A transaction is a unit of the servers' log, and a busy ensemble lets others in between two of them.
constexpr std::size_t most_operations = 200;
constexpr std::size_t most_bytes = max_data_bytes / 2;

/// Whether this is the leader's node. A member of a shard group signs with a number behind its name: "NAME#3".
bool is_seat_of(std::string_view path, std::string_view leader_node) {
  const auto name = path.substr(path.rfind('/') + 1);
  const auto rest = leader_node.substr(std::min(name.size(), leader_node.size()));
  return !name.empty() && leader_node.starts_with(name) && (rest.empty() || rest.front() == '#');
}

}  // namespace

dead_terms::dead_terms(std::vector<held_term> held, std::int64_t session_id) : session_id_(session_id) {
  for (auto& each : held) {
    const auto place = place_of(each.seat_path);
    records_.push_back({std::move(each), place});
  }
}

std::size_t dead_terms::place_of(const std::string& seat_path) {
  const auto known = std::ranges::find(seats_, seat_path, &seat::path);
  if (known != seats_.end()) return static_cast<std::size_t>(known - seats_.begin());
  seats_.push_back({seat_path, !seat_path.empty()});
  return seats_.size() - 1;
}

bool dead_terms::is_settled() const noexcept { return count(state::open) == 0; }

std::size_t dead_terms::count(state which) const noexcept {
  return static_cast<std::size_t>(std::ranges::count(records_, which, &record::is));
}

std::vector<backend::request> dead_terms::looks() {
  was_refused_ = false;
  std::vector<backend::request> all;
  for (const auto& each : records_) {
    if (each.is == state::open) all.push_back(make_request(opcode::get, each.held.record_path));
  }
  for (const auto& each : seats_) {
    if (each.is_open) all.push_back(make_request(opcode::exists, each.path));
  }
  return all;
}

void dead_terms::handle_looks(const std::vector<backend::reply>& answers) {
  auto answer = answers.begin() + static_cast<std::ptrdiff_t>(count(state::open));
  for (auto& each : seats_) {
    if (each.is_open) record_seat(each, *answer++);
  }
  answer = answers.begin();
  for (auto& each : records_) {
    if (each.is == state::open) handle_read(each, *answer++);
  }
}

void dead_terms::record_seat(seat& which, const backend::reply& answer) {
  was_refused_ = was_refused_ || is_server_refusal(answer.error);
  if (is_untold(answer.error)) return;
  which.is_open = !answer.error && answer.stat.ephemeral_owner == session_id_;
  which.was_ours = which.was_ours || which.is_open;
}

void dead_terms::handle_read(record& which, const backend::reply& answer) {
  was_refused_ = was_refused_ || is_server_refusal(answer.error);
  if (is_unanswered(answer.error) || is_server_refusal(answer.error)) return;
  if (answer.error) return give_up(which, answer.error);
  judge(which, answer);
}

/// Nothing is written over a record that names another leader, or one whose node is not the session's, or says that the
/// term is over.
void dead_terms::judge(record& which, const backend::reply& answer) const {
  const auto present = parse_record(answer.data);
  const auto& at = seats_[which.seat];
  const bool is_named =
      present && present->leader_node == which.held.leader_node && is_seat_of(at.path, present->leader_node);
  const bool is_held = is_named && (at.was_ours || at.is_open);
  auto next = is_held ? record_of_death(answer.data) : std::nullopt;
  const bool is_done = is_held && present->phase == term_phase::died && which.was_sent;
  const bool fits = next && 2 * next->size() <= max_data_bytes;
  if (!fits) {
    which.is = is_done ? state::died : state::passed_over;
    return;
  }
  if (!at.was_ours) return;  // it is not known yet
  which.next = std::move(*next);
  which.version = answer.stat.version;
}

dead_terms::chunk& dead_terms::room_for(std::size_t operations, std::size_t bytes) {
  const bool is_full = !chunks_.empty() && (chunks_.back().records.size() + operations > most_operations ||
                                            chunks_.back().bytes + bytes > most_bytes);
  if (chunks_.empty() || is_full) chunks_.emplace_back();
  chunks_.back().bytes += bytes;
  return chunks_.back();
}

/// Two writes, because a candidate that saw `handing_over` takes the next version for `retired`, unread.
void dead_terms::add(record& which) {
  const auto& path = which.held.record_path;
  auto& to = room_for(2, 2 * (path.size() + which.next.size()));
  to.all.set(path, which.next, which.version).set(path, which.next, which.version + 1);
  to.records.insert(to.records.end(), {&which, &which});
  to.seats.insert(to.seats.end(), {nullptr, nullptr});
  which.next.clear();  // it is looked at again before it is written again
}

void dead_terms::add(seat& which) {
  auto& to = room_for(1, which.path.size());
  to.all.remove(which.path);
  to.records.push_back(nullptr);
  to.seats.push_back(&which);
}

std::vector<backend::request> dead_terms::writes() {
  chunks_.clear();
  for (auto& each : records_) {
    if (each.is == state::open && !each.next.empty()) add(each);
  }
  if (chunks_.empty()) return {};
  for (auto& each : seats_) {
    if (each.is_open && each.was_ours) add(each);
  }
  std::vector<backend::request> all;
  for (const auto& each : chunks_) all.push_back(backend::make_multi(each.all));
  return all;
}

void dead_terms::handle_writes(const std::vector<backend::reply>& answers) {
  for (std::size_t i = 0; i < chunks_.size(); ++i) handle_write(chunks_[i], answers[i]);
  chunks_.clear();
}

void dead_terms::handle_write(chunk& which, const backend::reply& answer) {
  if (answer.error && !is_unanswered(answer.error)) return handle_refusal(which, answer);
  for (auto* each : which.records) {
    if (!each) continue;
    if (!answer.error) each->is = state::died;
    each->was_sent = each->was_sent || answer.sent;
  }
  for (auto* each : which.seats) {
    if (each && !answer.error) each->is_open = false;
  }
}

/// Nothing of the transaction has happened. A look tells what becomes of a conflict.
void dead_terms::handle_refusal(chunk& which, const backend::reply& answer) {
  was_refused_ = was_refused_ || is_server_refusal(answer.error);
  if (is_server_refusal(answer.error)) return;
  const int culprit = failed_at(answer);
  if (culprit < 0) {
    for (auto* each : which.records) {
      if (each) give_up(*each, answer.error);
    }
    return;
  }
  const auto at = static_cast<std::size_t>(culprit);
  if (which.seats[at]) which.seats[at]->is_open = false;  // it ends with the session
  const bool is_conflict = is_write_conflict(answer.error);
  if (which.records[at] && !is_conflict) give_up(*which.records[at], answer.error);
}

void dead_terms::give_up(record& which, const error_code& why) {
  was_forbidden_ = was_forbidden_ || why == errc::no_auth;
  which.is = state::passed_over;
}

namespace {

/// The answers, which can come after the caller has given up.
struct awaited_answers {
  std::vector<backend::reply> all;
  std::size_t open = 0;
};

error_code error_of(wake why) {
  if (why == wake::timed_out) return errc::timed_out;
  return why == wake::cancelled ? make_error_code(asio::error::operation_aborted) : error_code();
}

}  // namespace

lone_link::lone_link(scheduler_ptr on) : on_(std::move(on)), changed_(on_) {}

void lone_link::up(const backend::session_key& granted) {
  granted_ = granted;
  is_up_ = true;
  changed_.notify();
}

void lone_link::down(error_code reason) {
  is_up_ = false;
  why_down_ = reason;
  changed_.notify();
}

awaitable<outcome<backend::session_key>> lone_link::open(backend::link_options with, lease_clock::time_point deadline) {
  link_ = on_->world->connect(std::move(with), *this);
  while (!is_up_ && !why_down_) {
    auto why = co_await changed_.wait(deadline);
    if (auto error = error_of(why)) co_return failed<backend::session_key>(error);
  }
  if (!is_up_) co_return failed<backend::session_key>(why_down_);
  co_return outcome<backend::session_key>(error_code(), granted_);
}

awaitable<outcome<std::vector<backend::reply>>> lone_link::ask(std::vector<backend::request> all,
                                                               lease_clock::time_point deadline) {
  auto answers = std::make_shared<awaited_answers>();
  answers->open = all.size();
  backend::reply unanswered;
  unanswered.error = errc::connection_loss;
  unanswered.sent = is_up_;
  answers->all.resize(all.size(), unanswered);
  for (std::size_t i = 0; is_up_ && i < all.size(); ++i) {
    link_->submit(std::move(all[i]), [this, answers, i](backend::reply answer) {
      answers->all[i] = std::move(answer);
      if (--answers->open == 0) changed_.notify();
    });
  }
  error_code error;
  while (is_up_ && answers->open > 0 && !error) {
    auto why = co_await changed_.wait(deadline);
    error = error_of(why);
  }
  // The answers to what was pending come before the end of the link is told.
  const auto is_lost = [](const backend::reply& each) { return is_unanswered(each.error); };
  if (!error && std::ranges::any_of(answers->all, is_lost)) error = errc::connection_loss;
  if (error) drop(error);
  co_return outcome<std::vector<backend::reply>>(error, std::move(answers->all));
}

awaitable<error_code> lone_link::close_session(lease_clock::time_point deadline) {
  if (is_up_) link_->close_session();
  error_code error;
  while (is_up_ && !error) {
    auto why = co_await changed_.wait(deadline);
    error = error_of(why);
  }
  drop(error ? error : why_down_);
  co_return why_down_;
}

void lone_link::drop(const error_code& why) {
  link_.reset();
  is_up_ = false;
  why_down_ = why;
}

using namespace std::chrono_literals;

namespace {

/// A server that is alive answers in a few round trips. Each round over the servers gives them twice as long.
constexpr std::chrono::milliseconds first_time_limit = 1s;
constexpr std::chrono::milliseconds longest_time_limit = 30s;
constexpr int most_rounds_with_one = 8;  // with one server: some seconds, with the pauses
/// After so many connections that were lost over the records the session is closed without them: perhaps no server
/// takes the transaction, and each connection keeps the session alive.
constexpr int most_lost = 4;
constexpr std::chrono::milliseconds first_rest = 20ms;
constexpr std::chrono::milliseconds longest_rest = 1s;

/// The addresses, which can come after the caller has given up.
struct resolution {
  explicit resolution(scheduler_ptr on) : changed(std::move(on)) {}
  bool is_done = false;
  std::vector<backend::resolved_name> all{};
  condition changed;
};

}  // namespace

session_ending::session_ending(scheduler_ptr on, dead_session what, lease_clock::time_point deadline)
    : on_(std::move(on)),
      what_(std::move(what)),
      deadline_(deadline),
      records_by_(on_->now() + (deadline - on_->now()) / 2),
      terms_(std::move(what_.terms), what_.key.id),
      pause_(first_rest, longest_rest),
      changed_(on_),
      time_limit_(first_time_limit) {}

lease_clock::time_point session_ending::limit() const { return std::min(deadline_, on_->now() + time_limit_); }

void session_ending::lengthen_time_limit() { time_limit_ = std::min(2 * time_limit_, longest_time_limit); }

awaitable<dead_session_result> session_ending::run() {
  while (!is_over()) {
    co_await resolve_names();
    const auto servers = servers_.in_turn([this] { return on_->world->random(); }, on_->now());
    for (const auto& each : servers) {
      if (!is_over()) co_await end_at(each);
    }
    lengthen_time_limit();
    if (!is_over()) co_await wait_until(pause_.next(*on_));
  }
  co_return result();
}

dead_session_result session_ending::result() const {
  dead_session_result all;
  all.died = terms_.died();
  all.passed_over = terms_.passed_over();
  all.is_closed = is_closed_;
  if (!is_closed_) {
    all.error = stopped_ ? stopped_ : make_error_code(errc::timed_out);
  } else if (!was_resumed_) {
    all.error = errc::session_expired;
  } else if (terms_.was_forbidden()) {
    all.error = errc::no_auth;
  } else if (!terms_.is_settled()) {
    all.error = lost_ == most_lost ? errc::connection_loss : errc::server_error;
  }
  return all;
}

/// Names that do not resolve in time keep the addresses that they had.
awaitable<void> session_ending::resolve_names() {
  auto asked = std::make_shared<resolution>(on_);
  on_->world->resolve(what_.servers, [asked](std::vector<backend::resolved_name> all) {
    asked->all = std::move(all);
    asked->is_done = true;
    asked->changed.notify();
  });
  const auto until = servers_.empty() ? deadline_ : limit();
  while (!asked->is_done && !stopped_ && on_->now() < until) {
    auto why = co_await asked->changed.wait(until);
    if (why == wake::cancelled) stopped_ = asio::error::operation_aborted;
  }
  if (asked->is_done) servers_.resolved(std::move(asked->all));
}

awaitable<void> session_ending::wait_until(lease_clock::time_point when) {
  auto why = co_await changed_.wait(std::min(when, deadline_));
  if (why == wake::cancelled) stopped_ = asio::error::operation_aborted;
}

/// Takes the session up at this server and ends it there. The next attempt tells whether it is over.
awaitable<void> session_ending::end_at(backend::endpoint server) {
  lone_link link(on_);
  backend::link_options with{server, what_.key, what_.digest, what_.tls, servers_.names_of(server)};
  auto opened = co_await link.open(std::move(with), limit());
  const auto& [error, granted] = opened;
  if (error) co_return handle_refusal(error);
  if (granted.id != what_.key.id) {  // a session that nobody wants, in place of one that is over
    is_closed_ = true;
    co_await link.close_session(limit());
    co_return;
  }
  was_resumed_ = true;
  if (lost_ < most_lost && on_->now() < records_by_) {
    const auto unwritten = co_await write_deaths(link);
    if (unwritten == errc::connection_loss) ++lost_;  // and not if a server was too slow for us
    if (unwritten) co_return;
  }
  const auto end = co_await link.close_session(limit());
  if (is_cancelled(end)) stopped_ = end;
}

void session_ending::handle_refusal(const error_code& why) {
  if (is_expired(why)) is_closed_ = true;
  if (is_cancelled(why)) stopped_ = why;
  if (why == errc::auth_failed) what_.digest.clear();  // the session can be closed without rights
}

/// A server that is too busy for the records for a while must not keep the session alive. Errors: why they could not be
/// written over this connection, which has been given up.
awaitable<error_code> session_ending::write_deaths(lone_link& link) {
  for (int rounds = 0; !terms_.is_settled() && rounds < most_rounds_with_one; ++rounds) {
    auto unread = co_await look(link);
    if (!unread && is_over()) unread = errc::timed_out;
    if (unread) co_return unread;
    auto writes = terms_.writes();
    if (!writes.empty()) {
      auto written = co_await link.ask(std::move(writes), limit());
      const auto& [error, answers] = written;
      terms_.handle_writes(answers);
      if (is_cancelled(error)) stopped_ = error;
      if (error) co_return error;
    }
    if (is_busy_ || terms_.was_refused()) co_await wait_until(pause_.next(*on_));
  }
  co_return error_code();
}

/// Behind a catch-up, because the server may lag behind what the process had written.
awaitable<error_code> session_ending::look(lone_link& link) {
  auto looks = terms_.looks();
  looks.insert(looks.begin(), backend::make_catch_up());
  auto asked = co_await link.ask(std::move(looks), limit());
  auto& [error, answers] = asked;
  if (is_cancelled(error)) stopped_ = error;
  if (error) co_return error;
  const bool is_latest = has_caught_up(answers.front().error);
  answers.erase(answers.begin());
  is_busy_ = !is_latest;
  if (is_latest) terms_.handle_looks(answers);
  co_return error_code();
}

awaitable<dead_session_result> end_dead_session(scheduler_ptr on, dead_session what, lease_clock::time_point deadline) {
  session_ending ending(std::move(on), std::move(what), deadline);
  co_return co_await ending.run();
}

}  // namespace zkrecipes::detail
