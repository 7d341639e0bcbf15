#include "cluster/node_view.hpp"

#include "cluster/stored_record.hpp"

namespace zkadmin {

const char* kind_of(const zkrecipes::node_stat& stat) noexcept {
  return stat.ephemeral_owner == 0 ? "persistent" : "ephemeral";
}

std::string mark_of(std::string_view data) { return text_field(parse_stored(data), "zkrecipes"); }

}  // namespace zkadmin
