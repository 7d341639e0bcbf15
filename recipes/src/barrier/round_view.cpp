#include "barrier/round_view.hpp"

#include <utility>

namespace zkrecipes::detail {

std::optional<std::size_t> round_view::position(const std::string& guid) const {
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    if (waiting[i].guid == guid) return i;
  }
  return std::nullopt;
}

std::optional<round_view> interpret(const std::string& data, std::int32_t version, const std::vector<member>& line,
                                    int size, const std::string& self) {
  auto record = parse_round(data);
  if (!record) return std::nullopt;
  round_view seen;
  seen.record = std::move(*record);
  seen.version = version;
  for (const auto& each : line) {
    auto who = parse_round_member(each);
    if (!who) continue;
    if (seen.first_size == 0) seen.first_size = who->size;
    if (who->guid == self) seen.own.push_back(*who);
    if (seen.record.names(*who)) {
      seen.inside.push_back(std::move(*who));
    } else if (who->size == size) {
      // A create whose reply was lost can still be executed, before the one that was sent instead. The member is the
      // node of the later create.
      std::erase_if(seen.waiting, [&](const round_member& before) { return before.guid == who->guid; });
      seen.waiting.push_back(std::move(*who));
    }
  }
  return seen;
}

std::vector<round_member> still_inside(const std::vector<member>& line, const round_record& record) {
  std::vector<round_member> inside;
  for (const auto& each : line) {
    auto who = parse_round_member(each);
    if (who && record.names(*who)) inside.push_back(std::move(*who));
  }
  return inside;
}

}  // namespace zkrecipes::detail
