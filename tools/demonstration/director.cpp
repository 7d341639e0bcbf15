#include "director.hpp"

#include "audit.hpp"
#include "phases.hpp"

namespace demo {

namespace asio = boost::asio;
using asio::awaitable;
using asio::use_awaitable;

director::director(asio::io_context& io, const direction& how)
    : stage(io, how),
      queue_(session_, queue_path),
      observer_(session_, [this](const std::string& text) { say(text); }) {
  summary_.planned_kills = how.kills;
}

/// Waits until all messages are put, and the queue is empty: each is done or parked.
awaitable<void> director::wait_settled() {
  co_await wait_produced();
  for (;;) {
    const auto left = co_await queue_.async_size(use_awaitable);
    if (left == 0) co_return;
    co_await pause_between();
  }
}

awaitable<void> director::audit_all() {
  const auto results = co_await read_results(session_);
  const auto letters = co_await queue_.async_dead_letters(use_awaitable);
  summary_.terms = observer_.terms();
  complete(summary_.terms, results);
  summary_.saw_hand_over = observer_.saw_hand_over();
  const auto marks = read_phases(phases_.path());
  judge(summary_, results, letters, marks);
}

awaitable<void> director::run() {
  co_await prepare();
  asio::co_spawn(io_, observer_.run(), asio::detached);
  start_processes([this](const std::string& id) {
    const auto& view = observer_.view();
    if (view.leader == id) observer_.terms()[view.epoch].ended = "died";
  });
  co_await make_trouble();
  co_await wait_settled();
  co_await stop_processes();
  co_await audit_all();
  co_await session_.async_close(use_awaitable);
}

}  // namespace demo
