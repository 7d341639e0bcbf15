// Starts operations of the library and checks that each completes once and never inside the call.
#pragma once

#include <memory>
#include <utility>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>

#include "run/stage.hpp"

namespace zkrecipes::simulation {

class operations {
 public:
  operations(stage& in, int client) : in_(in), executor_(in.inside(client).executor()) {}

  int pending() const noexcept { return *pending_; }

  /// `begin` is called with a completion token, and `done` with the results.
  template <class... Results, class Begin, class Done>
  void start(Begin begin, Done done) {
    begin(asio::bind_executor(executor_, make_handler<Results...>(std::move(done))));
  }

  /// Like `start` above; `signal` cancels the operation.
  template <class... Results, class Begin, class Done>
  void start(asio::cancellation_signal& signal, Begin begin, Done done) {
    begin(asio::bind_cancellation_slot(signal.slot(),
                                       asio::bind_executor(executor_, make_handler<Results...>(std::move(done)))));
  }

 private:
  struct state {
    bool inside = true;
    int calls = 0;
  };

  template <class... Results, class Done>
  auto make_handler(Done done) {
    auto op = std::make_shared<state>();
    ++*pending_;
    asio::post(executor_, [op] { op->inside = false; });  // runs before any completion that is posted
    return [&in = in_, op, pending = pending_, done = std::move(done)](error_code error, Results... results) mutable {
      in.require(!op->inside, "never inline");
      in.require(++op->calls == 1, "one completion per operation");
      --*pending;
      done(error, std::move(results)...);
    };
  }

  stage& in_;
  asio::any_io_executor executor_;
  std::shared_ptr<int> pending_ = std::make_shared<int>(0);
};

}  // namespace zkrecipes::simulation
