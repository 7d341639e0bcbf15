#include "scenario/routine.hpp"

#include <utility>

#include <boost/asio/co_spawn.hpp>

namespace zkrecipes::simulation {

bool meddler::is_at_work(std::uint64_t one_in, span longest) {
  if (!works_ || !chance_.one_in(one_in)) return false;
  return in_.clock().now() + longest < in_.what().faults_until;
}

void meddler::remove_later(std::vector<std::string> paths, span longest) {
  // Never at once, because this is called while the servers apply a transaction.
  in_.clock().after(chance_.between(1us, longest), [this, paths = std::move(paths)] {
    for (const auto& each : paths) in_.servers().remove(each);
  });
}

void meddler::perhaps_remove(std::uint64_t one_in, std::vector<std::string> paths, span longest) {
  if (is_at_work(one_in, longest)) remove_later(std::move(paths), longest);
}

void meddler::perhaps_remove_unheard(std::uint64_t one_in, const change& made, span longest) {
  if (!is_at_work(one_in, longest)) return;
  for (int i = 0; i < in_.what().clients; ++i) {
    const auto& wire = in_.wire(i);
    if (!wire || wire->closed || wire->key.id != made.owner) continue;
    in_.clock().after(1us, [this, wire] { in_.servers().break_connection(wire); });
  }
  remove_later({made.path}, longest);
}

routine::routine(stage& in, int client, session with)
    : session_program(in, client, std::move(with)),
      in_(in),
      client_(client),
      chance_(in.what().seed, 300 + static_cast<std::uint64_t>(client)) {}

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
