// A balance on a context that the test runs.
#pragma once

#include <deque>
#include <memory>

#include <zkrecipes/flow/balance.hpp>

#include "support/coroutine.hpp"

namespace zkrecipes::test {

struct balance_case {
  balance make(std::uint64_t range) { return balance(io->get_executor(), {.range = range}); }

  /// How many steps the track makes until it has to wait, `most` at most.
  static int steps_until_blocked(balance_track& track, int most) {
    int made = 0;
    while (made < most && track.try_move()) ++made;
    return made;
  }
  recorder<>& move(balance_track& track) {
    auto& made = started.emplace_back(io->get_executor());
    track.async_move(made.token());
    return made;
  }
  /// Runs all handlers that are ready.
  void settle() {
    io->restart();
    io->poll();
  }

  std::unique_ptr<asio::io_context> io = std::make_unique<asio::io_context>();
  std::deque<recorder<>> started;
};

}  // namespace zkrecipes::test
