#include "agent.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <grp.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/post.hpp>

#include "descriptor.hpp"
#include "process_identity.hpp"
#include "secrets.hpp"

namespace guardian {

namespace {

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw std::runtime_error("socket " + path + ": " + why);
}

/// Whether the file still stands there: an earlier guardian removes it when it ends.
bool stands_at(int descriptor, const std::string& path) {
  struct stat held {};
  struct stat there {};
  return ::fstat(descriptor, &held) == 0 && ::lstat(path.c_str(), &there) == 0 && held.st_dev == there.st_dev &&
         held.st_ino == there.st_ino;
}

}  // namespace

socket_lock::socket_lock(const std::string& path)
    : file_(path + ".lock"), held_(::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)) {
  if (!held_) fail(path, file_ + ": " + std::strerror(errno));
  if (::flock(held_.get(), LOCK_EX | LOCK_NB) != 0) {
    fail(path, errno == EWOULDBLOCK ? "another process, such as a guardian, has locked " + file_
                                    : file_ + ": " + std::strerror(errno));
  }
  if (!stands_at(held_.get(), file_)) fail(path, file_ + " has been removed meanwhile; a guardian was ending perhaps");
}

socket_lock::~socket_lock() { ::unlink(file_.c_str()); }

namespace {

using protocol = boost::asio::local::stream_protocol;

/// After the system has refused a connection: there is no descriptor left, for example.
constexpr std::chrono::milliseconds pause_after_refusal{100};

closing_lane nobody_s() { return closing_lane::of(static_cast<uid_t>(-1)); }

gid_t group_of(const listener::place& where) {
  const auto* found = ::getgrnam(where.group.c_str());
  if (!found) fail(where.path, "there is no group " + where.group);
  return found->gr_gid;
}

}  // namespace

/// Nobody can connect before the socket has its mode and group, because it listens only then.
listener::listener(const boost::asio::any_io_executor& executor, const place& where, handler told)
    : acceptor_(executor), pause_(executor), told_(std::move(told)), path_(where.path) {
  if (path_.empty() || path_.size() >= sizeof(sockaddr_un::sun_path)) fail(path_, "the path is empty or too long");
  lock_.emplace(path_);
  make_room(path_);
  const auto mask = ::umask(0777);
  boost::system::error_code error;
  acceptor_.open(protocol(), error);
  if (!error) acceptor_.bind(path_, error);
  ::umask(mask);
  if (error) fail(path_, error.message());
  ::lstat(path_.c_str(), &own_);
  if (!where.group.empty() && ::chown(path_.c_str(), static_cast<uid_t>(-1), group_of(where)) != 0) {
    fail(path_, std::string("group: ") + std::strerror(errno));
  }
  if (::chmod(path_.c_str(), where.mode) != 0) fail(path_, std::string("mode: ") + std::strerror(errno));
  acceptor_.listen(protocol::acceptor::max_listen_connections, error);
  if (error) fail(path_, error.message());
}

listener::~listener() {
  struct stat now {};
  const bool is_ours = ::lstat(path_.c_str(), &now) == 0 && now.st_dev == own_.st_dev && now.st_ino == own_.st_ino;
  if (is_ours) ::unlink(path_.c_str());
  nobody_s().close(acceptor_);  // connections that were not taken have descriptors in their queues, perhaps
}

/// Removes the socket of a guardian that was killed, at which nobody listens. A guardian that does listen there
/// has no lock if it is of an older version. One that is stopped is not waited for.
void listener::make_room(const std::string& path) {
  struct stat there {};
  if (::lstat(path.c_str(), &there) != 0) return;
  if (!S_ISSOCK(there.st_mode)) fail(path, "there is something else");
  const protocol::endpoint where(path);
  const descriptor probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!probe) fail(path, std::strerror(errno));
  const bool is_taken = ::connect(probe.get(), where.data(), static_cast<socklen_t>(where.size())) == 0;
  const int why_not = is_taken ? EAGAIN : errno;  // which says that its queue is full
  if (why_not == EAGAIN) fail(path, "another process, such as a guardian, listens there");
  if (why_not == EPROTOTYPE) fail(path, "there is a socket of another type");
  if (why_not != ECONNREFUSED) fail(path, std::string("who listens there can not be asked: ") + std::strerror(why_not));
  ::unlink(path.c_str());
}

void listener::start() {
  const auto alive = std::weak_ptr(alive_);
  acceptor_.async_accept([this, alive](const boost::system::error_code& error, protocol::socket accepted) {
    if (alive.expired() || error == boost::asio::error::operation_aborted) return nobody_s().close(accepted);
    if (!error) {
      start();  // first: what is thrown behind it, such as for want of memory, ends this connection alone
      return told_(std::move(accepted));
    }
    pause_.expires_after(pause_after_refusal);
    pause_.async_wait([this, alive](const boost::system::error_code& cancelled) {
      if (!alive.expired() && !cancelled) start();
    });
  });
}

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
  auto* early =
      app.add_flag("--early-proof", options.early.after_end_of_line,
                   "Once a connection has ended, also take as a proof of death that all threads of the process "
                   "are exiting, or that its core is being dumped");
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
