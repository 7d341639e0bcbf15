#include "career/consumer_coordinator.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>

#include <zkrecipes/consumer/consumer_coordinator.hpp>

#include "career/take_over.hpp"
#include "career/term_state.hpp"
#include "line/own_node.hpp"
#include "line/waiter.hpp"
#include "session/background.hpp"
#include "session/condition.hpp"
#include "session/core.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

/// Keeps the term record at hand for a candidate that is about to lead: while the candidate is next in line, it reads
/// the record whenever that changes. Only the next in line watches the record, so that a change wakes no other
/// candidate. On the strand.
class record_follower : public std::enable_shared_from_this<record_follower> {
 public:
  /// `told` is called with each record that is read.
  record_follower(scheduler_ptr on, std::optional<known_record> known, std::function<void(const term_record&)> told);

  /// Nothing if the record was not read yet, or its node had other data when we got in line.
  const std::optional<known_record>& known() const noexcept { return known_; }

  /// Follows the record, which is the data of the line's parent, until `stop`, or until the candidate's node is lost.
  void start(waiter_ptr candidate);
  void stop();

 private:
  static awaitable<void> follow(std::shared_ptr<record_follower> self, waiter_ptr candidate);

  std::optional<known_record> known_;
  std::function<void(const term_record&)> told_;
  bool stopped_ = false;
  condition changed_;
};

record_follower::record_follower(scheduler_ptr on, std::optional<known_record> known,
                                 std::function<void(const term_record&)> told)
    : known_(std::move(known)), told_(std::move(told)), changed_(std::move(on)) {}

void record_follower::start(waiter_ptr candidate) {
  const auto strand = candidate->node()->session()->strand();
  launch_detached(strand, follow(shared_from_this(), std::move(candidate)));
}

void record_follower::stop() {
  stopped_ = true;
  changed_.notify();
}

awaitable<void> record_follower::follow(std::shared_ptr<record_follower> self, waiter_ptr candidate) {
  const auto& node = *candidate->node();
  const auto& session = *node.session();
  const auto& path = node.line().parent;
  const forwarding line_changes(candidate->changed(), self->changed_);
  back_off pause(session.options().retry.first_pause, session.options().retry.max_pause);
  while (!self->stopped_ && !node.lost()) {
    if (!candidate->line().is_next()) {
      co_await self->changed_.wait();
      continue;
    }
    auto hint = node.session()->arm(watch_kind::data, path, self->changed_);
    auto read = co_await read_record(node.session(), path, node.bound());
    auto& [error, known] = read;
    if (error == errc::connection_loss) continue;  // the watch was not set
    if (error == errc::server_error || error == errc::no_auth) {
      co_await self->changed_.wait(pause.next(*session.get_scheduler()));
      continue;
    }
    if (error) co_return;
    if (!self->stopped_) {
      self->told_(known.record);
      self->known_ = std::move(known);
    }
    while (!hint->fired() && !self->stopped_ && !node.lost()) co_await self->changed_.wait();
  }
}

/// The seat of a leader that was elected: its node is the first in the line of candidates.
class line_seat final : public term_seat {
 public:
  /// `id`: the name under which the candidate stands for election. The record is the data of the line's parent.
  line_seat(own_node_ptr node, std::string id);

  const core_ptr& session() const noexcept override { return node_->session(); }
  const std::string& record_path() const noexcept override { return node_->line().parent; }
  std::string node_path() const override { return node_->path(); }
  error_code lost() const override { return node_->lost(); }
  lease_clock::time_point valid_until() const override { return node_->hold().valid_until(); }

  const incarnation_ptr& bound() const noexcept override { return node_->bound(); }
  bool revoked() const override { return node_->revoked(); }
  condition& changed() noexcept override { return node_->changed(); }

  /// It has gone: we are the first in line now.
  awaitable<outcome<watch_ptr>> watch_leader(const term_record& of, condition& changed) override;
  void sign(term_record& record, const term_record& before, std::int64_t before_ms) const override;
  bool keeps_history() const override { return true; }
  error_code objection(const term_record&) override { return {}; }
  void on_begun(term_record&, std::int64_t, std::int64_t) override {}
  bool has_signed(const term_record& record) const override;
  void add_check(transaction& all) const override;
  void add_leave(transaction& all) const override;
  awaitable<void> show_waiting() override;

