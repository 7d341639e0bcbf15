// The state of a gate: its shards, and the timer of those that wait behind a processing.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>

#include <boost/asio/execution_context.hpp>

#include <zkrecipes/flow/gate.hpp>

#include "gate/gate_shard.hpp"
#include "session/condition.hpp"

namespace zkrecipes::detail {

class gate_state;

/// The gates of an execution context, which have to drop what waits when the context is shut down.
/// A caller that waits owns its handler, and may own the gate through it. The shutdown of the context breaks such
/// cycles, as it does for coroutines that wait for a `condition`.
class gate_registry : public boost::asio::execution_context::service {
 public:
  /// A gate may outlive its context and take itself off the list then, so the list is shared.
  class list {
   public:
    void add(const std::shared_ptr<gate_state>& one);
    void remove(gate_state* one);
    void shut_down();

   private:
    std::mutex mutex_;
    std::map<gate_state*, std::weak_ptr<gate_state>> all_;
  };
  using list_ptr = std::shared_ptr<list>;
  using key_type = gate_registry;
  static boost::asio::execution_context::id id;

  explicit gate_registry(boost::asio::execution_context& context);

  static list_ptr add(boost::asio::execution_context& context, const std::shared_ptr<gate_state>& one);

 private:
  void shutdown() override { gates_->shut_down(); }

  list_ptr gates_ = std::make_shared<list>();
};

/// All functions may be called on any thread, apart from those that say otherwise. The world's clock is read on any
/// thread; its timers are used on the strand only.
class gate_state : public std::enable_shared_from_this<gate_state> {
 public:
  /// \throws std::invalid_argument naming the bad option.
  static std::shared_ptr<gate_state> make(scheduler_ptr on, gate_options options);
  gate_state(scheduler_ptr on, gate_options options);
  ~gate_state();

  const gate_options& options() const noexcept { return options_; }
  asio::any_io_executor get_executor() const noexcept { return on_ ? on_->base : asio::any_io_executor(); }
  gate_key fingerprint(std::string_view key) const noexcept;
  gate_statistics statistics() const;

  std::optional<gate_pass> try_enter(std::string_view key);
  void enter(gate_caller::handler h, const gate_key& key);
  void cancel(gate_waiter& who) { shard_of(who.key()).cancel(who); }

  /// The gate has gone. Passes that are out, and callers that wait, go on.
  void orphan();
  /// The execution context is being destroyed: nothing runs in it any more.
  void shut_down() noexcept;

  // For the shards.
  lease_clock::time_point now() const { return on_->world->rough_now(); }  // to read the exact one takes half of it all
  void count_waiting(int more) noexcept { waiting_ += more; }
  void on_arrival(lease_clock::time_point due);
  void on_departure();

 private:
  gate_shard& shard_of(const gate_key& key) noexcept { return shards_[key.high % shards_.size()]; }
  void request_review();
  void review();
  void disarm();

  // Read by every operation.
  scheduler_ptr on_;  // null when the context has been shut down
  const gate_options options_;
  gate_key secret_;
  std::array<gate_shard, 256> shards_;

  std::atomic<int> waiting_ = 0;
  std::atomic<lease_clock::time_point> armed_ = never;  // when the timer fires
  std::atomic<bool> is_review_requested_ = false;
  backend::timer_id timer_ = 0;
  gate_registry::list_ptr registered_;
};

}  // namespace zkrecipes::detail
