#include "servers/prober.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "backend/tls/tls_context.hpp"
#include "backend/world.hpp"
#include "backend/zookeeper/real_world.hpp"
#include "base/failure.hpp"
#include "base/tasks.hpp"
#include "base/text.hpp"

namespace zkadmin {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using zkrecipes::backend::tls_context;

/// The lookup is the library's: one that hangs holds no other one up, and ends with the caller's patience.
asio::awaitable<std::vector<tcp::endpoint>> resolve(const endpoint& server, error_code& error) {
  namespace backend = zkrecipes::backend;
  const auto executor = co_await asio::this_coro::executor;
  asio::steady_timer done(executor, asio::steady_timer::time_point::max());
  backend::resolved_name found;
  const auto names = backend::make_real_world(executor);
  do {
    std::vector<backend::endpoint> asked{{server.host, server.port}};
    names->resolve(std::move(asked), [&](std::vector<backend::resolved_name> all) {
      found = std::move(all.front());
      done.cancel();
    });
    co_await done.async_wait(as_result);
    error = found.error;
  } while (error == asio::error::timed_out);  // the caller decides how long it waits
  std::vector<tcp::endpoint> places;
  for (const auto& each : found.addresses) places.emplace_back(asio::ip::make_address(each.address), each.port);
  if (places.empty() && !error) error = asio::error::host_not_found;
  co_return places;
}

/// TLS may end without a farewell.
template <class Stream>
asio::awaitable<void> exchange(Stream& over, std::string_view word, std::size_t most, word_answer& answer) {
  error_code error;
  std::tie(error, std::ignore) = co_await asio::async_write(over, asio::buffer(word), as_result);
  if (!error) {
    auto into = asio::dynamic_buffer(answer.text, most + 1);
    std::tie(error, std::ignore) = co_await asio::async_read(over, into, as_result);
  }
  const bool is_end = error == asio::error::eof || error == asio::ssl::error::stream_truncated;
  if (error && !is_end) answer.trouble = printable(error.message());
}

/// A server with TLS 1.3 refuses our certificate after the handshake: that is seen where the answer is read.
asio::awaitable<void> exchange_by_tls(const endpoint& server, tls_context& tls, tcp::socket socket,
                                      std::string_view word, std::size_t most, word_answer& answer) {
  std::string ignored;
  tls.refresh(ignored);
  auto made = tls.make(server.name, {server.host});
  const auto ticket = made.ticket;  // outlives the stream
  asio::ssl::stream<tcp::socket> secure(std::move(socket), made.handle.release());
  auto greeted = co_await secure.async_handshake(asio::ssl::stream_base::client, as_result);
  const auto why = zkrecipes::backend::tls_reason(std::get<0>(greeted), secure.native_handle());
  if (std::get<0>(greeted)) {
    answer.trouble = "TLS: " + printable(why.message());
  } else {
    co_await exchange(secure, word, most, answer);
  }
}

}  // namespace

asio::awaitable<std::string> connect_to(tcp::socket& socket, const endpoint& server) {
  error_code error;
  const auto places = co_await resolve(server, error);
  if (error) co_return "name lookup: " + printable(error.message());
  std::tie(error, std::ignore) = co_await asio::async_connect(socket, places, as_result);
  co_return error ? printable(error.message()) : std::string();
}

asio::awaitable<word_answer> ask_word(const endpoint& server, std::string_view word, std::size_t most,
                                      tls_context_ptr tls, std::function<void()> connected) {
  tcp::socket socket(co_await asio::this_coro::executor);
  word_answer answer;
  answer.trouble = co_await connect_to(socket, server);
  if (!answer.trouble.empty()) co_return answer;
  if (connected) connected();
  if (tls) {
    co_await exchange_by_tls(server, *tls, std::move(socket), word, most, answer);
  } else {
    co_await exchange(socket, word, most, answer);
  }
  co_return answer;
}

asio::awaitable<word_answer> ask_word_in_time(endpoint server, std::string_view word, std::size_t most,
                                              tls_context_ptr tls, std::chrono::steady_clock::time_point limit) {
  auto exchange = ask_word(server, word, most, std::move(tls));
  auto answer = co_await until(limit, std::move(exchange));
  if (!answer) co_return word_answer{"no answer in time"};
  if (answer->trouble.empty() && answer->text.size() > most) answer->trouble = "its answer is too long";
  co_return std::move(*answer);
}