  awaitable<outcome<>> leave() override { return node_->leave(); }
  void disown() override { node_->disown(); }
  void clear_away(bool all) override { node_->clear_away(all); }

 private:
  own_node_ptr node_;
  std::string id_;
};

line_seat::line_seat(own_node_ptr node, std::string id) : node_(std::move(node)), id_(std::move(id)) {}

awaitable<outcome<watch_ptr>> line_seat::watch_leader(const term_record&, condition&) {
  co_return outcome<watch_ptr>(error_code(), nullptr);
}

void line_seat::sign(term_record& record, const term_record&, std::int64_t) const {
  record.leader_id = id_;
  record.leader_node = node_->name();
  record.leader_token = node_->token();
}

bool line_seat::has_signed(const term_record& record) const { return record.leader_node == node_->name(); }

void line_seat::add_check(transaction& all) const { all.check(node_->path()); }

void line_seat::add_leave(transaction& all) const { all.remove(node_->path()); }

/// Writes it into our node. Only if nobody has written to the node since we created it, because any other write is a
/// request to us, such as to resign.
awaitable<void> line_seat::show_waiting() {
  const auto& session = node_->session();
  auto show = make_request(backend::opcode::set, node_->path());
  show.data = candidate_data(id_, true);
  show.version = 0;
  co_await session->perform(std::move(show), retry::once, node_->bound(), session->now() + session->options().timeout);
}

using namespace std::chrono_literals;

namespace {

constexpr std::chrono::milliseconds first_refusal_pause = 2s;
constexpr std::chrono::milliseconds longest_refusal_pause = 30s;

}  // namespace

coordinator::coordinator(core_ptr session, std::string path, consumer_coordinator_options options)
    : session_(std::move(session)),
      path_(std::move(path)),
      options_(std::move(options)),
      changed_(session_->get_scheduler()) {}

std::exception_ptr coordinator::failure() const {
  std::lock_guard lock(mutex_);
  return failure_;
}

coordinator_status coordinator::status() const {
  std::lock_guard lock(mutex_);
  return status_;
}

template <class Change>
void coordinator::show(Change&& how) {
  std::lock_guard lock(mutex_);
  how(status_);
}

void coordinator::enter(coordinator_phase phase) {
  show([phase, present = session_->now()](coordinator_status& status) {
    status.phase = phase;
    status.since = present;
  });
}

void coordinator::show_term(const term_record& record) {
  show([&record](coordinator_status& status) {
    status.epoch = record.epoch;
    status.leader = record.leader_id;
  });
}

void coordinator::show_ahead(std::optional<std::size_t> ahead) {
  show([ahead](coordinator_status& status) { status.ahead = ahead; });
}

void coordinator::stop(bool at_once) {
  if (!running_) return;
  stopping_ = true;
  at_once_ = at_once_ || at_once;
  cancel(campaign_, asio::cancellation_type::total);
  if (service_) service_->stop(at_once);
  changed_.notify();
}

void coordinator::resign() {
  if (service_) service_->term()->end(term_end::resigned);
}

error_code coordinator::begin_run(leader_career& career) {
  if (running_.exchange(true)) return errc::busy;
  ++runs_;
  // Checked after `running_` was set: either this sees that runs are forbidden, or the `stop` behind that sees the run.
  auto error = forbidden_ ? make_error_code(errc::closed) : read_traits(career);
  // On the strand, because a `stop` there may have seen this run, and must not be left to the next one.
  if (error) asio::post(session_->strand(), [self = shared_from_this()] { self->end_run(); });
  return error;
}

error_code coordinator::read_traits(leader_career& career) {
  std::exception_ptr failure;
  try {
    traits_ = traits_of(career);
  } catch (...) {
    failure = std::current_exception();
  }
  career_ = &career;
  std::lock_guard lock(mutex_);
  failure_ = failure;
  return failure_ ? make_error_code(errc::career_failed) : error_code();
}

