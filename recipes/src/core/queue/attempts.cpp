#include "queue/attempts.hpp"

#include <algorithm>
#include <string_view>

#include "session/paths.hpp"

namespace zkrecipes::detail {

namespace {

constexpr std::string_view attempt_name = "_attempt";

}  // namespace

std::int32_t attempts_of(const node_stat& item) {
  const auto claimed = (item.cversion + item.num_children) / 2;
  return std::max(claimed - item.version, 0);
}

void count_attempts(transaction& all, const std::string& item, std::int32_t so_many) {
  for (std::int32_t i = 0; i < so_many; ++i) all.create(join(item, attempt_name)).remove(join(item, attempt_name));
}

}  // namespace zkrecipes::detail
