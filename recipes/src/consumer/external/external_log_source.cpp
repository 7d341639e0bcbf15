#include "external/external_log_source.hpp"

#include <utility>

#include "external/log_port.hpp"

namespace zkrecipes::detail {

external_log_source::external_log_source(external_frame_ptr frame, std::shared_ptr<external_log> from,
                                         std::uint32_t shard, std::string group)
    : external_message_source(std::move(frame), "external_log", shard, std::move(group),
                              std::make_unique<log_port>(std::move(from))) {}

std::string external_log_source::first_record() const { return serialize(place_position()); }

bool external_log_source::load(std::string_view record) {
  auto stored = parse_place_position(record);
  if (!stored) return false;
  cursor_ = stored->last;
  progress_ = place_progress(std::move(*stored));
  return true;
}

bool external_log_source::admit(const std::string& id) {
  cursor_ = id;
  return progress_.open(id);
}

std::string external_log_source::record_after(const std::vector<settlement>& batch) const {
  auto next = progress_;
  apply(next, batch);
  return serialize(next.position());
}

void external_log_source::settle(const std::vector<settlement>& batch) {
  const auto before = progress_.last();
  apply(progress_, batch);
  if (progress_.last() != before) connection().report({progress_.last()});
}

void external_log_source::apply(place_progress& to, const std::vector<settlement>& batch) {
  for (const auto& each : batch) {
    if (each.how == settlement::kind::count_attempt) to.fail(each.what->name, each.first_failed);
    if (each.how != settlement::kind::count_attempt) to.settle(each.what->name);
  }
}

}  // namespace zkrecipes::detail
