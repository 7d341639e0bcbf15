// One list of a line for all of a session who get in line at the same time: among ten thousand who do so, each with a list
// of its own would be too much for any process.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "line/node_name.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

struct line_spec;

/// Who stands in line, in order; shared by those who have seen the same list.
using roster = std::shared_ptr<const std::vector<member>>;

class roll_call : public std::enable_shared_from_this<roll_call> {
 public:
  /// Asks for the list, behind everything that has been sent so far. Whoever does so in the same turn of the strand shares
  /// request and answer.
  static std::shared_ptr<roll_call> of(const core_ptr& session, const line_spec& line);

  /// Waits for the answer. Null: there is none, or the waiting was cancelled.
  awaitable<roster> wait();
  /// Afterwards: the numbers of those who are of another recipe, see `strangers_among`.
  const std::vector<std::int32_t>& strangers() const noexcept { return strangers_; }

  roll_call(core_ptr session, std::string parent, std::span<const std::string_view> accepted);

 private:
  awaitable<void> ask();

  core_ptr session_;
  std::string parent_;
  std::span<const std::string_view> accepted_;
  bool answered_ = false;
  roster present_;
  std::vector<std::int32_t> strangers_;
  condition changed_;
};

}  // namespace zkrecipes::detail
