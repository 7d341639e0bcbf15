// A connection to brokers that the test plays, in a world whose time the test moves.
#pragma once

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/test/unit_test.hpp>

#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

#include "brokers/scripted_world.hpp"
#include "rabbit/server_bytes.hpp"
#include "rabbitmq/rabbit_connection.hpp"
#include "support/fake_world.hpp"

namespace zkrecipes::test {

using namespace std::chrono_literals;

/// A try ends after a second, and pauses of 10 ms to 20 ms are between tries.
class connection_case {
 public:
  /// A call of `ready`.
  struct waiting_call {
    std::optional<error_code> result{};
    asio::cancellation_signal signal{};
  };

  connection_case() { use({{"broker", 5672}}, {.first_pause = 10ms, .max_pause = 20ms}); }
  ~connection_case() {
    connection.reset();
    brokers->lookups.clear();  // what waits for them keeps the world, which keeps them
    for (const auto& each : brokers->peers) each->take_all();
    bench.settle();
    for (const auto& each : brokers->peers) BOOST_TEST(each->is_closed);
  }

  /// For a connection that is made now.
  void use(std::vector<backend::endpoint> names, const retry_policy& retry,
           detail::broker_connection::retries with = detail::broker_connection::retries::none) {
    detail::rabbit_frame frame;
    frame.session = frame.broker.session = detail::require_session(zk);
    frame.broker.kind = "rabbitmq";
    frame.broker.brokers = std::move(names);
    frame.broker.timeout = 1s;
    frame.broker.retry = retry;
    frame.broker.unavailable = rabbit_errc::unavailable;
    frame.broker.refused_credentials = rabbit_errc::refused_credentials;
    frame.broker.may_recover = &detail::may_recover_rabbit;
    connection =
        std::make_shared<detail::rabbit_connection>(std::make_shared<detail::rabbit_frame>(std::move(frame)), with);
  }

  waiting_call& call(lease_clock::time_point until = detail::never) {
    auto& made = *calls.emplace_back(std::make_shared<waiting_call>());
    const auto note = [shared = calls.back()](std::exception_ptr failure, error_code error) {
      BOOST_TEST(!failure);
      shared->result = error;
    };
    asio::co_spawn(detail::require_session(zk)->strand(), wait(connection, until),
                   asio::bind_cancellation_slot(made.signal.slot(), note));
    bench.settle();
    return made;
  }
  void cancel(waiting_call& which) {
    which.signal.emit(asio::cancellation_type::terminal);
    bench.settle();
  }
  static bool has_succeeded(const waiting_call& which) { return which.result && !*which.result; }

  std::size_t tries() const { return brokers->peers.size(); }
  /// The broker takes the newest connection.
  void accept() {
    auto& peer = *brokers->peers.back();
    peer.connect();
    peer.take_all();
    for (const auto& each : {wire::start(), wire::tune(), wire::open_ok(), wire::channel_open_ok()}) {
      peer.say(each);
      peer.take_all();
    }
    bench.settle();
  }
  /// It refuses user and password.
  void refuse_login() {
    auto& peer = *brokers->peers.back();
    peer.connect();
    peer.take_all();
    peer.say(wire::start());
    peer.take_all();
    peer.say(wire::connection_close(403, "ACCESS_REFUSED"));
    peer.take_all();
    bench.settle();
  }
  void refuse() {
    brokers->peers.back()->connect(asio::error::connection_refused);
    bench.settle();
  }
  std::ptrdiff_t count_told(const std::string& part) const {
    return std::ranges::count_if(*told, [&](const std::string& each) { return each.find(part) != each.npos; });
  }

  fake_bench bench;
  std::shared_ptr<scripted_brokers> brokers = std::make_shared<scripted_brokers>();
  std::shared_ptr<std::vector<std::string>> told = std::make_shared<std::vector<std::string>>();
  session zk = make_scripted_session(bench, brokers, told);
  std::shared_ptr<detail::rabbit_connection> connection;
  std::deque<std::shared_ptr<waiting_call>> calls;

 private:
  static detail::awaitable<error_code> wait(std::shared_ptr<detail::rabbit_connection> by,
                                            lease_clock::time_point until) {
    co_return co_await by->ready(until);
  }
};

}  // namespace zkrecipes::test
