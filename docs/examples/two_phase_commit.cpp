// An order is placed if the stock and the payment both agree; an elected coordinator decides.
#include <ctime>
#include <iostream>
#include <string>
#include <vector>

#include <boost/asio.hpp>

#include <zkrecipes/flow.hpp>
#include <zkrecipes/zkrecipes.hpp>

namespace asio = boost::asio;
using namespace std::chrono_literals;

asio::awaitable<void> party(zkrecipes::session zk, std::string order, std::string name, zkrecipes::ballot vote) {
  zkrecipes::two_phase_commit orders(zk, "/orders");
  // A party has to keep on disk what it promises here before it votes, because after a restart it votes and asks again.
  co_await orders.async_vote(order, name, vote, "as always");
  auto outcome = co_await orders.async_outcome(order);
  std::cout << order + ": " + name + " learns that it is " + to_string(outcome.decision) + ' ' + outcome.reason + '\n'
            << std::flush;
}

asio::awaitable<void> place(zkrecipes::session zk, std::string order, zkrecipes::ballot payment) {
  zkrecipes::two_phase_commit orders(zk, "/orders");
  const std::vector<std::string> parties{"stock", "payment"};
  co_await orders.async_begin(order, parties, "two books");
  asio::co_spawn(zk.get_executor(), party(zk, order, "stock", zkrecipes::ballot::yes), asio::detached);
  co_await party(zk, order, "payment", payment);
}

asio::awaitable<void> work(zkrecipes::session zk) {
  zkrecipes::two_phase_commit orders(zk, "/orders");
  asio::cancellation_signal retire;
  orders.async_coordinate({.id = "example", .vote_timeout = 5s},
                          asio::bind_cancellation_slot(retire.slot(), [](zkrecipes::error_code) {}));
  const auto number = std::to_string(std::time(nullptr));  // an id must never be used again
  co_await place(zk, "order-" + number + "-1", zkrecipes::ballot::yes);
  co_await place(zk, "order-" + number + "-2", zkrecipes::ballot::no);
  retire.emit(asio::cancellation_type::total);
  co_await orders.async_clean_up(1h);
  co_await zk.async_close();
}

int main(int argc, char** argv) {
  asio::io_context io;
  zkrecipes::session zk(io, {.hosts = argc > 1 ? argv[1] : "127.0.0.1:2181"});
  asio::co_spawn(io, work(std::move(zk)), [](std::exception_ptr failure) {
    if (failure) std::rethrow_exception(failure);
  });
  io.run();
}
