// A pause in a coroutine, by the clock of the simulated process.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "run/stage.hpp"

namespace zkrecipes::simulation {

struct nap_initiation {
  template <class Handler>
  void operator()(Handler&& handler, stage* in, int client, span length) const {
    auto slot = asio::get_associated_cancellation_slot(handler);
    auto shared = std::make_shared<std::optional<std::decay_t<Handler>>>(std::forward<Handler>(handler));
    auto wake = [](auto& sleeper) {
      if (!*sleeper) return;
      auto once = std::move(**sleeper);
      sleeper->reset();
      std::move(once)();
    };
    if (slot.is_connected()) {
      // The handler owns the slot, so the slot must not own the handler: only the timer does.
      slot.assign([wake, weak = std::weak_ptr(shared), executor = in->inside(client).executor()](auto) {
        asio::post(executor, [wake, sleeper = weak.lock()] {
          if (sleeper) wake(sleeper);
        });
      });
    }
    in->later(client, length, [wake, shared] { wake(shared); });
  }
};

/// Sleeps for `length`; ends early, without an error, if it is cancelled.
inline asio::awaitable<void> nap(stage& in, int client, span length) {
  nap_initiation initiation;
  co_await asio::async_initiate<const asio::use_awaitable_t<>, void()>(initiation, asio::use_awaitable, &in, client,
                                                                       length);
}

}  // namespace zkrecipes::simulation
