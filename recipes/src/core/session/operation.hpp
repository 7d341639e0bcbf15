// How a public operation becomes a coroutine on the session's strand, and its result a call of the user's handler.
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <new>
#include <tuple>
#include <utility>

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/errc.hpp>

#include <zkrecipes/detail/initiate.hpp>
#include <zkrecipes/error.hpp>

#include "backend/worded_errors.hpp"
#include "backend/world.hpp"
#include "session/condition.hpp"

namespace zkrecipes::detail {

/// Ends operations that wait for a connection (`retry_policy::limit`): all of a session's with one timer. An operation
/// is over when the session has had no connection for `limit` since the operation began. A connection that breaks later
/// gives it `limit` from then. On the strand.
class reach_limit {
 public:
  /// `limit`: zero means none. `world` has to live as long.
  reach_limit(backend::world& world, std::chrono::milliseconds limit) : world_(world), limit_(limit) {}
  reach_limit(const reach_limit&) = delete;
  ~reach_limit() { stop_timer(); }

  /// One operation, for as long as it lives.
  class waiting {
   public:
    waiting(reach_limit& in, asio::cancellation_signal& signal);
    waiting(const waiting&) = delete;
    ~waiting();
    /// Whether the operation was cancelled for want of a connection.
    bool is_over() const noexcept { return is_over_; }
    /// Whether there was a connection while the operation waited, so that a request may have been sent.
    bool had_connection() const noexcept { return in_.is_connected_ || in_.since_ >= since_; }

   private:
    friend class reach_limit;
    reach_limit& in_;
    asio::cancellation_signal& signal_;
    lease_clock::time_point since_;
    bool is_over_ = false;
    std::list<waiting*>::iterator here_;
  };

  void connected();
  void disconnected();

 private:
  void set_timer();
  void stop_timer();
  void end_late();

  backend::world& world_;
  std::chrono::milliseconds limit_;
  std::list<waiting*> all_;  // in the order in which they began, or since when they have had no connection
  bool is_connected_ = false;
  lease_clock::time_point since_ = lease_clock::time_point::min();  // when the last connection broke
  backend::timer_id timer_ = 0;
};

/// Wraps a user's hook, so that the library calls a function which never throws. An exception of the hook is thrown on
/// the session's executor instead, like that of a handler; the library goes on as if the hook had returned nothing,
/// `false` or 0. (docs/operations.md has the rule.)
template <class Result, class... Params>
std::function<Result(Params...)> guarded(const scheduler& on, std::function<Result(Params...)> hook) {
  if (!hook) return nullptr;
  return [base = on.base, hook = std::move(hook)](Params... args) -> Result {
    try {
      return hook(std::forward<Params>(args)...);
    } catch (...) {
      asio::post(base, [failure = std::current_exception()] { std::rethrow_exception(failure); });
      return Result();
    }
  };
}

/// Carries a cancellation by the user to the strand.
struct relay {
  asio::any_io_executor strand;
  asio::cancellation_signal signal;
};

/// Forwards a cancellation from the user's slot to a signal of ours, on the strand. Asio's own forwarding refers to a
/// signal inside the slot, which a completion on another thread may already have replaced. The slot may outlive the
/// operation, and even the context, so its handler has only a weak pointer.
/// `always`: there is a signal also without a slot.
inline std::shared_ptr<relay> forward_cancellation(asio::cancellation_slot slot, const asio::any_io_executor& strand,
                                                   bool always = false) {
  if (!slot.is_connected() && !always) return nullptr;
  auto made = std::make_shared<relay>();
  made->strand = strand;
  if (!slot.is_connected()) return made;
  slot.assign([weak = std::weak_ptr(made)](asio::cancellation_type type) {
    auto alive = weak.lock();
    if (alive) asio::post(alive->strand, [alive, type] { alive->signal.emit(type); });
  });
  return made;
}

/// The result of an operation's body: the arguments of the user's handler.
template <class... Results>
using outcome = std::tuple<error_code, Results...>;

/// The completion handler of an operation's coroutine. It is called on the strand, and calls the user's handler once,
/// on the handler's executor and outside of the strand. It is one pointer, because a coroutine holds several copies.
template <class... Results>
class completion {
 public:
  using handler_type = handler_for<void(error_code, Results...)>;
  using executor_type = asio::any_io_executor;
  using cancellation_slot_type = asio::cancellation_slot;

