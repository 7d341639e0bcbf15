// What the simulated processes of a scenario are made of: their operations, their pauses, an operator who meddles.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "run/stage.hpp"
#include "world/clockwork.hpp"

namespace zkrecipes::simulation {

// A pause in a coroutine, by the clock of the simulated process.

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

// In one run out of three, an operator who removes nodes while the clients use them.

class meddler {
 public:
  /// `stream`: the operator's own stream of `chance`, so that the clients' draws stay the same.
  meddler(stage& in, std::uint64_t stream) : in_(in), chance_(in.what().seed, stream), works_(chance_.one_in(3)) {}

  /// Once in `one_in` calls, removes these nodes in this order, at one moment within `longest`.
  void perhaps_remove(std::uint64_t one_in, std::vector<std::string> paths, span longest);
  /// Like `perhaps_remove`, and breaks the connection of the session that has just made the node, so that it does not
  /// hear of it.
  void perhaps_remove_unheard(std::uint64_t one_in, const change& made, span longest);

 private:
  bool is_at_work(std::uint64_t one_in, span longest);
  void remove_later(std::vector<std::string> paths, span longest);

  stage& in_;
  chance chance_;
  bool works_;
};

// Starts operations of the library and checks that each completes once and never inside the call.

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

/// A simulated process that starts its operations over one session, and has nothing else to end.
class session_program : public program {
 public:
  session_program(stage& in, int client, session with) : operations_(in, client), zk_(std::move(with)) {}

  bool idle() const override { return operations_.pending() == 0; }
  void close() override {
    operations_.start<>([this](auto token) { zk_.async_close(std::move(token)); },
                        [this](error_code) { closed_ = true; });
  }
  bool finished() const override { return closed_ && operations_.pending() == 0; }
  std::string own_node() const override { return {}; }

 protected:
  operations operations_;
  session zk_;

 private:
  bool closed_ = false;
};

/// It uses a recipe in rounds: one coroutine, cancelled now and then, until it is told to stop.
class routine : public session_program {
 public:
  routine(stage& in, int client, session with);

  /// To be called on the process's executor once the object is complete.
  void begin();
  void cancel(asio::cancellation_type type) override { waiting_.emit(type); }
  void stop() override;
  bool idle() const override { return over_ && operations_.pending() == 0; }
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
  asio::cancellation_signal waiting_;
  bool stopping_ = false;
  bool over_ = false;
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
