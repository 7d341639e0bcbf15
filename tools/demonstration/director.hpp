#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fault_plan.hpp"
#include "observer.hpp"
#include "shard_source.hpp"
#include "stage.hpp"
#include "summary.hpp"

namespace demo {

/// Injects faults while an elected consumer works, and waits until all messages are settled.
class director : private stage {
 public:
  director(boost::asio::io_context& io, const direction& how);

  boost::asio::awaitable<void> run();
  const summary& outcome() const noexcept { return summary_; }

 private:
  boost::asio::awaitable<void> make_trouble();
  boost::asio::awaitable<void> cause(fault_kind what);
  boost::asio::awaitable<void> planned_hand_over();
  boost::asio::awaitable<void> kill_consumer();
  boost::asio::awaitable<void> pause_consumer();
  boost::asio::awaitable<void> wait_leader(std::int64_t after);
  boost::asio::awaitable<void> move_on();
  boost::asio::awaitable<void> switch_consumer(int index);
  void record_death(const std::string& id);
  boost::asio::awaitable<void> wait_settled();
  boost::asio::awaitable<void> audit_all();
  int leading_index() const { return consumers_.index_of(observer_.view().leader); }

  std::vector<std::unique_ptr<backlog>> backlogs_;  // of the sources
  std::size_t moves_ = 0;
  observer observer_;
  summary summary_;
};

}  // namespace demo
