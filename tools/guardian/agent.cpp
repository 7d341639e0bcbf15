#include "agent.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>
#include <sys/socket.h>

#include <boost/asio/post.hpp>

#include "peer.hpp"
#include "secrets.hpp"

namespace guardian {

namespace {

constexpr const char* about =
    "Guards processes that use zkrecipes: when one has died, its ZooKeeper sessions are ended at once, and the records "
    "of\n"
    "the terms that it led say so. See docs/guardian.md.";

unsigned parse_mode(const std::string& text) {
  const bool is_octal = !text.empty() && text.size() <= 4 && text.find_first_not_of("01234567") == text.npos;
  const auto mode = is_octal ? std::stoul(text, nullptr, 8) : 01000;
  if (mode > 0777) throw CLI::ValidationError("--mode", "expected up to 777 in octal, found \"" + text + "\"");
  return static_cast<unsigned>(mode);
}

void add_limits(CLI::App& app, limits& most) {
  const auto add = [&](const char* name, std::size_t& value, const char* help) {
    app.add_option(name, value, help)->check(CLI::Range(1, 1'000'000'000))->capture_default_str()->group("Per user");
  };
  add("--connections", most.connections, "Connections");
  add("--sessions", most.sessions, "ZooKeeper sessions that are held");
  add("--terms", most.terms, "Terms that are held");
  add("--bytes", most.bytes, "Memory of what is held");
  add("--endings", most.endings, "Sessions that are ended at the same time");
}

}  // namespace

std::optional<invocation> parse_command_line(int argc, const char* const* argv, int& status) {
  invocation asked;
  auto& options = asked.options;
  options.socket.path = "/run/zkrecipes/guardian.sock";
  int look_every = 0;
  CLI::App app{about, "zkrecipes-guardian"};
  auto* socket = app.add_option("--socket", options.socket.path, "Where to listen")->capture_default_str();
  auto* mode = app.add_option_function<std::string>(
      "--mode", [&](const std::string& text) { options.socket.mode = parse_mode(text); },
      "Mode of the socket (default 0660)");
  auto* group = app.add_option("--group", options.socket.group, "Group of the socket");
  app.add_option("--child", asked.child, "Serve this descriptor, a Unix stream socket, instead of listening")
      ->check(CLI::Range(0, 1 << 20))
      ->excludes(socket)
      ->excludes(mode)
      ->excludes(group);
  auto* early = app.add_flag("--early-proof", options.early.after_end_of_line,
                             "After the end of a connection also take for a proof of death that all threads of the "
                             "process are exiting, or that its core is being dumped");
  app.add_option("--early-proof-every", look_every,
                 "Look for it all the time, so often (milliseconds), because a large process ends its connections late")
      ->check(CLI::Range(1, 60'000))
      ->needs(early);
  app.add_flag("--end-sessions", asked.is_ending_process, "What the guardian starts itself")->group("");
  add_limits(app, options.most);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    status = app.exit(error);
    return std::nullopt;
  }
  options.early.always = std::chrono::milliseconds(look_every);
  return asked;
}

namespace {

session_of_the_dead handed_over(held_session from, uid_t user) {
  session_of_the_dead to{std::move(from.session), {}, user};
  for (auto& [key, each] : from.terms) to.terms.push_back(std::move(each.term));
  return to;
}

}  // namespace

/// Sessions in which the process led come first.
void endings::begin(const held_process_ptr& process, std::vector<held_session> sessions) {
  std::ranges::stable_sort(sessions, {}, [](const held_session& each) { return each.terms.empty(); });
  const auto now = zkrecipes::lease_clock::now();
  for (auto& each : sessions) {
    const auto deadline = now + each.session.key.timeout;
    const auto charged = holding_of(each);
    waiting_.push_back({process, handed_over(std::move(each), process->user()), deadline, charged});
  }
  start_some();
}

void endings::start_some() {
  for (auto each = waiting_.begin(); each != waiting_.end();) {
    if (!each->process->account()->take_ending()) {
      ++each;
      continue;
    }
    auto which = std::move(*each);
    each = waiting_.erase(each);
    start(std::move(which));
  }
}

void endings::start(item which) {
  ++running_;
  const auto session = which.what.session.key.id;
  const auto terms = which.what.terms.size();
  auto done = [this, alive = std::weak_ptr(alive_), process = which.process, charged = which.charged, session,
               terms](const ending& result) {
    if (alive.expired()) return;
    --running_;
    process->account()->return_ending();
    process->account()->give_back(charged);
    log_ending(*process, session, terms, result);
    start_some();
    told_();
  };
  how_(std::move(which.what), which.deadline, std::move(done));
}

void endings::log_ending(const held_process& process, std::int64_t session, std::size_t terms, const ending& result) {
  log_.write_for(process.user(), "session_ended",
                 {{"session", zkrecipes::backend::shown_session(session)},
                  {"pid", std::to_string(process.who().pid)},
                  {"name", process.name()},
                  {"terms", std::to_string(terms)},
                  {"died", std::to_string(result.died)},
                  {"passed_over", std::to_string(result.passed_over)},
                  {"closed", result.is_closed ? "yes" : "no"},
                  {"error", result.problem.empty() ? "none" : result.problem}});
}

namespace {

constexpr auto no_user = static_cast<uid_t>(-1);

void refuse(listener::socket& with, const std::string& why) {
  const auto line = zkrecipes::backend::to_line({zkrecipes::backend::guardian_answer::kind::refused, why});
  [[maybe_unused]] const auto sent =
      ::send(with.native_handle(), line.data(), line.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

}  // namespace

agent::agent(boost::asio::io_context& io, const agent_options& options, session_ender how, event_log::sink log)
    : io_(io),
      options_(options),
      log_(std::move(log)),
      endings_(std::move(how), log_, [this] { on_end(); }),
      known_(io.get_executor(), options.most, options.early, log_,
             [this](held_process_ptr process, std::vector<held_session> sessions) {
               endings_.begin(process, std::move(sessions));
               on_end();
             }),
      timer_(io) {}

agent::~agent() { stop(); }

void agent::listen() {
  listener_.emplace(io_.get_executor(), options_.socket, [this](listener::socket with) { accept(std::move(with)); });
  listener_->start();
  log_.write("listening", {{"socket", options_.socket.path}});
}

void agent::serve(int socket, std::function<void()> over) {
  over_ = std::move(over);
  accept(listener::socket(io_, boost::asio::local::stream_protocol(), socket), true);
}

void agent::accept(listener::socket with, bool is_inherited) {
  auto who = peer_of(with.native_handle());
  if (who && !is_inherited && who->pid <= 0) who.reset();  // a process that this PID namespace does not show
  if (!who) {
    log_.write("peer_unknown");
    closing_lane::of(no_user).close(with);
    return on_end();
  }
  if (is_inherited) who->pid = 0;
  auto account = known_.account_of(who->user);
  if (const auto why = account->take_connection(); !why.empty()) {
    log_.write_for(who->user, "refused", {{"peer", std::to_string(who->pid)}, {"reason", why}});
    refuse(with, why);
    account->lane().close(with);
    return on_end();
  }
  const auto number = ++last_number_;
  auto closed = [this, number, account] {
    account->return_connection();
    connections_.erase(number);
    on_end();
  };
  auto made =
      std::make_shared<peer_connection>(std::move(with), known_, log_, *who, number, account, std::move(closed));
  connections_.emplace(number, made);
  made->start();
}

void agent::stop() {
  listener_.reset();
  over_ = nullptr;
  while (!connections_.empty()) {
    const auto first = connections_.begin()->second;
    first->close();
  }
}

void agent::finish(std::function<void()> over) {
  stop();
  finished_ = std::move(over);
  on_end();
}

/// Looks later, because a line that has ended may still be on its way out of the registry, and what its process held on
/// the way from there to the endings.
void agent::on_end() {
  if (!finished_ && !over_) return;
  boost::asio::post(io_, [this, alive = std::weak_ptr(alive_)] {
    if (!alive.expired()) end_if_over();
  });
}

void agent::end_if_over() {
  if (endings_.count() > 0) return;
  if (finished_) std::exchange(finished_, nullptr)();
  if (!over_ || !connections_.empty()) return;
  if (known_.process_count() > 0) return wait_for_timeouts();
  std::exchange(over_, nullptr)();
}

void agent::wait_for_timeouts() {
  if (std::exchange(has_set_timer_, true)) return;
  timer_.expires_after(known_.longest_timeout());
  timer_.async_wait([this, alive = std::weak_ptr(alive_)](const boost::system::error_code& error) {
    if (error || alive.expired() || !over_ || endings_.count() > 0) return;
    log_.write("left", {{"reason", "the process lives, and its sessions have timed out or have another guardian"}});
    std::exchange(over_, nullptr)();
  });
}

}  // namespace guardian