awaitable<outcome<>> coordinator::run(asio::any_io_executor executor) {
  executor_ = asio::make_strand(executor);
  enter(coordinator_phase::campaigning);
  const auto over = [this](int*) {
    enter(coordinator_phase::idle);
    end_run();
  };
  int running = 0;
  const std::unique_ptr<int, decltype(over)> at_the_end(&running, over);  // also if there is no memory
  auto error = co_await run_terms();
  co_return outcome<>(error);
}

awaitable<error_code> coordinator::run_terms() {
  back_off pause(first_refusal_pause, longest_refusal_pause);
  has_worked_ = false;
  while (!stopping_) {
    const auto one = std::make_shared<candidacy>();
    auto body = campaign_and_lead(one);
    co_await or_undo(std::move(body), abandon(one));
    if (failure()) co_return errc::career_failed;
    // Try again after an error that may not occur with a new place, in a new session or at a later moment.
    if (auto over = session_->over()) co_return over;  // while it is being closed a campaign fails at once
    if (stopping_) break;
    if (!mends(one->error, has_worked_)) co_return one->error;
    if (!one->error) pause.reset();
    const bool is_refusal = is_refused(one->error);
    show([&](coordinator_status& status) { status.trouble = is_refusal ? one->error : error_code(); });
    auto until = session_->now() + options_.rest;
    if (is_refusal) until = std::max(until, pause.next(*get_scheduler()));
    co_await rest(until);
  }
  co_return error_code();
}

awaitable<void> coordinator::campaign(std::shared_ptr<coordinator> self, std::shared_ptr<candidacy> one) {
  co_await accept_cancellation();
  auto line = election_line(self->path_);
  line.reads_parent = parent_reading::before_list;
  auto who = std::make_shared<waiter>(self->session_, line, candidate_data(self->options_.id, false));
  auto entered = co_await who->enter();
  one->error = std::get<0>(entered);
  if (one->error) co_return;
  self->has_worked_ = true;
  self->show([](coordinator_status& status) { status.trouble = error_code(); });
  leaving place(who->node());
  one->seat = std::make_shared<line_seat>(who->node(), self->options_.id);
  place.keep();
  who->report_position([self](std::size_t ahead) { self->show_ahead(ahead); });
  auto first = who->parent() ? to_known(*who->parent()) : std::nullopt;
  if (first) self->show_term(first->record);
  auto record = std::make_shared<record_follower>(self->session_->get_scheduler(), std::move(first),
                                                  [self](const term_record& seen) { self->show_term(seen); });
  record->start(who);
  one->error = co_await who->wait(&nearest_ahead);
  record->stop();
  one->known = record->known();
}

awaitable<void> coordinator::campaign_and_lead(std::shared_ptr<candidacy> one) {
  const auto& on = *session_->get_scheduler();
  campaign_ = start_task(on, on.strand, campaign(shared_from_this(), one), changed_, shared_from_this());
  while (!campaign_->done) co_await changed_.wait();
  if (const auto failure = std::exchange(campaign_, nullptr)->failure) std::rethrow_exception(failure);
  if (!one->error) {
    co_await take_over_and_serve(*one);
  } else if (one->seat) {
    co_await one->seat->leave();
    show_ahead(std::nullopt);
  }
}

/// The seat first: the career must not take itself for the leader any more.
awaitable<void> coordinator::abandon(std::shared_ptr<candidacy> one) {
  cancel(campaign_, asio::cancellation_type::total);
  while (campaign_ && !campaign_->done) co_await changed_.wait();
  campaign_.reset();
  show_ahead(std::nullopt);
  if (one->seat) co_await one->seat->leave();
  if (service_) co_await service_->abandon();
  service_.reset();
}

/// At least until then, and until the lease is good again.
awaitable<void> coordinator::rest(lease_clock::time_point until) {
  while (!stopping_ && session_->now() < until) co_await changed_.wait(until);
  const auto pause = session_->options().retry.first_pause;
  while (!stopping_ && session_->has_lapsed()) co_await changed_.wait(session_->now() + pause);
}

