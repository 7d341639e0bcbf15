// One list of a line for all of a session who get in line at the same time: among ten thousand who do so, each with a
// list of its own would be too much for any process.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "line/line_spec.hpp"
#include "line/node_name.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

class roll_call : public std::enable_shared_from_this<roll_call> {
 public:
  /// Asks for the list, and for the parent if the line reads it, behind everything that has been sent so far. All who
  /// do so in the same turn of the strand share requests and answers.
  static std::shared_ptr<roll_call> of(const core_ptr& session, const line_spec& line);

  /// Waits for the answer. Null: there is none, or the waiting was cancelled.
  awaitable<member_list> wait();
  /// Afterwards: the numbers of those who are of another recipe, see `strangers_among`.
  const std::vector<std::int32_t>& strangers() const noexcept { return strangers_; }
  /// The parent, if the line reads it; null without an answer.
  const std::shared_ptr<const backend::reply>& parent() const noexcept { return parent_node_; }

  roll_call(core_ptr session, const line_spec& line);

 private:
  bool suits(const line_spec& line) const;
  awaitable<void> ask();
  awaitable<void> list();
  exchange_ptr read_parent();

  core_ptr session_;
  std::string parent_;
  std::span<const std::string_view> accepted_;
  parent_reading reads_parent_;
  bool answered_ = false;
  member_list present_;
  std::vector<std::int32_t> strangers_;
  std::shared_ptr<const backend::reply> parent_node_;
  condition changed_;
};

}  // namespace zkrecipes::detail
