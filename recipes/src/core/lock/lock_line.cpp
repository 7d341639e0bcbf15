#include "lock/lock_line.hpp"

#include <string_view>
#include <utility>

#include "line/member_data.hpp"
#include "line/turn.hpp"

namespace zkrecipes::detail {

namespace {
// The names in Curator's mutex, and in both generations of kazoo's lock.
constexpr std::string_view lock_markers[] = {"lock-", "__lock__"};
}  // namespace

line_spec lock_line(std::string path) {
  line_spec line{std::move(path), "lock-", lock_markers};
  line.one_by_one = true;
  return line;
}

awaitable<outcome<ownership>> acquire_lock(core_ptr session, std::string path, line_options options) {
  return own_turn(std::move(session), lock_line(std::move(path)), revocable_data(options.id), &nearest_ahead,
                  std::move(options.on_position));
}

awaitable<outcome<ownership>> try_acquire_lock(core_ptr session, std::string path, line_options options) {
  return own_if_free(std::move(session), lock_line(std::move(path)), revocable_data(options.id));
}

}  // namespace zkrecipes::detail
