#include "cluster/nodes.hpp"

#include <tuple>
#include <utility>

#include "base/tasks.hpp"
#include "cluster/collector.hpp"
#include "cluster/stored_record.hpp"

namespace zkadmin {

using zkrecipes::detail::json_object;

json_object parse_stored(std::string_view data) { return json_object::parse(data).value_or(json_object()); }

std::string text_field(const json_object& record, std::string_view name) {
  return record.text(name).value_or(std::string());
}

std::int64_t integer_field(const json_object& record, std::string_view name) {
  return record.integer(name).value_or(0);
}

const char* kind_of(const zkrecipes::node_stat& stat) noexcept {
  return stat.ephemeral_owner == 0 ? "persistent" : "ephemeral";
}

std::string mark_of(std::string_view data) { return text_field(parse_stored(data), "zkrecipes"); }

namespace asio = boost::asio;

asio::awaitable<reading<own_node>> read_own_node(zkrecipes::session session, std::string path) {
  reading<own_node> result;
  auto listing = co_await session.async_children(path, as_result);
  result.error = std::get<0>(listing);
  if (result.error) co_return result;
  auto looked = co_await session.async_get(path, as_result);
  result.error = std::get<0>(looked);
  if (result.error) co_return result;
  result.status = {std::move(std::get<1>(looked)), std::move(std::get<1>(listing).names)};
  co_return result;
}

}  // namespace zkadmin
