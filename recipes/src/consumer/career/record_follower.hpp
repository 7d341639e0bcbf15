// Keeps the term record at hand for a candidate that is about to lead.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "career/known_record.hpp"
#include "line/waiter.hpp"
#include "session/condition.hpp"

namespace zkrecipes::detail {

/// What a candidate knows of the record. While it is next in line, it reads the record whenever that changes. Only the
/// next in line watches the record, so that a change wakes no other candidate. On the strand.
class record_follower : public std::enable_shared_from_this<record_follower> {
 public:
  /// `told` is called with each record that is read.
  record_follower(scheduler_ptr on, std::optional<known_record> known, std::function<void(const term_record&)> told);

  /// Nothing if the record was not read yet, or its node had other data when we got in line.
  const std::optional<known_record>& known() const noexcept { return known_; }

  /// Follows the record, which is the data of the line's parent, until `stop`, or until the candidate's node is lost.
  void start(waiter_ptr candidate);
  void stop();

 private:
  static awaitable<void> follow(std::shared_ptr<record_follower> self, waiter_ptr candidate);

  std::optional<known_record> known_;
  std::function<void(const term_record&)> told_;
  bool stopped_ = false;
  condition changed_;
};

}  // namespace zkrecipes::detail
