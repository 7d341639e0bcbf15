#include "line/line_news.hpp"

namespace zkrecipes::detail {

line_news_ptr line_news::of(const core_ptr& session, const line_spec& line) {
  auto& known = session->commons().at<line_news>(line.parent);
  auto joined = known.lock();
  // A line of another recipe at this path has other members.
  if (joined && joined->line_.accepted.data() == line.accepted.data()) return joined;
  auto made = std::make_shared<line_news>(session, line);
  if (!joined) known = made;
  return made;
}

}  // namespace zkrecipes::detail