awaitable<void> coordinator::take_over_and_serve(candidacy& won) {
  enter(coordinator_phase::taking_over);
  take_over_request what{
      won.seat, traits_.hand_over_deadline, traits_.aftermath, [this] { return stopping_; }, &changed_, won.known};
  auto taken = co_await take_over(std::move(what));
  won.error = std::get<0>(taken);
  if (won.error) {
    co_await won.seat->leave();
  } else {
    show_term(std::get<1>(taken)->record());
    co_await serve(std::get<1>(taken));
  }
  show_ahead(std::nullopt);
  enter(coordinator_phase::campaigning);
}

awaitable<void> coordinator::serve(term_ptr term) {
  auto entered = [this](coordinator_phase phase) { enter(phase); };
  service_ = std::make_shared<term_service>(std::move(term), *career_, traits_, executor_, std::move(entered));
  if (stopping_) service_->stop(at_once_);
  co_await service_->run();
  if (service_->failure()) {
    std::lock_guard lock(mutex_);
    failure_ = service_->failure();
  }
  service_.reset();
}

}  // namespace zkrecipes::detail

namespace zkrecipes {

const char* to_string(coordinator_phase phase) noexcept {
  switch (phase) {
    case coordinator_phase::idle: return "idle";
    case coordinator_phase::campaigning: return "campaigning";
    case coordinator_phase::taking_over: return "taking_over";
    case coordinator_phase::inaugurating: return "inaugurating";
    case coordinator_phase::executing: return "executing";
    case coordinator_phase::handing_over: return "handing_over";
    case coordinator_phase::ending: return "ending";
  }
  return "?";
}

using namespace detail;

consumer_coordinator::consumer_coordinator(session over, std::string path, consumer_coordinator_options options)
    : session_(std::move(over)) {
  require_path("coordinator path", path);
  require_id("consumer_coordinator_options::id", options.id);
  require_within_hour("consumer_coordinator_options::rest", options.rest);
  coordinator_ = std::make_shared<coordinator>(require_session(session_), std::move(path), std::move(options));
}

consumer_coordinator::consumer_coordinator() noexcept = default;
consumer_coordinator::consumer_coordinator(consumer_coordinator&&) noexcept = default;

consumer_coordinator& consumer_coordinator::operator=(consumer_coordinator&& other) noexcept {
  consumer_coordinator taken(std::move(other));
  std::swap(session_, taken.session_);
  std::swap(coordinator_, taken.coordinator_);  // the coordinator that we had is stopped here
  return *this;
}

consumer_coordinator::~consumer_coordinator() {
  if (coordinator_) coordinator_->forbid_runs();
  stop();
}

const std::string& consumer_coordinator::path() const noexcept {
  return coordinator_ ? coordinator_->path() : no_path();
}

const consumer_coordinator_options& consumer_coordinator::options() const noexcept {
  static const consumer_coordinator_options defaults;
  return coordinator_ ? coordinator_->options() : defaults;
}

leader_career* consumer_coordinator::checked(leader_career& career) {
  traits_of(career);
  return &career;
}

void consumer_coordinator::start_run(handler_for<void(error_code)> h, coordinator_ptr coordinator,
                                     leader_career* career) {
  const auto& on = *coordinator->get_scheduler();
  if (auto refused = coordinator->begin_run(*career)) return launch(on, std::move(h), refuse<>(refused));
  launch_stoppable(std::move(h), std::move(coordinator));
}

void consumer_coordinator::resign() {
  if (!coordinator_) return;
  asio::post(coordinator_->session()->strand(), [self = coordinator_] { self->resign(); });
}

void consumer_coordinator::stop() {
  if (!coordinator_) return;
  asio::post(coordinator_->session()->strand(), [self = coordinator_] { self->stop(false); });
}

coordinator_status consumer_coordinator::status() const {
  return coordinator_ ? coordinator_->status() : coordinator_status();
}

std::exception_ptr consumer_coordinator::failure() const { return coordinator_ ? coordinator_->failure() : nullptr; }

}  // namespace zkrecipes
