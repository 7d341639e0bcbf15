#include "external/external_queue_source.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <zkrecipes/consumer/external_source.hpp>

#include "external/queue_port.hpp"

namespace zkrecipes::detail {

external_queue_source::external_queue_source(external_frame_ptr frame, std::shared_ptr<external_queue> from,
                                             std::uint32_t shard)
    : external_message_source(std::move(frame), "external_queue", shard, external_source::queue_group,
                              std::make_unique<queue_port>(std::move(from))),
      memory_(options().remembered) {}

/// One that is delivered again although it is settled is acknowledged again.
bool external_queue_source::admit(const std::string& id) {
  const bool is_settled = memory_.knows(id);
  if (is_settled) connection().report({id});
  return !is_settled;
}

std::string external_queue_source::record_after(const std::vector<settlement>& batch) const {
  auto next = memory_;
  apply(next, batch);
  return next.record();
}

/// Two messages with one id count as one, so it is acknowledged as often as it was given.
void external_queue_source::settle(const std::vector<settlement>& batch) {
  apply(memory_, batch);
  std::vector<std::string> ids;
  for (const auto& each : batch) {
    if (each.how == settlement::kind::count_attempt) continue;
    const auto& id = each.what->name;
    ids.insert(ids.end(), std::max<std::size_t>(held().deliveries(id), 1), id);
  }
  connection().report(std::move(ids));
}

void external_queue_source::take_news() {
  for (const auto& each : connection().take_forgotten()) memory_.forget(each);
}

void external_queue_source::apply(remembered_ids& to, const std::vector<settlement>& batch) const {
  for (const auto& each : batch) {
    const auto& id = each.what->name;
    if (each.how == settlement::kind::count_attempt)
      to.fail(id, each.first_failed, held());
    else
      to.settle(id);
  }
}

}  // namespace zkrecipes::detail
