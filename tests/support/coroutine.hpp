// Runs asynchronous operations to their end, so that a test can be written as a sequence of steps.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <zkrecipes/error.hpp>

namespace zkrecipes::test {

namespace asio = boost::asio;
using namespace std::chrono_literals;

/// The longest time to wait. It is long enough for a loaded machine: a test that exceeds it has failed.
inline constexpr std::chrono::milliseconds time_limit = 30s;

/// Completion token: the operation returns an awaitable of all its results, with the error first.
inline constexpr auto tuple = asio::as_tuple(asio::use_awaitable);

/// Runs the context until the condition holds. False if it does not hold before the deadline.
inline bool run_until(asio::io_context& io, const std::function<bool()>& condition,
                      std::chrono::milliseconds deadline = time_limit) {
  const auto until = std::chrono::steady_clock::now() + deadline;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    if (io.stopped()) io.restart();
    io.run_one_for(std::chrono::milliseconds(5));
    io.poll();  // run everything that is ready before looking again: the condition may be expensive
  }
  return true;
}

/// Runs a coroutine on the context to its end, and returns its result or throws its exception.
template <class T>
T run_coroutine(asio::io_context& io, asio::awaitable<T> body, std::chrono::milliseconds deadline = time_limit) {
  struct state {
    bool done = false;
    std::exception_ptr failure;
    std::optional<T> value;
  };
  auto shared = std::make_shared<state>();
  asio::co_spawn(io, std::move(body), [shared](std::exception_ptr failure, T value) {
    shared->done = true;
    shared->failure = std::move(failure);
    shared->value.emplace(std::move(value));
  });
  if (!run_until(
          io, [&] { return shared->done; }, deadline))
    throw std::runtime_error("the operation did not end in time");
  if (shared->failure) std::rethrow_exception(shared->failure);
  return std::move(*shared->value);
}

/// A completion handler that records its calls, and a signal to cancel its operation. The handler runs on `executor`.
template <class... Results>
class recorder {
 public:
  explicit recorder(asio::any_io_executor executor)
      : executor_(std::move(executor)), state_(std::make_shared<state>()) {}

  /// The completion token: an executor and a cancellation slot bound to a callback.
  auto token() {
    auto note = [shared = state_](error_code error, Results... results) {
      ++shared->calls;
      shared->results.emplace(error, std::move(results)...);
      if (shared->notice) shared->notice();
    };
    return asio::bind_cancellation_slot(state_->signal.slot(), asio::bind_executor(executor_, std::move(note)));
  }

  void cancel(asio::cancellation_type type = asio::cancellation_type::total) { state_->signal.emit(type); }
  void on_completion(std::function<void()> what) { state_->notice = std::move(what); }

  int calls() const { return state_->calls; }
  bool done() const { return calls() > 0; }
  error_code error() const { return std::get<0>(*state_->results); }
  template <std::size_t I>
  auto& result() {
    return std::get<I + 1>(*state_->results);
  }

 private:
  struct state {
    int calls = 0;
    std::optional<std::tuple<error_code, Results...>> results;
    std::function<void()> notice;
    asio::cancellation_signal signal;
  };
  asio::any_io_executor executor_;
  std::shared_ptr<state> state_;
};

}  // namespace zkrecipes::test
