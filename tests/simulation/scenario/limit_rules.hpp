// Calls of `process` keep to the limit of the consumer, over all terms.
#pragma once

#include <optional>
#include <string>

#include <zkrecipes/consumer/queue_consumer.hpp>

#include "run/stage.hpp"
#include "support/bound_judge.hpp"

namespace zkrecipes::simulation {

class limit_rules {
 public:
  /// Clocks of processes are wrong by up to a hundredth, in either direction. So the rate may be exceeded by that, and
  /// the burst by less than one call.
  limit_rules(stage& in, const std::optional<message_limit>& limit) : in_(in) {
    if (!limit) return;
    const auto per = lease_clock::duration(limit->per) / 100 * 97;
    judge_.emplace(static_cast<std::int64_t>(limit->rate), per, static_cast<std::int64_t>(limit->burst) + 1);
  }

  /// A call of the present term.
  void begun(const std::string& message) {
    if (!judge_) return;
    const auto keeps_to_it = judge_->add(lease_clock::time_point(in_.clock().now()), 1);
    in_.require(keeps_to_it, "calls keep to the limit", message);
  }
  /// The record was overwritten: a new first term has a whole burst.
  void forgive() { judge_.reset(); }

 private:
  stage& in_;
  std::optional<test::bound_judge> judge_;
};

}  // namespace zkrecipes::simulation
