#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>

#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <zkrecipes/service/http_server.hpp>
#include <zkrecipes/service/metrics.hpp>
#include <zkrecipes/service/replica.hpp>

#include "endpoints.hpp"
#include "intake.hpp"
#include "outlets.hpp"
#include "role.hpp"

namespace zkrecipes::service {

namespace asio = boost::asio;

namespace {

constexpr auto as_result = asio::as_tuple(asio::use_awaitable);

/// Beside messages under way, for probes and for clients that are about to ask.
constexpr std::size_t more_connections = 500;
/// Beside connections over HTTP: the session, the log, the spool, what the work needs.
constexpr std::size_t more_descriptors = 100;

const char* name_of(int signal) { return signal == SIGTERM ? "SIGTERM" : "SIGINT"; }

session make_session(asio::io_context& io, const configuration& settings, json_log& log) {
  session_options options{
      .hosts = settings.servers, .timeout = settings.timeout, .root = settings.root, .create_root = true};
  if (settings.digest) {
    options.digest = {*settings.digest};
    options.default_acl = creator_acl();
  }
  options.log = log.hook();
  return {io, std::move(options)};
}

std::optional<zkrecipes::limiter> make_limiter(asio::io_context& io, const configuration& settings) {
  if (!settings.limiter) return std::nullopt;
  return zkrecipes::limiter(io, *settings.limiter);
}

std::unique_ptr<intake> make_intake(const session& over, const configuration& settings) {
  const auto own = "service-" + settings.id;
  const intake_options options{.pending = settings.http.pending, .timeout = settings.http.put_timeout};
  auto result = std::make_unique<intake>(over.get_executor(), own, make_outlets(over, own, settings), options);
  if (settings.spool) result->open_own();
  return result;
}

}  // namespace

class replica::state {
 public:
  state(asio::io_context& io, configuration settings, json_log& log, work does)
      : io_(io),
        log_(log),
        here_{settings, log, make_session(io, settings, log), make_limiter(io, settings)},
        does_(std::move(does)),
        role_(make_role(here_, does_)),
        intake_(make_intake(here_.zk, settings)),
        endpoints_(
            settings.mode, *intake_, [this] { return now(); }, [this](metrics_page& page) { add_to(page); }),
        server_(io.get_executor(), settings.http.address, settings.http.port,
                [this](const http_request& request) { return answer(request); },
                {.connections = settings.http.pending + more_connections}),
        signals_(io, SIGTERM, SIGINT),
        grace_(io) {}

  void start();
  exit_code result() const { return result_; }

 private:
  asio::awaitable<void> run();
  asio::awaitable<bool> prepare();
  asio::awaitable<void> wait_for_signals();
  asio::awaitable<void> log_changes();
  std::string cause_of(const error_code& error) const;
  void begin_stop(int signal);
  void limit_the_stop();
  void end_now(const std::string& reason);
  asio::awaitable<http_response> answer(const http_request& request);
  readiness now() const;
  void add_to(metrics_page& page) const;

