// A gate in virtual time, and its callers.
#pragma once

#include <string_view>
#include <utility>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/flow/gate.hpp>

#include "gate/gate_state.hpp"
#include "support/coroutine.hpp"
#include "support/fake_world.hpp"

namespace zkrecipes::test {

using entrant = recorder<gate_pass>;

struct entering : fake_bench {
  gate make_gate(gate_options options = {}) { return gate(detail::gate_state::make(make_scheduler(), options)); }

  entrant begin(gate& into, std::string_view key) {
    entrant made(io().get_executor());
    into.async_enter(key, made.token());
    return made;
  }
  entrant enter(gate& into, std::string_view key) {
    auto made = begin(into, key);
    settle();
    return made;
  }
  void leave(entrant& who) {
    who.result<0>().leave();
    settle();
  }
  std::size_t timers() { return state().timers.size(); }

  static bool is_in(entrant& who) { return who.done() && !who.error() && who.result<0>().valid(); }
  static bool is_evicted(entrant& who) { return who.done() && !who.error() && !who.result<0>().valid(); }
  static bool is_declined(const entrant& who) { return who.done() && who.error() == errc::declined; }
  static bool is_cancelled(const entrant& who) { return who.done() && who.error() == asio::error::operation_aborted; }
};

}  // namespace zkrecipes::test
