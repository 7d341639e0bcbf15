#include "session/guardian_client.hpp"

#include <array>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>

#include "backend/guardian/guardian_message.hpp"
#include "backend/wiped_credentials.hpp"

namespace zkrecipes::detail {

term_guard::~term_guard() {
  if (const auto alive = by_.lock()) alive->release(number_);
}

using namespace std::chrono_literals;

namespace {

constexpr std::chrono::milliseconds shortest_pause{100};
constexpr std::chrono::milliseconds longest_pause{5'000};
/// A guardian answers at once. One that does not is stopped or hangs.
constexpr std::chrono::seconds longest_silence{10};
constexpr std::chrono::seconds pause_between_looks{10};
/// So many pings in the time after which the guardian takes the process for hung.
constexpr int pings_in_hang_limit = 3;

/// Whether this call comes from the strand. The destructor of a context, which destroys what was left of its
/// operations, runs nothing on a strand.
bool runs_here(const asio::any_io_executor& strand) {
  const auto* plain = strand.target<asio::strand<asio::io_context::executor_type>>();
  if (plain) return plain->running_in_this_thread();
  const auto* any = strand.target<asio::strand<asio::any_io_executor>>();
  return any && any->running_in_this_thread();
}

std::string draw_name(backend::world& world) {
  std::string bytes;
  for (int i = 0; i < 2; ++i) {
    auto word = world.random();
    for (int j = 0; j < 8; ++j, word >>= 8) bytes += static_cast<char>(word & 0xff);
  }
  return backend::to_hex(bytes);
}

}  // namespace

guardian_client::guardian_client(scheduler_ptr on, settings what, report told)
    : scheduler_(std::move(on)),
      settings_(std::move(what)),
      told_(std::move(told)),
      pause_(shortest_pause, longest_pause) {}

guardian_client::~guardian_client() { backend::wipe(settings_.digest); }

void guardian_client::start() {
  client_ = draw_name(*scheduler_->world);
  connect();
}

void guardian_client::connect() {
  refusal_.clear();
  line_ = scheduler_->world->call_guardian(settings_.path, *this);
  if (!line_)
    on_failure(boost::system::errc::make_error_code(boost::system::errc::not_supported), "this world has no guardian");
}

void guardian_client::guardian_up() {
  is_up_ = true;
  answers_ = 0;
  send_everything();
  ask();
  if (settings_.hang_limit.count()) ping();
}

void guardian_client::send_everything() {
  send(backend::guardian_hello{client_, settings_.hang_limit});
  for (const auto& [id, each] : sessions_) send(guarded(each));
  for (const auto& [number, each] : terms_) send(each);
}

/// Behind everything that was told: the answer says that it is held, and that there is a guardian that lives.
void guardian_client::ask() {
  asked_ = {sessions_.size(), terms_.size()};
  send(backend::guardian_complete());
  call_later(scheduler_->now() + longest_silence, look_timer_, &guardian_client::give_up);
}

void guardian_client::give_up() {
  line_->give_up();
  guardian_down(errc::timed_out);
}

void guardian_client::send(const backend::guardian_message& what) {
  if (!is_up_) return;
  const bool was_told = line_->send(what);
  if (was_told) return;
  refusal_ = "a session or term is too large for the guardian";
  on_failure(errc::too_large, refusal_);
}

void guardian_client::guardian_said(const backend::guardian_answer& what) {
  using kind = backend::guardian_answer::kind;
  switch (what.type) {
    case kind::held: {
      cancel(look_timer_);
      call_later(scheduler_->now() + pause_between_looks, look_timer_, &guardian_client::ask);
      if (++answers_ > 1) pause_.reset();  // it has stood for a while
      if (!refusal_.empty()) return;       // it has refused something, or was not told all
      const auto count = what.count.value_or(asked_);
      if (count.sessions < asked_.sessions || count.terms < asked_.terms) {
        refusal_ = "the guardian holds fewer sessions or terms than this process has told it";
        return on_failure(boost::system::errc::make_error_code(boost::system::errc::protocol_error), refusal_);
      }
      is_failing_ = false;
      if (!std::exchange(is_held_, true) && told_) told_(true, true, {}, {});
      return;
    }
    case kind::full: refusal_ = what.reason; return on_failure(errc::full, what.reason);
    case kind::refused: refusal_ = what.reason; return;
  }
}

void guardian_client::guardian_down(const error_code& reason) {
  is_up_ = false;
  line_.reset();
  cancel(ping_timer_);
  cancel(look_timer_);
  call_later(pause_.next(*scheduler_), retry_timer_, &guardian_client::connect);
  on_failure(reason, refusal_.empty() ? std::string() : "refused: " + refusal_);
}

void guardian_client::on_failure(const error_code& error, std::string_view detail) {
  const bool is_news = !std::exchange(is_failing_, true);
  is_held_ = false;
  if (told_) told_(false, is_news, error, detail);
}

void guardian_client::begin(const backend::session_key& key) {
  auto& known = sessions_[key.id];
  const bool is_same = known.id == key.id && known.password == key.password && known.timeout == key.timeout;
  if (is_same) return;
  known = key;
  send(guarded(key));
}

void guardian_client::know(const std::vector<credentials>& digest) {
  backend::wipe(settings_.digest);
  settings_.digest = digest;
  for (const auto& [id, each] : sessions_) send(guarded(each));
}

void guardian_client::end(std::int64_t id) {
  if (sessions_.erase(id) == 0) return;
  std::erase_if(terms_, [id](const auto& each) { return each.second.session == id; });
  send(backend::guarded_session_end{id});
}

void guardian_client::leave() {
  told_ = nullptr;
  for (const auto& [id, each] : std::exchange(sessions_, {})) send(backend::guarded_session_end{id});
  if (line_) line_->finish();
  stop();
}

void guardian_client::stop() {
  told_ = nullptr;
  is_up_ = false;
  line_.reset();
  cancel(retry_timer_);
  cancel(ping_timer_);
  cancel(look_timer_);
}

backend::guarded_session guardian_client::guarded(const backend::session_key& key) const {
  return {key, settings_.servers, settings_.digest};
}

term_guard_ptr guardian_client::hold(backend::guarded_term term) {
  const auto number = ++last_term_;
  auto guard = std::make_unique<term_guard>(weak_from_this(), number);  // takes back what else fails for want of memory
  send(terms_.emplace(number, std::move(term)).first->second);
  return guard;
}

void guardian_client::release(std::uint64_t number) {
  if (!runs_here(scheduler_->strand)) return;
  const auto which = terms_.find(number);
  if (which == terms_.end()) return;  // its session is over
  const auto& term = which->second;
  send(backend::guarded_term_end{term.session, term.record, term.node});
  terms_.erase(which);
}

void guardian_client::ping() {
  send(backend::guardian_ping());
  call_later(scheduler_->now() + settings_.hang_limit / pings_in_hang_limit, ping_timer_, &guardian_client::ping);
}

void guardian_client::call_later(lease_clock::time_point when, backend::timer_id& timer,
                                 void (guardian_client::*what)()) {
  timer = scheduler_->world->call_at(when, [self = weak_from_this(), &timer, what] {
    const auto alive = self.lock();
    if (!alive) return;
    timer = 0;
    ((*alive).*what)();
  });
}

void guardian_client::cancel(backend::timer_id& timer) {
  if (timer) scheduler_->world->cancel(std::exchange(timer, 0));
}

}  // namespace zkrecipes::detail
