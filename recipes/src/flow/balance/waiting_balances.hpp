// The balances of an execution context in which moves wait.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include <boost/asio/execution_context.hpp>

namespace zkrecipes::detail {

namespace asio = boost::asio;

class balance_core;

/// The handler of a move that waits may own its track, and the track owns the move. If the program ends meanwhile, the
/// shutdown of the context has to break these cycles, or they would leak.
class waiting_balances : public asio::execution_context::service {
 public:
  using key_type = waiting_balances;
  static asio::execution_context::id id;

  explicit waiting_balances(asio::execution_context& context);

  void add(const std::shared_ptr<balance_core>& each);
  void remove(balance_core* each) noexcept;

 private:
  void shutdown() override;
  std::shared_ptr<balance_core> next();

  std::mutex mutex_;
  std::map<balance_core*, std::weak_ptr<balance_core>> all_;
};

}  // namespace zkrecipes::detail
