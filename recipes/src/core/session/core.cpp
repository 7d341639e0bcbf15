#include "session/core.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>

#include "backend/guardian/guardian_stream.hpp"
#include "backend/request.hpp"
#include "backend/wiped_credentials.hpp"
#include "backend/worded_errors.hpp"
#include "session/credentials.hpp"
#include "session/operation.hpp"
#include "session/server_list.hpp"

namespace zkrecipes::detail {

namespace {

using std::chrono::milliseconds;

constexpr std::size_t longest_socket_path = 107;

void require_between(const char* field, milliseconds value, milliseconds low, milliseconds high) {
  if (value >= low && value <= high) return;
  throw std::invalid_argument("session_options::" + std::string(field) + " is " + std::to_string(value.count()) +
                              " ms; it must be from " + std::to_string(low.count()) + " to " +
                              std::to_string(high.count()) + " ms");
}

/// Asio copies the executor at every hop. A strand on the executor of an io_context fits into the buffer of
/// `any_io_executor`. A strand on an `any_io_executor` does not, so each copy of it is allocated.
asio::any_io_executor strand_on(const asio::any_io_executor& executor) {
  if (const auto* plain = executor.target<asio::io_context::executor_type>()) return asio::make_strand(*plain);
  return asio::make_strand(executor);
}

}  // namespace

const core_ptr& require_session(const session& over) {
  if (!over.get_core()) throw std::invalid_argument("session: it was made by default or moved from");
  return over.get_core();
}

void check(const session_options& options) {
  using namespace std::chrono_literals;
  parse_hosts(options.hosts);
  if (!options.root.empty()) require_path("session_options::root", options.root);
  require_between("timeout", options.timeout, 100ms, 1h);
  if (options.connect_timeout.count()) require_between("connect_timeout", options.connect_timeout, 1ms, 1h);
  if (options.lease_margin.count()) require_between("lease_margin", options.lease_margin, 1ms, options.timeout);
  require_between("retry.limit", options.retry.limit, 0ms, 24h);
  require_between("retry.first_pause", options.retry.first_pause, 1ms, 1h);
  require_between("retry.max_pause", options.retry.max_pause, options.retry.first_pause, 1h);
  if (options.jute_maxbuffer < 1u << 10 || options.jute_maxbuffer > 1u << 30) {
    throw std::invalid_argument("session_options::jute_maxbuffer is " + std::to_string(options.jute_maxbuffer) +
                                "; it must be from 1024 to 1073741824 bytes");
  }
  for (const auto& each : options.digest) {
    if (const auto problem = problem_with(each); !problem.empty()) {
      throw std::invalid_argument("session_options::digest: " + std::string(problem));
    }
  }
  if (bytes_of(options.digest) > most_credential_bytes)
    throw std::invalid_argument("session_options::digest: users and secrets have more than 65536 bytes together");
  const auto program = backend::guardian_program(options.guardian);
  if (has_nul(options.guardian)) throw std::invalid_argument("session_options::guardian: it has a NUL byte");
  if (program && program->empty()) {
    throw std::invalid_argument("session_options::guardian: \"child:\" needs the path or name of a program");
  }
  if (!program && options.guardian.size() > longest_socket_path) {
    throw std::invalid_argument("session_options::guardian: the path of a socket has at most 107 bytes");
  }
  if (options.tls && !options.guardian.empty()) {
    throw std::invalid_argument("session_options::guardian: the guardian does not speak TLS (session_options::tls)");
  }
  if (options.hang_limit.count()) require_between("hang_limit", options.hang_limit, 1s, 1h);
  if (options.hang_limit.count() && options.guardian.empty()) {
    throw std::invalid_argument("session_options::hang_limit: it needs session_options::guardian");
  }
  if (has_nul(options.default_acl)) {
    throw std::invalid_argument("session_options::default_acl: a scheme or an id must not contain a NUL byte");
  }
}

scheduler_ptr make_scheduler(const char* whose, const asio::any_io_executor& executor, const world_factory& world) {
  if (!executor) throw std::invalid_argument(std::string(whose) + " executor: it is empty");
  auto schedule = std::make_shared<scheduler>();
  schedule->base = executor;
  schedule->strand = strand_on(executor);
  schedule->world = world(schedule->strand);
  return schedule;
}

core_ptr make_core(const asio::any_io_executor& executor, session_options options, const world_factory& world) {
  check(options);
  auto schedule = make_scheduler("session", executor, world);
  schedule->reach = std::make_shared<reach_limit>(*schedule->world, options.retry.limit);
  auto real = std::make_shared<core>(schedule, std::move(options));
  asio::post(real->strand(), [real] { real->start(); });
  return core_ptr(real.get(), [real](core*) {
    asio::post(real->strand(), [real] { launch_detached(real->strand(), owning(real, &core::close)); });
  });
}

using namespace std::chrono_literals;

namespace {

root_path root_of(const session_options& options) {
  return {parse_hosts(options.hosts).root + (options.root == "/" ? "" : options.root), options.default_acl};
}

}  // namespace

core::core(scheduler_ptr s, session_options options)
    : session_life(std::move(s), std::move(options)),
      requests(*this, *this, root_of(session_life::options())),
      lease_keeper(*this, *this),
      removals(*this, *this),
      credentials_(take_digest()),
      servers_(*this, present().changed, parse_hosts(session_life::options().hosts).servers),
      connector_(*this, present(), *this, servers_, credentials_) {}

core::~core() {
  watches()->stop();  // some watches may outlive us
  if (guardian_) guardian_->stop();
}

void core::start() {
  call_guardian();
  const std::function<awaitable<void>()> loops[] = {[this] { return run(); }, [this] { return prove_life(); },
                                                    [this] { return watch_lease(); }};
  for (const auto& loop : loops) launch_detached(strand(), owning(shared_from_this(), &core::live_on, loop));
}

/// Runs a loop of the session, and begins it anew if it failed for want of memory: a session without its loops would
/// look connected and do nothing.
awaitable<void> core::live_on(std::function<awaitable<void>()> loop) {
  bool is_first = true;
  const auto begin = [this, &loop, &is_first] {
    if (!std::exchange(is_first, false)) log().out_of_memory();
    return loop();
  };
  co_await outlast(get_scheduler(), begin);
}

awaitable<void> core::run() {
  co_await accept_cancellation();
  if (present().is_up) {  // this loop has failed before: what it had is given up
    servers_.list().on_unread(present().server);
    answer_all(errc::connection_loss);
    down(errc::connection_loss);
  }
  present().link.reset();
  co_await connector_.run();
  present().link.reset();
  end(errc::closed);
}

void core::up(const backend::session_key& granted) {
  present().is_up = true;
  const bool is_new = !current() || current()->key.id != granted.id;
  if (is_new) {
    end_incarnation(errc::session_expired);
    begin_incarnation();
    servers_.list().begin_session();
  }
  current()->key = granted;
  on_granted(*current(), is_new, present().asked);
  delay_probes();
  if (guardian_) guardian_->begin(granted);
  for (const auto& each : credentials_.not_given()) {
    send(backend::make_authenticate(backend::hold_secret(credentials(each))));
  }
  send_first(is_new);
  wake();  // first: a heartbeat precedes the requests of others, and renews the lease before their answers
  enter(session_state::connected, {}, backend::to_string(present().server));
  present().changed.notify();
  log().connected(present().server);  // last: the hook may begin operations, which have to come behind `send_first`
  if (is_new) log().incarnation_begun(current()->number, granted.id, granted.timeout);
}

void core::on_service() {
  present().is_served = true;
  servers_.on_service(present().server);
}

/// Leaves the server.
void core::on_catch_up_refused() {
  log().operation_ended(backend::opcode::multi, paths().full("/"), errc::server_error,
                        "no catch-up: the server is left");
  present().is_served = false;
  present().has_lost_writes = true;
  answer_all(errc::connection_loss);
  down(errc::connection_loss);
}

/// Leaves the server, which closes the connection. The next try comes after a pause, because the user can add
/// credentials.
void core::on_credentials_required() {
  present().is_served = false;
  answer_all(errc::connection_loss);
  down(errc::auth_required);
}

/// Ends the session. What we own may be missing in that state, and what we have given up may be there again, in the
/// name of a session that lives. Its orderly end removes all that, and the next session begins with what is there.
void core::on_older_state() {
  on_service();
  present().is_past = true;
  log().set_back(present().server);
  answer_all(errc::connection_loss);
  watches()->connection_lost();
  lose_session(errc::session_expired);
  present().changed.notify();
  wake();
}

void core::down(error_code reason) {
  auto& at = present();
  if (at.error) return;  // it was left before: see `answer_listener`
  const bool was_up = std::exchange(at.is_up, false) && !at.is_past;
  if (reason == errc::connection_loss) reason = backend::connection_lost();
  at.error = reason;
  if (!closing()) answer_all(errc::connection_loss);  // those of which the link could not tell, for want of memory
  if (was_up && !closing() && reason != errc::auth_failed) log().connection_lost(at.server, reason);
  if (reason == boost::system::errc::protocol_error) at.is_served = false;  // a pause before the next round
  if (!at.is_served && !closing()) servers_.on_failure(at.server, reason);
  if (reason == errc::timed_out) reason = backend::connection_lost();
  watches()->connection_lost();
  if (reason == errc::session_expired) {
    lose_session(reason);
  } else if (reason == errc::auth_failed) {
    end(reason);
  } else if (was_up && !closing()) {
    enter(session_state::suspended, reason);
  } else if (reason == errc::no_descriptors && !closing()) {
    enter(status().state, reason);  // reported, because only the program can close other descriptors
  }
  at.changed.notify();
  wake();
}

void core::fired(const backend::watch_event& event) {
  count(&session_counters::watch_events);
  watches()->fired(event.what, paths().below(event.path));
}

std::unique_ptr<watch> core::arm(watch_kind kind, std::string path, condition& changed) {
  if (watches()->size() == 0) {  // from now on there is something to probe
    delay_probes();
    if (!has_holders()) wake();  // else a heartbeat is due before that
  }
  return std::make_unique<watch>(watches(), kind, std::move(path), changed);
}

/// The client is stopped before we end, so that it calls us no more.
void core::call_guardian() {
  if (options().guardian.empty()) return;
  auto told = [this](bool is_held, bool is_news, const error_code& error, std::string_view detail) {
    on_guardian(is_held, is_news, error, detail);
  };
  guardian_client::settings what{options().guardian, options().hang_limit, servers_.names(), credentials_.all()};
  guardian_ = std::make_shared<guardian_client>(get_scheduler(), std::move(what), std::move(told));
  guardian_->start();
}

void core::on_guardian(bool is_held, bool is_news, const error_code& error, std::string_view detail) {
  show_guarded(is_held);
  if (!is_news) return;
  if (is_held) return log().guarded(options().guardian);
  log().unguarded(options().guardian, error, detail);
}

/// They are kept before they are sent: the answer can be lost, and then the next connection has to bring them.
awaitable<error_code> core::add_credentials(std::shared_ptr<const credentials> added) {
  if (over()) co_return over();
  if (!problem_with(*added).empty()) co_return errc::bad_arguments;
  auto what = backend::make_authenticate(added);
  if (size_on_wire(what) > options().jute_maxbuffer) co_return errc::too_large;
  if (!credentials_.has(*added)) {
    if (const auto refused = credentials_.add(*added)) co_return refused;
    log().credentials_added();
    if (guardian_) guardian_->know(credentials_.all());
  }
  const incarnation_ptr any;
  const auto answer = co_await perform(std::move(what), retry::always, any);
  co_return answer.error;
}

void core::end_incarnation(const error_code& reason) {
  const bool is_first = session_life::end_incarnation(reason);
  if (guardian_ && current() && reason == errc::session_expired) guardian_->end(current()->key.id);
  if (is_first) log().incarnation_ended(current()->number, current()->key.id, reason);
}

/// The session object lives on, and asks for another session.
void core::lose_session(const error_code& reason) {
  end_incarnation(reason);
  forget_incarnation();
  servers_.list().begin_session();
  enter(session_state::expired, reason);
}

/// What others wait for comes first: the rest may fail for want of memory, and this is not done again.
void core::end(const error_code& reason) {
  if (ended()) return;
  end_life(reason);
  answer_all(reason);
  watches()->stop();
  watches()->connection_lost();
  wake();
  enter(session_state::closed, reason);
  get_scheduler()->world->abandon_lookups();
  end_incarnation(errc::closed);
  if (guardian_) guardian_->leave();
  log().ended(reason, present().server);
}

awaitable<void> core::close() {
  if (begin_close()) give_up();
  while (!ended()) {
    auto why = co_await changed().wait();
    if (why == wake::cancelled) break;
  }
}

awaitable<error_code> core::close_by(lease_clock::time_point deadline, diagnostic why) {
  ++closers_;
  connector_.close_by(deadline);
  co_await close();
  const auto& operations = get_scheduler()->operations;
  while (operations > closers_ && now() < deadline) co_await changed().wait(std::min(deadline, now() + 10ms));
  std::string left;
  if (connector_.is_unconfirmed()) {
    left =
        backend::to_string(present().server) + " has not confirmed the end of the session, which ends by its timeout";
  }
  const int others = operations - closers_--;
  if (others > 0) {
    left += (left.empty() ? "" : "; ") + std::to_string(others) +
            (others == 1 ? " operation has not ended" : " operations have not ended") +
            ": code of the program does not return";
  }
  why.note(left);
  co_return left.empty() ? error_code() : make_error_code(errc::timed_out);
}

/// Ends our lease before the close request is sent, because the server may let the next owner in long before its answer
/// reaches us.
void core::give_up() {
  give_up_lease();
  watches()->connection_lost();  // wakes every guard, which then sees that the incarnation has ended
  present().changed.notify();
  end_incarnation(errc::closed);  // last: if there is no memory for the log, the session ends all the same
}

}  // namespace zkrecipes::detail
