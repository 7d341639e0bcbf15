#include "cluster/own_node.hpp"

#include <tuple>
#include <utility>

#include "as_result.hpp"

namespace zkadmin {

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
