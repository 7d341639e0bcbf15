#include "redis/stream_state.hpp"

namespace zkrecipes::detail {

namespace {

/// Whether the stream had this entry, as far as the broker tells, given that it has not got it now. Consumers and
/// operators remove entries, so that it is missing says nothing by itself.
bool may_have_had(const stream_state& now, const stream_id& missing) {
  if (now.length == 0 || !now.first || !now.added) return true;
  if (*now.first > missing) return *now.added > now.length;  // removed by XTRIM or by XDEL
  return !now.largest_deleted || *now.largest_deleted >= missing;
}

}  // namespace

std::string loss_of(const stream_state& now, const stream_id& last, bool has_last, const stream_id& farthest) {
  if (now.last_generated < farthest) {
    return "the last id of the stream is " + to_string(now.last_generated) + ", and " + to_string(farthest) +
           " was read from it before";
  }
  if (last == stream_id() || has_last || may_have_had(now, last)) return {};
  return "the entry " + to_string(last) +
         ", which was consumed or read, is not in the stream, and was not removed from it";
}

}  // namespace zkrecipes::detail
