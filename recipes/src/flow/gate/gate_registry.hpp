// The gates of an execution context, which have to drop what waits when the context is shut down.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include <boost/asio/execution_context.hpp>

namespace zkrecipes::detail {

class gate_state;

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

}  // namespace zkrecipes::detail