  /// `target`, the handler's executor, keeps its context running. `cancellation`, if any, outlives the coroutine.
  completion(const scheduler& on, handler_type handler, asio::any_completion_executor target,
             std::shared_ptr<relay> cancellation)
      : parts_(std::make_shared<parts>(on.shared_from_this(), std::make_shared<handler_type>(std::move(handler)),
                                       std::move(target), std::move(cancellation))) {}

  const executor_type& get_executor() const noexcept { return parts_->on->strand; }
  cancellation_slot_type get_cancellation_slot() const noexcept {
    return parts_->cancellation ? parts_->cancellation->signal.slot() : asio::cancellation_slot();
  }

  void operator()(std::exception_ptr failure, outcome<Results...> result) const {
    if (failure) std::get<0>(result) = error_of(failure);
    auto call = [handler = std::move(parts_->handler), result = std::move(result)]() mutable {
      std::apply(std::move(*handler), std::move(result));
    };
    asio::post(parts_->on->base, [target = parts_->target, call = std::move(call)]() mutable {
      asio::dispatch(target, std::move(call));
    });
  }

 private:
  /// Any other exception leaves `run()`.
  static error_code error_of(std::exception_ptr failure) {
    try {
      std::rethrow_exception(failure);
    } catch (const std::bad_alloc&) {
      return make_error_code(boost::system::errc::not_enough_memory);
    }
  }

  struct parts {
    parts(std::shared_ptr<const scheduler> where, std::shared_ptr<handler_type> whose, asio::any_completion_executor to,
          std::shared_ptr<relay> by)
        : on(std::move(where)), handler(std::move(whose)), target(std::move(to)), cancellation(std::move(by)) {
      ++on->operations;
    }
    parts(const parts&) = delete;
    ~parts() { --on->operations; }

