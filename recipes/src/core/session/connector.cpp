#include "session/connector.hpp"

#include <algorithm>
#include <utility>

#include "backend/tls/tls_context.hpp"

namespace zkrecipes::detail {

using namespace std::chrono_literals;

namespace {

/// After so long without an answer the log tells which server the session waits for.
constexpr std::chrono::milliseconds silence_to_report{1'000};

}  // namespace

connector::connector(session_life& whose, connection& present, backend::link_listener& told, known_servers& servers,
                     credential_list& given)
    : life_(whose),
      connection_(present),
      listener_(told),
      servers_(servers),
      credentials_(given),
      pause_(whose.options().retry.first_pause, whose.options().retry.max_pause) {
  if (whose.options().tls) tls_ = std::make_shared<backend::tls_context>(*whose.options().tls);
}

awaitable<void> connector::run() {
  while (!life_.over()) {
    bool reached = co_await connect_somewhere();
    if (reached) {
      pause_.reset();
    } else if (!life_.over()) {
      co_await pause_before_next_round();
    }
  }
}

/// One round over the servers: tries one after the other until one has answered us. What becomes known of their names
/// meanwhile counts at once. False: none has.
awaitable<bool> connector::connect_somewhere() {
  co_await servers_.look_up();
  const auto random = [this] { return life_.get_scheduler()->world->random(); };
  std::vector<backend::endpoint> asked, known, servers;
  for (;;) {
    if (known != servers_.list().all()) {
      known = servers_.list().all();
      servers = servers_.list().in_turn(random, life_.now());
      std::erase_if(servers, [&](const auto& each) { return std::ranges::find(asked, each) != asked.end(); });
    }
    if (servers.empty() || life_.over()) co_return false;
    auto next = std::move(servers.front());
    servers.erase(servers.begin());
    asked.push_back(next);
    bool reached = co_await connect_to(std::move(next));
    if (reached) co_return true;
  }
}

awaitable<bool> connector::connect_to(backend::endpoint server) {
  auto& at = connection_;
  auto names = servers_.list().names_of(server);
  if (tls_ && names.empty()) co_return false;  // its name leads elsewhere by now
  at.is_up = at.is_served = at.is_past = false;
  at.error.clear();
  at.has_lost_writes = false;
  at.server = server;
  at.asked = life_.now();
  const auto deadline = at.asked + connect_timeout();
  backend::session_key key;
  key.timeout = life_.options().timeout;
  if (const auto present = life_.current()) key = present->key;
  refresh_certificates();
  backend::link_options with{server, std::move(key), credentials_.all(), tls_, std::move(names)};
  credentials_.given();
  at.link = life_.get_scheduler()->world->connect(std::move(with), listener_);
  auto reminder = life_.log().is_on() ? at.asked + silence_to_report : never;
  // An address to which no name leads any more is not waited for.
  while (!at.is_up && !at.error && !life_.closing() && life_.now() < deadline && servers_.list().has(at.server)) {
    auto why = co_await at.changed.wait(std::min(reminder, deadline));
    if (why == wake::timed_out && std::exchange(reminder, never) < deadline) {
      life_.log().waiting_for_answer(at.server, silence_to_report, connect_timeout());
    }
  }
  if (!at.is_up && !at.error && !life_.closing() && servers_.list().has(at.server)) {
    servers_.list().ask_late(at.server);
    servers_.on_failure(at.server, errc::timed_out);
  }
  co_await serve();
  // If the session has expired, the server has answered, too: the next round needs no pause.
  co_return at.is_served || at.error == errc::session_expired;
}

/// The connection may have come and gone again before this coroutine was resumed.
awaitable<void> connector::serve() {
  auto& at = connection_;
  while (at.is_up && !life_.closing() && !at.is_past) co_await at.changed.wait();
  if (at.is_up) {
    at.link->close_session();
    const auto deadline = life_.now() + connect_timeout();
    while (at.is_up) {
      auto why = co_await at.changed.wait(std::min(deadline, close_by_));
      if (why == wake::timed_out) break;
    }
    is_unconfirmed_ = at.is_up && life_.closing();
  }
  at.is_up = false;
  at.link.reset();
  const bool is_silent = at.error == errc::timed_out;
  if (is_silent) servers_.list().ask_late(at.server);
  const auto incarnation = life_.current();
  if (!at.has_lost_writes || !incarnation) co_return;
  if (is_silent) {
    servers_.list().note_silent(at.server, life_.now(), incarnation->key.timeout);
  } else {
    servers_.list().note_unread(at.server);
  }
}

awaitable<void> connector::pause_before_next_round() {
  const auto until = pause_.next(*life_.get_scheduler());
  const auto known = servers_.list().all();
  while (!life_.closing() && std::ranges::is_permutation(known, servers_.list().all())) {
    auto why = co_await connection_.changed.wait(until);
    if (why == wake::timed_out) break;
  }
}

void connector::close_by(lease_clock::time_point deadline) {
  close_by_ = std::min(close_by_, deadline);
  connection_.changed.notify();
}

void connector::refresh_certificates() {
  std::string problem;
  if (!tls_) return;
  const auto found = tls_->refresh(problem);
  if (found == backend::tls_context::change::none) return;
  const bool is_usable = found == backend::tls_context::change::reloaded;
  if (!is_usable) problem += "; what was read before stays in use";
  life_.log().certificates_changed(is_usable, problem);
}

std::chrono::milliseconds connector::connect_timeout() const {
  const auto& options = life_.options();
  if (options.connect_timeout.count()) return options.connect_timeout;
  // So many servers of an ensemble may be silent, and each of them is waited for. Two thirds of the timeout have passed
  // by then, and the lease ends at nine tenths. Fewer than three servers can do without none.
  const auto servers = servers_.list().size();
  const auto part = servers < 3 ? servers + 1 : 5 * ((servers - 1) / 2);
  return std::max<std::chrono::milliseconds>(options.timeout / part, 100ms);
}

}  // namespace zkrecipes::detail
