#include "source/log_source.hpp"

#include <utility>

#include "queue/queue_layout.hpp"
#include "session/paths.hpp"
#include "source/source_letters.hpp"

namespace zkrecipes::detail {

log_source::log_source(source_frame_ptr frame, std::uint32_t shard, std::string group)
    : source_(std::move(frame)),
      shard_(shard),
      group_(std::move(group)),
      position_(source_, source_->where.position(shard_, group_)) {}

awaitable<outcome<std::set<std::string>>> log_source::parked_keys() {
  co_return outcome<std::set<std::string>>(error_code(), {});
}

awaitable<outcome<std::vector<key_state>>> log_source::look_at_keys(std::vector<std::string> keys) {
  co_return outcome<std::vector<key_state>>(error_code(), std::vector<key_state>(keys.size(), key_state::free));
}

awaitable<error_code> log_source::prepare(settlement::kind what, bool) {
  if (what != settlement::kind::park) co_return error_code();
  co_return co_await source_->session->ensure_path(source_->where.dead(group_));
}

/// What leaves the log by the position alone needs no operation of its own.
transaction log_source::settling(const settlement& each) const {
  transaction all;
  if (each.how != settlement::kind::park) return all;
  auto letter = write_letter(letter_of(each, shard_));
  return all.create(join(source_->where.dead(group_), "letter-"), std::move(letter),
                    create_mode::persistent_sequential);
}

}  // namespace zkrecipes::detail
