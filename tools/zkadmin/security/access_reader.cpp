#include "security/access_reader.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "base/failure.hpp"
#include "base/tasks.hpp"
#include "cluster/collector.hpp"
#include "cluster/nodes.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;
using zkrecipes::errc;
using zkrecipes::error_code;

constexpr std::size_t most_access_notes = 20;  // For each kind of note.

/// As many of the names, evenly spaced, with the first and the last.
std::vector<std::string> sample_of(std::vector<std::string> names, std::size_t most) {
  if (names.size() <= most) return names;
  std::vector<std::string> chosen;
  for (std::size_t i = 0; i < most; ++i)
    chosen.push_back(std::move(names[most == 1 ? 0 : i * (names.size() - 1) / (most - 1)]));
  return chosen;
}

/// Parents of recipes, and the roots, each once.
std::vector<std::string> parents_of(const std::vector<recipe_rights>& recipes, std::vector<std::string> roots) {
  for (const auto& each : recipes)
    if (each.path != "/" && each.which != recipe::none) roots.push_back(parent_of(each.path));
  std::sort(roots.begin(), roots.end());
  roots.erase(std::unique(roots.begin(), roots.end()), roots.end());
  return roots;
}

/// Returns how many were too many.
std::size_t add_some(std::vector<survey_note>& to, std::vector<survey_note> notes) {
  const auto more = notes.size() - std::min(notes.size(), most_access_notes);
  notes.resize(notes.size() - more);
  std::move(notes.begin(), notes.end(), std::back_inserter(to));
  return more;
}

std::vector<survey_note> notes_of(const std::map<std::string, std::size_t>& left, const std::string& why) {
  std::vector<survey_note> notes;
  for (const auto& [path, count] : left)
    notes.push_back({path, std::to_string(count) + " nodes below it were not looked at: " + why});
  return notes;
}

}  // namespace

access_reader::access_reader(zkrecipes::session session, const std::vector<recipe_site>& sites,
                             std::vector<std::string> roots, access_limits limits)
    : session_(std::move(session)), limits_(limits), planned_(sites.size()) {
  levels_.emplace_back();
  for (const auto& each : sites) {
    levels_[0].push_back({recipes_.size(), each.path, true});
    recipes_.push_back({each.which, each.path});
    site_paths_.insert(each.path);
  }
  add_sides();
  parent_paths_ = parents_of(recipes_, std::move(roots));
}

void access_reader::add_sides() {
  for (std::size_t i = 0; i < recipes_.size(); ++i) {
    const auto side = side_of_queue(recipes_[i].path);
    if (recipes_[i].which == recipe::queue && site_paths_.insert(side).second) levels_[0].push_back({i, side, true});
  }
}

asio::awaitable<void> access_reader::run(deadline limit) {
  limit_ = limit;
  const auto read_one = [this](std::size_t i) { return read_parent(parent_paths_[i]); };
  co_await for_each_index(parent_paths_.size(), requests_at_a_time, read_one);
  for (std::size_t level = 0; level < levels_.size(); ++level) {
    const auto present = std::move(levels_[level]);
    const auto visit_one = [this, &present, level](std::size_t i) { return visit(present[i], level); };
    co_await for_each_index(present.size(), requests_at_a_time, visit_one);
  }
}

bool access_reader::is_late() {
  const bool is_over = std::chrono::steady_clock::now() >= limit_;
  late_ += is_over;
  return is_over;
}

asio::awaitable<std::optional<zkrecipes::acl>> access_reader::read_acl(std::string path) {
  auto asked = co_await session_.async_get_acl(path, as_result);
  const error_code error = std::get<0>(asked);
  if (error == errc::no_auth) refuse(path);
  if (error == errc::no_auth || error == errc::no_node) co_return std::nullopt;
  check(error, "reading the ACL of " + path);
  co_return std::move(std::get<1>(asked));
}

asio::awaitable<void> access_reader::read_parent(const std::string& path) {
  if (is_late()) co_return;
  auto rights = co_await read_acl(path);
  if (rights) parents_.push_back({path, std::move(*rights)});
}

asio::awaitable<void> access_reader::visit(const place& at, std::size_t level) {
  if (is_late()) co_return;
  auto rights = co_await read_acl(at.path);
  if (rights) keep(at, std::move(*rights));
  if (at.has_children) co_await list(at, level);
}

void access_reader::keep(const place& at, zkrecipes::acl rights) {
  auto& recipe = recipes_[at.site];
  if (at.path == recipe.path) {
    recipe.own = std::move(rights);
  } else {
    recipe.nodes.push_back({at.path, std::move(rights)});
  }
}

asio::awaitable<void> access_reader::list(const place& at, std::size_t level) {
  auto listing = co_await session_.async_children(at.path, as_result);
  const error_code error = std::get<0>(listing);
  if (error == errc::no_auth) refuse(at.path);
  if (error == errc::no_auth || error == errc::no_node) co_return;
  check(error, "reading " + at.path);
  plan(at, std::move(std::get<1>(listing).names), level);
}

void access_reader::plan(const place& at, std::vector<std::string> names, std::size_t level) {
  std::erase_if(names, [&](const auto& name) {
    return site_paths_.contains(join(at.path, name)) || (at.path == "/" && name == "zookeeper");
  });
  if (level == limits_.levels) {
    if (!names.empty()) deep_[at.path] = names.size();
    return;
  }
  const auto room = std::min({limits_.children, limits_.nodes - planned_[at.site], limits_.total - total_});
  const auto all = names.size();
  std::sort(names.begin(), names.end());
  const auto chosen = sample_of(std::move(names), room);
  if (chosen.size() < all) left_[at.path] += all - chosen.size();
  planned_[at.site] += chosen.size();
  total_ += chosen.size();
  if (levels_.size() <= level + 1) levels_.resize(level + 2);
  for (const auto& each : chosen) levels_[level + 1].push_back({at.site, join(at.path, each), !is_leaf_name(each)});
}

void access_reader::refuse(const std::string& path) { refused_.insert(path); }

access_survey access_reader::survey() const {
  access_survey seen{recipes_, parents_, {}};
  const auto by_path = [](const auto& a, const auto& b) { return a.path < b.path; };
  std::sort(seen.parents.begin(), seen.parents.end(), by_path);
  for (auto& each : seen.recipes) std::sort(each.nodes.begin(), each.nodes.end(), by_path);
  std::vector<survey_note> refused;
  for (const auto& each : refused_)
    refused.push_back({each, "its ACL or its children may not be read with these credentials", true});
  auto unnamed = add_some(seen.notes, std::move(refused));
  unnamed += add_some(seen.notes, notes_of(left_, "they are too many"));
  unnamed += add_some(seen.notes, notes_of(deep_, "they are too deep; name the path with --only to go on from there"));
  if (unnamed > 0) seen.notes.push_back({"/", std::to_string(unnamed) + " more nodes of which something is not known"});
  if (late_ > 0)
    seen.notes.push_back(
        {"/", std::to_string(late_) + " nodes were not looked at: the time was over; choose a longer --timeout"});
  return seen;
}

}  // namespace zkadmin