    std::shared_ptr<const scheduler> on;
    std::shared_ptr<handler_type> handler;
    asio::any_completion_executor target;
    std::shared_ptr<relay> cancellation;
  };
  std::shared_ptr<parts> parts_;
};

/// The executor of a handler; without an associated one `base`.
template <class Handler, class Executor>
auto handler_executor(const Handler& handler, const Executor& base) {
  auto executor = boost::asio::get_associated_executor(handler, base);
  if (!executor) throw std::bad_alloc();  // what `any_completion_handler` makes of it
  return executor;
}

/// The result of an operation that has failed.
template <class... Results>
outcome<Results...> failed(error_code why) {
  return outcome<Results...>(why, Results()...);
}

/// The body of an operation that is refused: nothing is sent.
template <class... Results>
awaitable<outcome<Results...>> refuse(error_code why) {
  co_return failed<Results...>(why);
}

/// Lets every type of cancellation through (a co_spawned coroutine hears only `terminal`), and reports it by return
/// values instead of exceptions.
inline awaitable<void> accept_cancellation() {
  co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
  co_await asio::this_coro::throw_if_cancelled(false);
}

template <class... Results>
awaitable<outcome<Results...>> cancellable(awaitable<outcome<Results...>> body) {
  co_await accept_cancellation();
  co_return co_await std::move(body);
}

/// How long to wait for a lost connection.
enum class persistence {
  limited,  ///< For as long as `retry_policy::limit` says; then the error is `connection_loss`.
  endless,  ///< Until it is back: for what is there for as long as its user wants it, such as a run or a wait for a
            ///< loss.
};

/// Runs `body` until the session has been without a connection for `retry_policy::limit`. `body` has to undo its
/// effects when it is cancelled.
template <class... Results>
awaitable<outcome<Results...>> reachable(std::shared_ptr<reach_limit> limit, std::shared_ptr<relay> by,
                                         awaitable<outcome<Results...>> body) {
  co_await accept_cancellation();
  const reach_limit::waiting mine(*limit, by->signal);
  auto result = co_await std::move(body);
  auto& error = std::get<0>(result);
  if (mine.is_over() && error == asio::error::operation_aborted) error = errc::connection_loss;
  error = backend::loss_of_operation(error, mine.had_connection());
  co_return result;
}

/// The executor of a handler, which keeps its context running; without an associated one that of the session.
template <class Handler>
asio::any_completion_executor target_of(const Handler& handler, const scheduler& on) {
  auto executor = asio::get_associated_executor(handler, on.base);
  if (!executor) throw std::bad_alloc();  // what `any_completion_handler` makes of it
  return asio::prefer(executor, asio::execution::outstanding_work.tracked);
}

/// Runs `body` on the strand and passes its result to `handler`. A handler without an associated executor runs on the
/// session's executor, not on the strand, so that a slow handler does not hold up the session.
template <class... Results>
void launch(const scheduler& on, handler_for<void(error_code, Results...)> handler, awaitable<outcome<Results...>> body,
            persistence how_long = persistence::limited) {
  const bool is_limited = on.reach && how_long == persistence::limited;
  auto cancellation = forward_cancellation(asio::get_associated_cancellation_slot(handler), on.strand, is_limited);
  auto target = target_of(handler, on);
  if (is_limited) {
    const std::shared_ptr<reach_limit> limit(on.shared_from_this(), on.reach.get());  // it lives by the world of `on`
    body = reachable(limit, cancellation, std::move(body));
  } else if (cancellation) {
    body = cancellable(std::move(body));
  }
  asio::co_spawn(on.strand, std::move(body),
                 completion<Results...>(on, std::move(handler), std::move(target), std::move(cancellation)));
}

/// Runs a member coroutine and owns its object, because nothing else may own the object until the coroutine starts.
template <class T, class Result, class... Params, class... Args>
awaitable<Result> owning(std::shared_ptr<T> self, awaitable<Result> (T::*method)(Params...), Args... args) {
  co_return co_await ((*self).*method)(std::move(args)...);
}

/// Starts an operation of a public object: a member coroutine of its implementation, which the operation owns.
template <class T, class... Results, class... Params, class... Args>
void launch(handler_for<void(error_code, Results...)> handler, std::shared_ptr<T> whose,
            awaitable<outcome<Results...>> (T::*method)(Params...), Args... args) {
  const auto on = whose->get_scheduler();
  launch(*on, std::move(handler), owning(std::move(whose), method, std::move(args)...));
}

/// The same, but it waits for a connection for as long as it takes.
template <class T, class... Results, class... Params, class... Args>
void launch_endless(handler_for<void(error_code, Results...)> handler, std::shared_ptr<T> whose,
                    awaitable<outcome<Results...>> (T::*method)(Params...), Args... args) {
  const auto on = whose->get_scheduler();
  launch(*on, std::move(handler), owning(std::move(whose), method, std::move(args)...), persistence::endless);
}

// One deadline for all steps of an operation.

// Ends an operation that its user has not cancelled: its deadline has passed, or something that it needs was lost.

class interruption {
 public:
  interruption() = default;
  interruption(const interruption&) = delete;

  void interrupt() {
    has_come_ = true;
    signal.emit(asio::cancellation_type::total);
  }
  bool has_come() const noexcept { return has_come_; }

  asio::cancellation_signal signal;

