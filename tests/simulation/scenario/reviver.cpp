#include "scenario/reviver.hpp"

#include <algorithm>
#include <utility>

#include "scenario/coordinator.hpp"

namespace zkrecipes::simulation {

using namespace std::chrono_literals;

reviver::reviver(stage& in, int number, queue which, operations& with, int& under_way)
    : in_(in),
      chance_(in.what().seed, 874 + static_cast<std::uint64_t>(number)),
      queue_(std::move(which)),
      operations_(with),
      looks_left_(chance_.below(4)),
      under_way_(under_way) {
  set_busy(true);
  looks_again();
}

void reviver::looks_again() {
  if (was_last_) return set_busy(false);
  const auto left = in_.what().faults_until - in_.clock().now();
  was_last_ = looks_left_ == 0 || left <= 0ms;
  if (!was_last_) --looks_left_;
  const auto when =
      was_last_ ? std::max<span>(left, 0ms) + 1ms : std::min<span>(chance_.between(500ms, 20s), left + 1ms);
  in_.later(producing_client, when, [this] { look(); });
}

void reviver::look() {
  operations_.start<std::vector<parked_key>>([this](auto token) { queue_.async_parked_keys(std::move(token)); },
                                             [this](error_code error, std::vector<parked_key> keys) {
                                               if (error) return in_.later(producing_client, 1s, [this] { look(); });
                                               keys_ = std::move(keys);
                                               revive();
                                             });
}

void reviver::revive() {
  if (keys_.empty()) return looks_again();
  operations_.start<std::size_t>([this](auto token) { queue_.async_revive_key(keys_.back(), std::move(token)); },
                                 [this](error_code error, std::size_t) {
                                   const bool is_done = !error || error == errc::no_node;
                                   if (is_done) keys_.pop_back();
                                   in_.later(producing_client, is_done ? 0ms : 1s, [this] { revive(); });
                                 });
}

void reviver::set_busy(bool busy) {
  under_way_ += static_cast<int>(busy) - static_cast<int>(std::exchange(is_busy_, busy));
}

}  // namespace zkrecipes::simulation