tls_context_ptr secure_connections(const settings& wanted) {
  if (!wanted.tls) return nullptr;
  try {
    return std::make_shared<zkrecipes::backend::tls_context>(*wanted.tls);
  } catch (const std::invalid_argument& error) {
    throw failure(exit_code::usage, error.what());
  }
}

namespace {

server_status unreachable(const endpoint& server, std::string why) {
  server_status status;
  status.server = server.name;
  status.error = std::move(why);
  return status;
}

/// The whole exchange with one server, without a time limit. Calls `connected` when there is a connection.
asio::awaitable<server_status> converse(const endpoint& server, tls_context_ptr tls, std::function<void()> connected) {
  auto answer = co_await ask_word(server, "srvr", longest_answer, std::move(tls), std::move(connected));
  if (!answer.trouble.empty()) co_return unreachable(server, std::move(answer.trouble));
  co_return parse_srvr(server.name, answer.text);
}

/// A round in which all servers are asked at once. `next` is cancelled whenever another server has been reported.
struct asking_round {
  asking_round(const asio::any_io_executor& executor, std::size_t servers)
      : next(executor, asio::steady_timer::time_point::max()), told(servers) {}
  bool is_over() const {
    return std::all_of(told.begin(), told.end(), [](bool each) { return each; });
  }
  asio::steady_timer next;
  std::vector<bool> told;
};

}  // namespace

server_status not_asked(const endpoint& server) {
  server_status status;
  status.server = server.name;
  status.silent = true;
  return status;
}

std::vector<server_status> not_asked(const std::vector<endpoint>& servers) {
  std::vector<server_status> all;
  for (const auto& each : servers) all.push_back(not_asked(each));
  return all;
}

prober::prober(const asio::any_io_executor& executor, std::vector<endpoint> servers, std::chrono::milliseconds limit,
               tls_context_ptr tls)
    : servers_(std::move(servers)), limit_(limit), tls_(std::move(tls)) {
  for (std::size_t i = 0; i < servers_.size(); ++i) measured_.emplace_back(executor);
}

asio::awaitable<void> prober::ask(std::size_t which, hook report) {
  using namespace asio::experimental::awaitable_operators;
  const auto self = shared_from_this();
  const auto begin = clock::now();
  measured_[which].connected.reset();
  std::function<void()> connected = [self, which, begin] { self->measured_[which].connected = clock::now() - begin; };
  auto talk = converse(servers_[which], tls_, std::move(connected));
  auto watch = watch_clock(which, begin, report);
  const auto result = co_await (std::move(talk) || std::move(watch));
  if (result.index() == 1) co_return report(which, silent(which, limit_));
  const auto& seen = std::get<0>(result);
  // A refusal says nothing about how long an answer takes.
  if (seen.reachable) learn(which, clock::now() - begin);
  report(which, seen);
}

asio::awaitable<void> prober::ask_all(hook report) {
  const auto executor = co_await asio::this_coro::executor;
  const auto going = std::make_shared<asking_round>(executor, servers_.size());
  const hook report_and_count = [going, report = std::move(report)](std::size_t which, server_status seen) {
    report(which, std::move(seen));
    going->told[which] = true;
    going->next.cancel();
  };
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    going->told[i] = std::exchange(measured_[i].is_asked, true);  // what was reported of it last stands
    if (going->told[i]) continue;
    asio::co_spawn(executor, ask(i, report_and_count),
                   [self = shared_from_this(), i](std::exception_ptr) { self->measured_[i].is_asked = false; });
  }
  while (!going->is_over()) co_await going->next.async_wait(as_result);
}

/// Reports silence when the answer is overdue; ends after `limit_`.
asio::awaitable<void> prober::watch_clock(std::size_t which, clock::time_point begin, const hook& report) {
  auto& timer = measured_[which].timer;
  for (bool is_told = false;;) {
    const auto time_limit = is_told ? limit_ : time_limit_of(which);
    timer.expires_at(begin + time_limit);
    co_await timer.async_wait(as_result);  // answers of other servers cancel it, because they can shorten the patience
    if (clock::now() >= begin + limit_) co_return;
    if (is_told || clock::now() < begin + time_limit_of(which)) continue;
    is_told = true;
    report(which, silent(which, time_limit));
  }
}

void prober::learn(std::size_t which, clock::duration took) {
  measured_[which].answered = took;
  for (auto& each : measured_) each.timer.cancel();
}