  asio::io_context& io_;
  json_log& log_;
  surroundings here_;
  const work does_;
  std::unique_ptr<role> role_;
  std::unique_ptr<intake> intake_;
  endpoints endpoints_;
  http_server server_;
  asio::signal_set signals_;
  asio::steady_timer grace_;
  bool running_ = false;
  bool stopping_ = false;
  bool limited_ = false;  ///< The grace has begun.
  exit_code result_ = exit_code::failed;
};

replica::replica(asio::io_context& io, configuration settings, json_log& log, work does) {
  if (!does.process) throw std::invalid_argument("work::process is empty: each message would fail");
  state_ = std::make_unique<state>(io, std::move(settings), log, std::move(does));
}
replica::~replica() = default;

void replica::start() { state_->start(); }
exit_code replica::result() const { return state_->result(); }

void replica::state::start() {
  const auto rethrow = [](std::exception_ptr failure) {
    if (failure) std::rethrow_exception(failure);
  };
  server_.start();
  log_.info("started", {{"id", here_.settings.id}, {"http_port", std::to_string(server_.port())}});
  asio::co_spawn(io_, wait_for_signals(), rethrow);
  asio::co_spawn(io_, log_changes(), rethrow);
  asio::co_spawn(io_, run(), rethrow);
}

asio::awaitable<void> replica::state::run() {
  if (co_await prepare()) {
    running_ = true;
    const auto error = co_await role_->run();
    if (error || !stopping_)
      log_.error("run_failed", {{"error", error.message()}, {"detail", cause_of(error)}});
    else
      result_ = exit_code::stopped;
  } else if (stopping_) {
    result_ = exit_code::stopped;
  }
  stopping_ = true;
  limit_the_stop();
  // A spool does not wait for clients that read slowly: what it has accepted is put meanwhile.
  using namespace asio::experimental::awaitable_operators;
  co_await (server_.close() && intake_->close());
  co_await here_.zk.async_close(as_result);
  log_.info("ended", {{"id", here_.settings.id}});
  io_.stop();
}

asio::awaitable<http_response> replica::state::answer(const http_request& request) {
  try {
    co_return co_await endpoints_.answer(request);
  } catch (const std::exception& failure) {
    log_.error("request_failed", {{"detail", failure.what()}});
    throw;
  }
}

// Goes on for as long as the servers are away. False: the program is to end.
asio::awaitable<bool> replica::state::prepare() {
  if (here_.settings.output.empty()) co_return !stopping_;
  while (!stopping_) {
    auto [error] = co_await here_.zk.async_ensure_path(here_.settings.output, as_result);
    if (!error) co_return !stopping_;
    log_.write(log_severity::warning, "not_prepared", {{"error", error.message()}});
    if (is_fatal(error)) co_return false;
    asio::steady_timer pause(io_, std::chrono::seconds(1));
    co_await pause.async_wait(as_result);
  }
  co_return false;
}

asio::awaitable<void> replica::state::wait_for_signals() {
  auto [error, signal] = co_await signals_.async_wait(as_result);
  if (error) co_return;
  begin_stop(signal);
  auto [over, second] = co_await signals_.async_wait(as_result);
  if (!over) end_now(std::string("a second signal, ") + name_of(second));
}

// States last, and a spool can fail without any message. So they are looked at each second, and logged if they differ.
asio::awaitable<void> replica::state::log_changes() {
  std::string role, trouble;
  while (!stopping_) {
    if (const auto was = std::exchange(role, now().text); role != was) log_.info("state", {{"detail", role}});
    if (const auto was = std::exchange(trouble, intake_->trouble()); trouble != was && trouble.empty())
      log_.info("intake_recovered");
    else if (trouble != was)
      log_.write(log_severity::warning, "intake_trouble", {{"detail", trouble}});
    asio::steady_timer pause(io_, std::chrono::seconds(1));
    co_await pause.async_wait(as_result);
  }
}

std::string replica::state::cause_of(const error_code& error) const {
  if (error == errc::foreign_data)
    return "one of " + here_.settings.group + " and " + here_.settings.input +
           " is in use for something else, such as the other mode: give other paths by group and input";
  return role_->failure();
}

void replica::state::begin_stop(int signal) {
  stopping_ = true;
  limit_the_stop();  // before the log, which can block
  log_.info("stopping", {{"signal", name_of(signal)}});
  if (running_)
    role_->stop();
  else
    here_.zk.async_close([](auto) {});  // ends the preparation
}

void replica::state::limit_the_stop() {
  if (std::exchange(limited_, true)) return;
  grace_.expires_after(here_.settings.grace);
  grace_.async_wait([this](auto error) {
    if (!error) end_now("the grace is over");
  });
}

void replica::state::end_now(const std::string& reason) {
  result_ = exit_code::cut_off;
  io_.stop();
  log_.error("cut_off", {{"detail", reason}});
}

readiness replica::state::now() const {
  const auto is = here_.zk.status().state;
  const bool connected = is == session_state::connected;
  readiness result;
  result.alive = stopping_ || is != session_state::closed;
  result.accepts = (connected || (here_.settings.spool && is != session_state::closed)) && !stopping_;
  result.ready = result.accepts && intake_->accepts();
  result.text = stopping_ ? "stopping" : connected ? role_->describe() : to_string(is);
  if (!intake_->refusal().empty()) result.text += "; " + intake_->refusal();
  return result;
}

void replica::state::add_to(metrics_page& page) const {
  const auto current = now();
  page.gauge("service_ready", "1 if the replica accepts messages.", current.ready ? 1 : 0);
  add_metrics(page, here_.zk.status());
  add_metrics(page, here_.zk.counters());
  if (here_.limiter) add_metrics(page, here_.limiter->statistics(), {{"limiter", "outside"}});
  role_->add_to(page);
  intake_->add_to(page);
  if (does_.metrics) does_.metrics(page);
}

namespace {

struct command_line {
  std::string file{};
  overrides given{};
};

std::optional<std::uint16_t> port_of(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return port;
}

std::optional<command_line> parse_arguments(int count, char** arguments) {
  command_line result;
  for (int i = 1; i < count; ++i) {
    const std::string_view each = arguments[i];
    const bool more = i + 1 < count;
    if (each == "--id" && more && *arguments[i + 1])
      result.given.id = arguments[++i];
    else if (each == "--port" && more && (result.given.port = port_of(arguments[i + 1])))
      ++i;
    else if (result.file.empty() && !each.starts_with('-'))
      result.file = each;
    else
      return std::nullopt;
  }
  return result.file.empty() ? std::nullopt : std::make_optional(result);
}

/// Most systems give a process fewer than it may ask for.
void raise_descriptors(const configuration& settings, json_log& log) {
  const auto needed = settings.http.pending + more_connections + more_descriptors;
  ::rlimit has{};
  if (::getrlimit(RLIMIT_NOFILE, &has) != 0 || has.rlim_cur >= needed) return;
  has.rlim_cur = std::min<::rlim_t>(has.rlim_max, needed);
  ::setrlimit(RLIMIT_NOFILE, &has);
  if (has.rlim_cur >= needed) return;
  log.write(
      log_severity::warning, "few_descriptors",
      {{"detail", "http.pending needs up to " + std::to_string(needed) + " open files, and the process may have " +
                      std::to_string(has.rlim_cur) + ": raise that limit (ulimit -n), or lower pending"}});
}

/// Ends the process if the thread of the replica is blocked, for example by the user's code: it sees neither a signal
/// nor the end of the grace then. So this waits for both in a thread of its own, and for a moment longer than the
/// replica.
class last_resort {
 public:
  explicit last_resort(std::chrono::milliseconds grace) : signals_(io_, SIGTERM, SIGINT), timer_(io_) {
    signals_.async_wait([this, grace](auto first, int) {
      if (first) return;
      end_after(grace);
      signals_.async_wait([this](auto second, int) {
        if (!second) end_after(std::chrono::milliseconds(0));
      });
    });
    thread_ = std::thread([this] { io_.run(); });
  }
  ~last_resort() {
    io_.stop();
    thread_.join();
  }
  last_resort(const last_resort&) = delete;
  last_resort& operator=(const last_resort&) = delete;

