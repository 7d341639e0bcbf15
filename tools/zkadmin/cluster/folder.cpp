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

/// Nothing: it has gone, or is withheld.
struct slot {
  std::optional<folder_entry> entry{};
  bool is_withheld = false;
};

asio::awaitable<void> read_entry(zkrecipes::session session, const std::string& folder, std::string name, slot& into) {
  const auto path = folder + "/" + name;
  auto reading = co_await session.async_get(path, as_result);
  const error_code error = std::get<0>(reading);
  into.is_withheld = error == errc::no_auth;
  if (into.is_withheld || error == errc::no_node) co_return;
  check(error, "reading " + path);
  auto& node = std::get<1>(reading);
  into.entry = folder_entry{std::move(name), std::move(node.data), node.stat};
}

}  // namespace

asio::awaitable<folder_content> read_folder(zkrecipes::session session, std::string path) {
  auto listing = co_await session.async_children(path, as_result);
  const error_code error = std::get<0>(listing);
  folder_content all;
  all.is_complete = error != errc::no_auth;
  if (error == errc::no_node || !all.is_complete) co_return all;
  check(error, "reading " + path);
  const auto& names = std::get<1>(listing).names;
  std::vector<slot> slots(names.size());
  const auto read_one = [&](std::size_t i) { return read_entry(session, path, names[i], slots[i]); };
  co_await for_each_index(names.size(), requests_at_a_time, read_one);
  for (auto& each : slots) {
    all.is_complete = all.is_complete && !each.is_withheld;
    if (each.entry) all.entries.push_back(std::move(*each.entry));
  }
  co_return all;
}

}  // namespace zkadmin
