// Sends each customer one invoice a month, also if the program is started twice or dies in between.
#include <iostream>

#include <boost/asio.hpp>

#include <zkrecipes/flow.hpp>
#include <zkrecipes/zkrecipes.hpp>

namespace asio = boost::asio;
using namespace std::chrono_literals;

asio::awaitable<void> invoice(zkrecipes::once_per monthly, std::string customer) {
  const auto intent = co_await monthly.async_claim(customer, "30 euros");
  if (!intent.is_new) {
    std::cout << customer << " has been left to " << intent.id << ": " << intent.note << std::endl;
    co_return;
  }
  // The call comes here. `intent.guid` tells the service that a repeat is the same invoice.
  const bool is_refused = customer == "jones";
  std::cout << customer << (is_refused ? " can not be reached" : " gets an invoice") << std::endl;
  if (is_refused) co_await monthly.async_withdraw(intent);  // it was surely not sent, so it can be tried again
}

asio::awaitable<void> work(zkrecipes::session zk) {
  zkrecipes::once_per monthly(zk, "/invoices/sent", {.id = "billing-1", .per = 24h * 30});
  for (const auto* customer : {"smith", "jones", "smith", "jones"}) co_await invoice(monthly, customer);
  std::cout << "the month is done" << std::endl;
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
