#include "scenario/routine.hpp"

#include <boost/asio/co_spawn.hpp>

#include "scenario/nap.hpp"

namespace zkrecipes::simulation {

routine::routine(stage& in, int client, session with)
    : in_(in),
      client_(client),
      chance_(in.what().seed, 300 + static_cast<std::uint64_t>(client)),
      operations_(in, client),
      zk_(std::move(with)) {}

void routine::begin() {
  asio::co_spawn(in_.inside(client_).executor(), run(), [&in = in_](std::exception_ptr failure) {
    if (failure) in.fail("no exception", "a round ended with one");
  });
}

asio::awaitable<void> routine::run() {
  while (!stopping_) {
    co_await round();
    if (!stopping_) co_await rest(0ms, longest_rest);
  }
  co_await leave();
  over_ = true;
}

asio::awaitable<void> routine::rest(span least, span most) {
  auto asleep = nap(in_, client_, chance_.between(least, most));
  co_await std::move(asleep);
}

asio::awaitable<void> routine::leaves_nothing(std::vector<std::string> parents) {
  const auto wire = in_.wire(client_);
  auto waiting = rest(3s, 3s);
  co_await std::move(waiting);
  if (!wire || wire->closed || wire != in_.wire(client_)) co_return;  // disturbed: nodes may still wait for removal
  const auto& nodes = in_.servers().committed_state();
  for (const auto& path : nodes.ephemerals(wire->key.id)) {
    const bool is_below = std::ranges::count(parents, parent_path(path)) > 0;
    in_.require(!is_below, "whoever gives up has nothing", path);
  }
}

void routine::stop() {
  stopping_ = true;
  waiting_.emit(asio::cancellation_type::total);
}

void routine::close() {
  operations_.start<>([this](auto token) { zk_.async_close(std::move(token)); },
                      [this](error_code) { closed_ = true; });
}

std::string routine::own_node() const {
  const auto own = in_.servers().committed_state().ephemerals(zk_.status().session_id);
  return own.empty() ? std::string() : own.front();
}

/// In one of twelve cases cancels the operation within 500 ms: half of these times within 20 ms, while its first
/// requests are on their way.
void routine::perhaps_cancel() {
  static constexpr asio::cancellation_type types[] = {asio::cancellation_type::total, asio::cancellation_type::partial,
                                                      asio::cancellation_type::terminal};
  if (!chance_.one_in(12)) return;
  const span longest = chance_.one_in(2) ? 20ms : 500ms;
  const auto type = types[chance_.below(3)];
  in_.later(client_, chance_.between(0ms, longest), [this, type] { waiting_.emit(type); });
}

}  // namespace zkrecipes::simulation