 private:
  static constexpr std::chrono::milliseconds moment{500};

  void end_after(std::chrono::milliseconds time) {
    timer_.expires_after(time + moment);
    timer_.async_wait([](auto error) {
      if (!error) end_now();
    });
  }
  /// The log is not thread-safe, and who reads it or this may be what everybody waits for.
  [[noreturn]] static void end_now() {
    constexpr std::string_view words = "cut off: the thread of the service is blocked, and it was to stop\n";
    ::pollfd to{STDERR_FILENO, POLLOUT, 0};
    [[maybe_unused]] const bool is_told = ::poll(&to, 1, 0) == 1 && ::write(to.fd, words.data(), words.size()) > 0;
    std::_Exit(static_cast<int>(exit_code::cut_off));
  }

  asio::io_context io_{1};
  asio::signal_set signals_;
  asio::steady_timer timer_;
  std::thread thread_;
};

exit_code run_replica(const command_line& given, work does) {
  const auto settings = load_configuration(given.file, given.given);
  json_log log(std::cout, settings.log_level);
  raise_descriptors(settings, log);
  asio::io_context io(1);
  std::unique_ptr<replica> one;
  const last_resort watching(settings.grace);  // before the replica, so that a signal reaches neither or both
  try {
    one = std::make_unique<replica>(io, settings, log, std::move(does));
  } catch (const std::invalid_argument& refusal) {  // by the library, of a setting
    throw configuration_error(given.file + ": " + refusal.what());
  } catch (const std::exception& failure) {  // such as a port that is taken
    log.error("not_started", {{"detail", failure.what()}});
    throw;
  }
  one->start();
  try {
    io.run();
  } catch (const std::exception& failure) {
    log.error("crashed", {{"detail", failure.what()}});
    std::_Exit(static_cast<int>(exit_code::failed));
  }
  // Operations that have not ended use the objects, so these are not destroyed.
  if (one->result() == exit_code::cut_off) std::_Exit(static_cast<int>(one->result()));
  return one->result();
}

}  // namespace

int run(int count, char** arguments, work does) {
  std::signal(SIGPIPE, SIG_IGN);  // the reader of the log can end
  const auto given = parse_arguments(count, arguments);
  if (!given) {
    std::cerr << "usage: " << (count > 0 ? arguments[0] : "service") << " CONFIGURATION [--id ID] [--port PORT]\n";
    return static_cast<int>(exit_code::misused);
  }
  try {
    return static_cast<int>(run_replica(*given, std::move(does)));
  } catch (const configuration_error& mistake) {
    std::cerr << mistake.what() << std::endl;
    return static_cast<int>(exit_code::misused);
  } catch (const std::exception& failure) {
    std::cerr << failure.what() << std::endl;
    return static_cast<int>(exit_code::failed);
  }
}

}  // namespace zkrecipes::service
