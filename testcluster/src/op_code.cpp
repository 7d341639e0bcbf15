#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include <testcluster/op_code.hpp>

namespace testcluster::op {
namespace {

using entry = std::pair<std::string_view, std::int32_t>;

constexpr std::array names{entry{"create", create},
                           entry{"create2", create2},
                           entry{"create_container", create_container},
                           entry{"create_ttl", create_ttl},
                           entry{"remove", remove},
                           entry{"exists", exists},
                           entry{"get_data", get_data},
                           entry{"set_data", set_data},
                           entry{"get_acl", get_acl},
                           entry{"set_acl", set_acl},
                           entry{"get_children", get_children},
                           entry{"get_children2", get_children2},
                           entry{"sync", sync},
                           entry{"ping", ping},
                           entry{"check", check},
                           entry{"multi", multi},
                           entry{"check_watches", check_watches},
                           entry{"remove_watches", remove_watches},
                           entry{"set_watches", set_watches},
                           entry{"auth", auth},
                           entry{"create_session", create_session},
                           entry{"close_session", close_session}};

}  // namespace

std::int32_t code_of(std::string_view name) {
  const auto found = std::find_if(names.begin(), names.end(), [&](const entry& each) { return each.first == name; });
  if (found != names.end()) return found->second;
  std::string known;
  for (const auto& each : names) known += (known.empty() ? "" : ", ") + std::string(each.first);
  throw std::invalid_argument("'" + std::string(name) + "' is not a request; there are " + known);
}

std::string name_of(std::int32_t code) {
  const auto found = std::find_if(names.begin(), names.end(), [&](const entry& each) { return each.second == code; });
  return found != names.end() ? std::string(found->first) : std::to_string(code);
}

}  // namespace testcluster::op