std::chrono::milliseconds prober::time_limit_of(std::size_t which) const {
  constexpr int many = 4;
  const auto& own = measured_[which];
  std::optional<clock::duration> usual = own.answered;
  if (!usual)
    for (const auto& each : measured_) usual = std::max(usual, each.answered);
  if (!usual) return limit_;
  const auto longest = std::max(*usual, own.connected.value_or(clock::duration::zero()));
  const auto time_limit = std::chrono::ceil<std::chrono::milliseconds>(longest * many);
  return std::clamp(time_limit, limit_ / 10, limit_);
}

server_status prober::silent(std::size_t which, std::chrono::milliseconds since) const {
  server_status status = not_asked(servers_[which]);
  status.error = "no answer within " + short_duration(since);
  return status;
}

std::shared_ptr<prober> make_prober(const asio::any_io_executor& executor, const settings& wanted,
                                    std::chrono::milliseconds limit) {
  return std::make_shared<prober>(executor, wanted.servers, limit, secure_connections(wanted));
}

namespace {

constexpr std::string_view not_serving_answer = "not currently serving requests";
constexpr std::string_view not_allowed_answer = "is not in the whitelist";

std::optional<server_role> role_named(std::string_view mode) {
  for (const auto role : {server_role::leader, server_role::follower, server_role::observer, server_role::standalone})
    if (mode == to_string(role)) return role;
  return std::nullopt;
}

std::optional<std::uint64_t> zxid_in(std::string_view text) {
  if (!text.starts_with("0x")) return std::nullopt;
  return read_number<std::uint64_t>(text.substr(2), 16);
}

// "min/avg/max": whole numbers in old versions, the average a fraction in newer ones.
std::optional<latency_ms> latency_in(std::string_view text) {
  const auto first = text.find('/');
  const auto last = text.rfind('/');
  if (first == last) return std::nullopt;
  const auto min = read_number<double>(text.substr(0, first));
  const auto avg = read_number<double>(text.substr(first + 1, last - first - 1));
  const auto max = read_number<double>(text.substr(last + 1));
  if (!min || !avg || !max || !std::isfinite(*min + *avg + *max)) return std::nullopt;
  return latency_ms{*min, *avg, *max};
}

void read_mode(std::string_view mode, server_status& server) {
  server.role = role_named(mode);
  if (server.role) return;
  if (mode == "read-only") {
    server.role = server_role::not_serving;
    server.error = "read-only mode: it has lost the quorum";
  } else {
    server.error = "it answers with an unknown mode: " + printable(mode.substr(0, shown_of_garbage));
  }
}

void read_line(std::string_view line, server_status& server) {
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return;
  const auto name = line.substr(0, colon);
  const auto value = without_blanks(line.substr(colon + 1));
  if (name == "Zookeeper version") {
    server.version = printable(value.substr(0, value.find_first_of("-, ")));
  } else if (name == "Latency min/avg/max") {
    server.latency = latency_in(value);
  } else if (name == "Connections") {
    server.connections = read_number<std::int64_t>(value);
  } else if (name == "Outstanding") {
    server.outstanding = read_number<std::int64_t>(value);
  } else if (name == "Zxid") {
    server.zxid = zxid_in(value);
  } else if (name == "Mode") {
    server.reachable = true;
    read_mode(value, server);
  } else if (name == "Node count") {
    server.nodes = read_number<std::int64_t>(value);
  }
}

void read_lines(std::string_view answer, server_status& server) {
  while (!answer.empty()) {
    const auto end = answer.find('\n');
    read_line(answer.substr(0, end), server);
    if (end == std::string_view::npos) break;
    answer.remove_prefix(end + 1);
  }
}

}  // namespace

server_status parse_srvr(std::string name, std::string_view answer) {
  server_status server;
  server.server = std::move(name);
  if (answer.find(not_serving_answer) != std::string_view::npos) {
    server.reachable = true;
    server.role = server_role::not_serving;
    server.error = "not serving requests: no quorum, or still starting";
  } else if (answer.find(not_allowed_answer) != std::string_view::npos) {
    server.reachable = true;
    server.error = "it does not allow srvr; add to its zoo.cfg: 4lw.commands.whitelist=srvr";
  } else if (answer.size() > longest_answer) {
    server.error = "it is no ZooKeeper server: its answer is too long";
  } else if (answer.empty()) {
    server.error = "it closed the connection without an answer (a port for TLS only?)";
  } else {
    server_status told = server;
    read_lines(answer, told);
    if (told.reachable) return told;
    server.error = "it is no ZooKeeper server: it answered \"" + printable(answer.substr(0, shown_of_garbage)) + "\"";
  }
  return server;
}

}  // namespace zkadmin
