#include "external/external_core.hpp"

#include "queue/dead_letter_folder.hpp"
#include "topic/topic_frame.hpp"

namespace zkrecipes::detail {

awaitable<outcome<std::vector<dead_letter>>> external_core::dead_letters(std::string group) {
  if (!is_group(group)) return refuse<std::vector<dead_letter>>(errc::bad_arguments);
  return read_letters(frame_->session, frame_->where.dead(group));
}

awaitable<outcome<>> external_core::discard(std::string group, dead_letter which) {
  if (!is_group(group) || which.name.empty()) return refuse<>(errc::bad_arguments);
  return discard_letter(frame_->session, frame_->where.dead(group), std::move(which.name));
}

}  // namespace zkrecipes::detail
