// A simulated process that uses a recipe in rounds: one coroutine, cancelled now and then, until it is told to stop.
#pragma once

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "scenario/operations.hpp"

namespace zkrecipes::simulation {

/// Records which clients have made progress since all faults were over.
class progress {
 public:
  explicit progress(const stage& in) : done_(static_cast<std::size_t>(in.what().clients)) {}

  void forget() { std::fill(done_.begin(), done_.end(), false); }
  void note(int client) { done_[static_cast<std::size_t>(client)] = true; }
  bool everybody() const {
    return std::all_of(done_.begin(), done_.end(), [](bool each) { return each; });
  }

 private:
  std::vector<bool> done_;
};

class routine : public program {
 public:
  routine(stage& in, int client, session with);

  /// To be called on the process's executor once the object is complete.
  void begin();
  void cancel(asio::cancellation_type type) override { waiting_.emit(type); }
  void stop() override;
  bool idle() const override { return over_ && operations_.pending() == 0; }
  void close() override;
  bool finished() const override { return closed_ && operations_.pending() == 0; }
  /// An ephemeral node of the session; empty if there is none.
  std::string own_node() const override;

 protected:
  /// One round. Called again and again, with a rest in between, until the routine is stopped.
  virtual asio::awaitable<void> round() = 0;
  /// Called at the end: releases what the last round has left.
  virtual asio::awaitable<void> leave() { co_return; }

  /// Awaits one operation of the library; `start` is called with a completion token. Checks that the operation
  /// completes once and never inline.
  template <class... Results, class Begin>
  asio::awaitable<std::tuple<error_code, Results...>> does(Begin start) {
    auto initiation = [this, start](auto handler) {
      operations_.start<Results...>(start, resume<Results...>(std::move(handler)));
    };
    auto done = initiate<Results...>(initiation);
    co_return co_await std::move(done);
  }

  /// Like `does`, for an operation that may wait for ever: it is cancelled when the routine is to stop, and by chance.
  template <class... Results, class Begin>
  asio::awaitable<std::tuple<error_code, Results...>> waits(Begin start) {
    if (stopping_) co_return std::tuple<error_code, Results...>(asio::error::operation_aborted, Results()...);
    auto initiation = [this, start](auto handler) {
      operations_.start<Results...>(waiting_, start, resume<Results...>(std::move(handler)));
      perhaps_cancel();
    };
    auto done = initiate<Results...>(initiation);
    co_return co_await std::move(done);
  }

  /// Starts an operation without waiting for it; `done` is called with its results.
  template <class... Results, class Begin, class Done>
  void aside(Begin start, Done done) {
    operations_.start<Results...>(std::move(start), std::move(done));
  }

  asio::awaitable<void> rest(span least, span most);

  /// Checks, after an operation has failed and all faults are over: three seconds later the session has no node below
  /// these parents.
  asio::awaitable<void> leaves_nothing(std::vector<std::string> parents);

  /// For operations with a cancellation signal of their own.
  operations& all() noexcept { return operations_; }

  bool stopping() const noexcept { return stopping_; }
  stage& in() noexcept { return in_; }
  const stage& in() const noexcept { return in_; }
  int client() const noexcept { return client_; }
  process& here() const { return in_.inside(client_); }
  session& zk() noexcept { return zk_; }
  const session& zk() const noexcept { return zk_; }
  chance& dice() noexcept { return chance_; }
  /// The longest rest between two rounds.
  span longest_rest = std::chrono::milliseconds(600);

 private:
  template <class... Results, class Initiation>
  static asio::awaitable<std::tuple<error_code, Results...>> initiate(Initiation& initiation) {
    return asio::async_initiate<const asio::use_awaitable_t<>, void(std::tuple<error_code, Results...>)>(
        initiation, asio::use_awaitable);
  }
  template <class... Results, class Handler>
  static auto resume(Handler handler) {
    using any = asio::any_completion_handler<void(std::tuple<error_code, Results...>)>;
    return [next = any(std::move(handler))](error_code error, Results... results) mutable {
      std::move(next)(std::tuple<error_code, Results...>(error, std::move(results)...));
    };
  }

  asio::awaitable<void> run();
  void perhaps_cancel();

  stage& in_;
  int client_;
  chance chance_;
  operations operations_;
  session zk_;
  asio::cancellation_signal waiting_;
  bool stopping_ = false;
  bool over_ = false;
  bool closed_ = false;
};

/// A scenario in which each process runs a `Client`, a routine. It has recovered once each of them has made progress.
template <class Self, class Client>
class scenario_of : public scenario {
 public:
  explicit scenario_of(stage& in) : done(in) {}

  std::unique_ptr<program> start(stage& in, int client, session with) override {
    auto made = std::make_unique<Client>(static_cast<Self&>(*this), in, client, std::move(with));
    made->begin();
    return made;
  }
  void healed() override { done.forget(); }
  bool recovered() override { return done.everybody(); }

  progress done;
};

}  // namespace zkrecipes::simulation
