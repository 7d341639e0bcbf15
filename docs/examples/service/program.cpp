#include "program.hpp"

#include <csignal>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "library_metrics.hpp"
#include "parts.hpp"

namespace service {

namespace asio = boost::asio;

namespace {

constexpr auto as_result = asio::as_tuple(asio::use_awaitable);

/// Beside messages under way, for probes and for clients that are about to ask.
constexpr std::size_t more_connections = 500;

const char* name_of(int signal) { return signal == SIGTERM ? "SIGTERM" : "SIGINT"; }

}  // namespace

program::program(asio::io_context& io, const configuration& settings, json_log& log)
    : io_(io),
      settings_(settings),
      log_(log),
      session_(make_session(io, settings_, log)),
      limiter_(make_limiter(io, settings_)),
      role_(make_role(session_, settings_, limiter_)),
      intake_(make_intake(session_, settings_)),
      endpoints_(
          settings_.mode, *intake_, [this] { return state(); }, [this](metrics_page& page) { add_to(page); }),
      server_(io, settings_.http.address, settings_.http.port,
              [this](const http_request& request) { return answer(request); },
              {.connections = settings_.http.pending + more_connections}),
      signals_(io, SIGTERM, SIGINT),
      grace_(io) {}

void program::start() {
  const auto rethrow = [](std::exception_ptr failure) {
    if (failure) std::rethrow_exception(failure);
  };
  server_.start();
  log_.info("started", {{"id", settings_.id}, {"http_port", std::to_string(server_.port())}});
  asio::co_spawn(io_, wait_for_signals(), rethrow);
  asio::co_spawn(io_, log_changes(), rethrow);
  asio::co_spawn(io_, run(), rethrow);
}

asio::awaitable<void> program::run() {
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
  co_await session_.async_close(as_result);
  log_.info("ended", {{"id", settings_.id}});
  io_.stop();
}

asio::awaitable<http_response> program::answer(const http_request& request) {
  try {
    co_return co_await endpoints_.answer(request);
  } catch (const std::exception& failure) {
    log_.error("request_failed", {{"detail", failure.what()}});
    throw;
  }
}

// Goes on for as long as the servers are away. False: the program is to end.
asio::awaitable<bool> program::prepare() {
  while (!stopping_) {
    auto [error] = co_await session_.async_ensure_path(settings_.output, as_result);
    if (!error) co_return !stopping_;
    log_.write(zkrecipes::log_severity::warning, "not_prepared", {{"error", error.message()}});
    if (zkrecipes::is_fatal(error)) co_return false;
    asio::steady_timer pause(io_, std::chrono::seconds(1));
    co_await pause.async_wait(as_result);
  }
  co_return false;
}

asio::awaitable<void> program::wait_for_signals() {
  auto [error, signal] = co_await signals_.async_wait(as_result);
  if (error) co_return;
  begin_stop(signal);
  auto [over, second] = co_await signals_.async_wait(as_result);
  if (!over) end_now(std::string("a second signal, ") + name_of(second));
}

// States last, and a spool can fail without any message. So they are looked at each second, and logged if they differ.
asio::awaitable<void> program::log_changes() {
  std::string role, trouble;
  while (!stopping_) {
    if (const auto was = std::exchange(role, state().text); role != was) log_.info("state", {{"detail", role}});
    if (const auto was = std::exchange(trouble, intake_->trouble()); trouble != was && trouble.empty())
      log_.info("intake_recovered");
    else if (trouble != was)
      log_.write(zkrecipes::log_severity::warning, "intake_trouble", {{"detail", trouble}});
    asio::steady_timer pause(io_, std::chrono::seconds(1));
    co_await pause.async_wait(as_result);
  }
}

std::string program::cause_of(const zkrecipes::error_code& error) const {
  if (error == zkrecipes::errc::foreign_data)
    return "one of " + settings_.group + " and " + settings_.input +
           " is in use for something else, such as the other mode: give other paths by group and input";
  return role_->failure();
}

void program::begin_stop(int signal) {
  log_.info("stopping", {{"signal", name_of(signal)}});
  stopping_ = true;
  if (running_)
    role_->stop();
  else
    session_.async_close([](auto) {});  // ends the preparation
  limit_the_stop();
}

void program::limit_the_stop() {
  if (std::exchange(limited_, true)) return;
  grace_.expires_after(settings_.grace);
  grace_.async_wait([this](auto error) {
    if (!error) end_now("the grace is over");
  });
}

void program::end_now(const std::string& reason) {
  log_.error("cut_off", {{"detail", reason}});
  result_ = exit_code::cut_off;
  io_.stop();
}

readiness program::state() const {
  using zkrecipes::session_state;
  const auto now = session_.status().state;
  const bool connected = now == session_state::connected;
  readiness result;
  result.alive = stopping_ || now != session_state::closed;
  result.accepts = (connected || (settings_.spool && now != session_state::closed)) && !stopping_;
  result.ready = result.accepts && intake_->accepts();
  result.text = stopping_ ? "stopping" : connected ? role_->describe() : to_string(now);
  if (!intake_->refusal().empty()) result.text += "; " + intake_->refusal();
  return result;
}

void program::add_to(metrics_page& page) const {
  const auto now = state();
  page.gauge("service_ready", "1 if the replica accepts messages.", now.ready ? 1 : 0);
  add_metrics(page, session_.status());
  add_metrics(page, session_.counters());
  if (limiter_) add_metrics(page, limiter_->statistics(), {{"limiter", "outside"}});
  role_->add_to(page);
  intake_->add_to(page);
}

}  // namespace service
