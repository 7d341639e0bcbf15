// A member of a shared balance that moves as often as it may, for the tests with several members in one process.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <zkrecipes/flow/shared_balance.hpp>

#include "support/coroutine.hpp"

namespace zkrecipes::test {

inline constexpr const char* pace_path = "/pace";
inline constexpr std::uint64_t pace_range = 40;
inline const std::string members_node = std::string(pace_path) + "/members";

struct balance_walker {
  balance_walker(session over, const std::string& name, std::uint64_t range = pace_range)
      : zk(std::move(over)), pace(zk, pace_path, {.id = name, .range = range}), ended(zk.get_executor()) {
    pace.async_run(ended.token());
    track = pace.track(name);
  }

  /// Begins to move, without an end.
  void walk() {
    walks = true;
    track.async_move([this](error_code error) {
      moved = error;
      if (error) walks = false;
      if (error) return;
      ++made;
      if (walks) walk();
    });
  }
  bool is_live() const {
    const auto seen = pace.status();
    return seen.is_member && seen.valid_until > lease_clock::now();
  }

  session zk;
  shared_balance pace;
  recorder<> ended;
  shared_balance_track track;
  bool walks = false;
  error_code moved;
  std::uint64_t made = 0;
};

}  // namespace zkrecipes::test
