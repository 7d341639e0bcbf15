// Two candidates in one process, and an operator who asks each leader in turn to give up.
#include <iostream>

#include <boost/asio.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>

#include <zkrecipes/zkrecipes.hpp>

namespace asio = boost::asio;
constexpr auto token = asio::use_awaitable;

asio::awaitable<void> stand(zkrecipes::session zk, std::string id) {
  zkrecipes::election election(zk, "/mail/sender", {.id = id});
  auto leading = co_await election.async_campaign();
  std::cout << id << " leads" << std::endl;
  auto [why] = co_await leading.async_revoked(asio::as_tuple(token));
  std::cout << id << " gives up: " << why.message() << std::endl;
  co_await leading.async_release();
}

asio::awaitable<void> ask_each(zkrecipes::session zk) {
  zkrecipes::election election(zk, "/mail/sender", {.id = "operator"});
  std::string asked;
  for (int i = 0; i < 2; ++i) {
    zkrecipes::election_view seen;
    do {
      seen = co_await election.async_view_change(seen);
    } while (seen.leader_token == 0 || seen.leader == asked);
    asked = seen.leader;
    co_await election.async_request_resignation();
  }
}

asio::awaitable<void> work(zkrecipes::session zk) {
  using namespace asio::experimental::awaitable_operators;
  co_await (stand(zk, "one") && stand(zk, "two") && ask_each(zk));
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