 private:
  bool has_come_ = false;
};

/// Runs `body` until it ends or `by` interrupts it. Then its error is `operation_aborted`, as after a cancellation by
/// the user. `body` has to undo its effects when it is cancelled. On the strand.
template <class... Results>
awaitable<outcome<Results...>> interruptible(scheduler_ptr on, std::shared_ptr<interruption> by,
                                             awaitable<outcome<Results...>> body) {
  auto state = co_await asio::this_coro::cancellation_state;
  const bool is_cancelled = state.cancelled() != asio::cancellation_type::none;
  if (is_cancelled || by->has_come()) {  // before this step: the slots below would miss it
    outcome<Results...> aborted;
    std::get<0>(aborted) = asio::error::operation_aborted;
    co_return aborted;
  }
  const bool may_be_cancelled = state.slot().is_connected();
  if (may_be_cancelled) state.slot().assign([by](asio::cancellation_type type) { by->signal.emit(type); });
  auto result = co_await asio::co_spawn(on->strand, cancellable(std::move(body)),
                                        asio::bind_cancellation_slot(by->signal.slot(), asio::use_awaitable));
  if (may_be_cancelled) state.slot().clear();
  co_return result;
}

/// An interruption at a point in time.
class time_limit : public interruption {
 public:
  time_limit(scheduler_ptr on, lease_clock::time_point deadline) : on_(std::move(on)) {
    timer_ = on_->world->call_at(deadline, [this] {
      timer_ = 0;
      interrupt();
    });
  }
  ~time_limit() {
    if (timer_) on_->world->cancel(timer_);
  }

 private:
  scheduler_ptr on_;
  backend::timer_id timer_ = 0;
};

template <class... Results>
awaitable<outcome<Results...>> limited(scheduler_ptr on, lease_clock::time_point deadline,
                                       awaitable<outcome<Results...>> body) {
  auto limit = std::make_shared<time_limit>(on, deadline);
  auto result = co_await interruptible(on, limit, std::move(body));
  if (limit->has_come() && std::get<0>(result) == asio::error::operation_aborted) std::get<0>(result) = errc::timed_out;
  co_return result;
}

/// Runs `body` until the deadline at the latest; then its error is `timed_out`. `body` has to undo its effects when it
/// is cancelled. On the strand.
template <class... Results>
awaitable<outcome<Results...>> with_deadline(scheduler_ptr on, lease_clock::time_point deadline,
                                             awaitable<outcome<Results...>> body) {
  return deadline == never ? std::move(body) : limited(std::move(on), deadline, std::move(body));
}

/// Starts an operation of a public object as `launch` does, with one budget of time.
template <class T, class... Results, class... Params, class... Args>
void launch_within(lease_clock::duration budget, handler_for<void(error_code, Results...)> handler,
                   std::shared_ptr<T> whose, awaitable<outcome<Results...>> (T::*method)(Params...), Args... args) {
  const auto on = whose->get_scheduler();
  auto body = owning(std::move(whose), method, std::move(args)...);
  launch(*on, std::move(handler), with_deadline(on, on->deadline_of(budget), std::move(body)));
}

/// The completion handler of a coroutine that has no result. An exception leaves `run()`: nobody else would be told.
inline void rethrow(std::exception_ptr failure) {
  if (failure) std::rethrow_exception(failure);
}

/// Runs `body` on the strand; no handler is told when it ends.
inline void launch_detached(const asio::any_io_executor& strand, awaitable<void> body) {
  asio::co_spawn(strand, std::move(body), &rethrow);
}

/// The same for an operation whose result nobody waits for.
template <class... Results>
void launch_detached(const asio::any_io_executor& strand, awaitable<outcome<Results...>> body) {
  asio::co_spawn(strand, std::move(body),
                 [](std::exception_ptr failure, const outcome<Results...>&) { rethrow(failure); });
}

/// Awaits what `begin` returns. If it fails for want of memory, it is begun anew after a pause: for what the life of a
/// session depends on.
template <class Begin>
awaitable<void> outlast(scheduler_ptr on, Begin begin) {
  for (;;) {
    try {
      co_await begin();
      co_return;
    } catch (const std::bad_alloc&) {
    }
    condition pause(on);
    co_await pause.wait(on->now() + std::chrono::milliseconds(100));
  }
}

}  // namespace zkrecipes::detail
