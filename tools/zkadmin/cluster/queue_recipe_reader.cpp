#include <algorithm>
#include <tuple>
#include <utility>

#include "as_result.hpp"
#include "cluster/collector.hpp"
#include "cluster/known_recipe.hpp"
#include "cluster/node_line.hpp"
#include "cluster/node_path.hpp"
#include "cluster/queue_reader.hpp"
#include "cluster/recipe_reader.hpp"
#include "cluster/stored_record.hpp"
#include "for_each_index.hpp"
#include "text.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;
using zkrecipes::errc;

constexpr std::size_t longest_reason = 200;

/// The nodes at these paths that are there.
asio::awaitable<std::vector<child_node>> read_paths(zkrecipes::session session, std::vector<std::string> paths) {
  std::vector<child_node> all(paths.size());
  const auto read_one = [&](std::size_t i) -> asio::awaitable<void> {
    all[i].name = name_of(paths[i]);
    co_await read_child(session, paths[i], all[i]);
  };
  co_await for_each_index(paths.size(), requests_at_a_time, read_one);
  std::erase_if(all, [](const child_node& each) { return each.name.empty(); });
  co_return all;
}

participant_status claim_of(const child_node& node) {
  constexpr std::string_view begin = "_claim-";
  auto who = participant_of(node, "claim", clock_now());
  who.id = node.name.starts_with(begin) ? node.name.substr(begin.size()) : node.name;
  who.is_orphan = who.session == 0;
  return who;
}

/// `{"zkrecipes":"dead_letter","item":"qn-0000000007","attempts":5,"reason":"..."}`, a line feed, the item's data.
participant_status letter_of(const child_node& node) {
  auto who = participant_of(node, "letter", clock_now());
  who.session.reset();  // it belongs to none
  const auto record = parse_stored(std::string_view(node.data).substr(0, node.data.find('\n')));
  who.id = text_field(record, "item");
  if (text_field(record, "zkrecipes") == "dead_letter" || !who.id.empty())
    who.detail = std::to_string(integer_field(record, "attempts")) +
                 " attempts: " + shortened(text_field(record, "reason"), longest_reason);
  return who;
}

asio::awaitable<std::vector<std::string>> letter_paths(zkrecipes::session session, std::string folder) {
  auto listing = co_await session.async_children(folder, as_result);
  const zkrecipes::error_code error = std::get<0>(listing);
  std::vector<std::string> paths;
  if (error == errc::no_node || error == errc::no_auth) co_return paths;
  check(error, "reading " + folder);
  for (const auto& each : std::get<1>(listing).names) paths.push_back(join(folder, each));
  std::sort(paths.begin(), paths.end());
  co_return paths;
}

/// Adds what stands at the first of these paths, and counts the others.
asio::awaitable<void> add_nodes(zkrecipes::session session, recipe_status& status, std::vector<std::string> paths,
                                std::uint64_t count, std::size_t most, participant_status (*make)(const child_node&)) {
  if (paths.size() > most) paths.resize(most);
  status.not_read += std::max<std::uint64_t>(count, paths.size()) - paths.size();
  const auto nodes = co_await read_paths(session, std::move(paths));
  for (const auto& each : nodes) status.participants.push_back(make(each));
}

}  // namespace

asio::awaitable<reading<recipe_status>> read_queue_recipe(zkrecipes::session session, std::string path,
                                                          std::size_t participants) {
  reading<recipe_status> result;
  auto queue = co_await read_queue(session, std::move(path));
  result.error = queue.error;
  if (result.error) co_return result;
  const auto claims = queue.status.claim_paths;
  const auto claimed = queue.status.claimed, letters = queue.status.dead_letters;
  const auto folder = queue.status.letter_folder;
  result.status = recipe_status_of(std::move(queue.status));
  co_await add_nodes(session, result.status, claims, claimed, participants, claim_of);
  if (folder.empty()) co_return result;
  auto paths = co_await letter_paths(session, folder);
  co_await add_nodes(session, result.status, std::move(paths), letters, participants, letter_of);
  co_return result;
}

}  // namespace zkadmin
