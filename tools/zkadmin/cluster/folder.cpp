#include "cluster/folder.hpp"

#include <optional>
#include <tuple>
#include <utility>

#include "as_result.hpp"
#include "cluster/collector.hpp"
#include "for_each_index.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;
using zkrecipes::errc;
using zkrecipes::error_code;
using slot = std::optional<folder_entry>;

bool is_withheld(const error_code& error) { return error == errc::no_node || error == errc::no_auth; }

asio::awaitable<void> read_entry(zkrecipes::session session, const std::string& folder, std::string name, slot& into) {
  const auto path = folder + "/" + name;
  auto reading = co_await session.async_get(path, as_result);
  const error_code error = std::get<0>(reading);
  if (is_withheld(error)) co_return;
  check(error, "reading " + path);
  auto& node = std::get<1>(reading);
  into = folder_entry{std::move(name), std::move(node.data), node.stat};
}

}  // namespace

asio::awaitable<std::vector<folder_entry>> read_folder(zkrecipes::session session, std::string path) {
  auto listing = co_await session.async_children(path, as_result);
  const error_code error = std::get<0>(listing);
  std::vector<folder_entry> all;
  if (is_withheld(error)) co_return all;
  check(error, "reading " + path);
  const auto& names = std::get<1>(listing).names;
  std::vector<slot> slots(names.size());
  const auto read_one = [&](std::size_t i) { return read_entry(session, path, names[i], slots[i]); };
  co_await for_each_index(names.size(), requests_at_a_time, read_one);
  for (auto& each : slots)
    if (each) all.push_back(std::move(*each));
  co_return all;
}

}  // namespace zkadmin
