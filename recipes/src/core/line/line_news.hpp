// What a session knows of a line by those of its members whose turn has come.
#pragma once

#include <cstddef>
#include <string>

#include "line/line_spec.hpp"
#include "line/node_name.hpp"
#include "session/core.hpp"

namespace zkrecipes::detail {

/// The list by which a member was let in last. Nobody can come before a member that is listed, so a later one of the
/// same session may find by it that its own turn has come, and need not list the line. Owned by those who wait. On the
/// strand.
class line_news {
 public:
  /// Those of the session who wait in this line share it.
  static std::shared_ptr<line_news> of(const core_ptr& session, const line_spec& line);

  line_news(core_ptr session, const line_spec& line) : session_(std::move(session)), line_(line) {}
  line_news(const line_news&) = delete;
  line_news& operator=(const line_news&) = delete;
  ~line_news() {
    auto& commons = session_->commons();  // another one may have taken the place
    if (commons.at<line_news>(line_.parent).expired()) commons.end<line_news>(line_.parent);
  }

  member_list members;    ///< Null before.
  std::size_t first = 0;  ///< Those in front of this one have left since it was read.

 private:
  core_ptr session_;
  line_spec line_;
};

using line_news_ptr = std::shared_ptr<line_news>;

}  // namespace zkrecipes::detail
