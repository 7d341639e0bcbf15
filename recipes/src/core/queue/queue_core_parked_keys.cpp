// The operations on keys whose messages are parked.
#include <algorithm>
#include <map>
#include <utility>

#include "queue/key_mark.hpp"
#include "queue/key_revival.hpp"
#include "queue/queue_core.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {

using key_list = std::vector<parked_key>;

constexpr std::size_t marks_at_once = 100;

std::map<std::string_view, std::size_t> count_letters(const std::vector<std::string>& letters) {
  std::map<std::string_view, std::size_t> counts;
  for (const auto& each : letters) ++counts[mark_of_letter(each)];
  return counts;
}

}  // namespace

awaitable<outcome<key_list>> queue_core::parked_keys() {
  const auto folder = frame_->where.on_side(parked_folder);
  std::vector<backend::request> lists;
  lists.push_back(make_request(opcode::children, folder));
  lists.push_back(make_request(opcode::children, frame_->where.on_side(dead_folder)));
  const auto listed = co_await frame_->session->perform_all(std::move(lists));
  key_list found;
  for (const auto& each : listed) {
    if (each.error && each.error != errc::no_node) co_return outcome<key_list>(each.error, std::move(found));
  }
  auto marks = listed[0].children;
  std::erase_if(marks, [](const std::string& each) { return !is_mark(each); });
  const auto letters = count_letters(listed[1].children);
  for (std::size_t from = 0; from < marks.size(); from += marks_at_once) {
    std::vector<backend::request> asked;
    for (auto i = from; i < std::min(marks.size(), from + marks_at_once); ++i) {
      asked.push_back(make_request(opcode::get, join(folder, marks[i])));
    }
    const auto nodes = co_await frame_->session->perform_all(std::move(asked));
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const auto& node = nodes[i];
      if (node.error && node.error != errc::no_node) co_return outcome<key_list>(node.error, std::move(found));
      if (node.error) continue;  // revived meanwhile
      auto key = read_mark(node.data).value_or(std::string());
      const auto count = letters.find(marks[from + i]);
      found.push_back({marks[from + i], std::move(key), node.stat.ctime, count == letters.end() ? 0 : count->second});
    }
  }
  std::ranges::sort(found, {}, &parked_key::since);
  co_return outcome<key_list>(error_code(), std::move(found));
}

awaitable<outcome<std::size_t>> queue_core::revive_key(parked_key which) {
  if (!is_mark(which.name)) co_return outcome<std::size_t>(errc::bad_arguments, 0);
  const auto revival = std::make_unique<key_revival>(frame_, std::move(which.name));
  co_return co_await revival->run();
}

}  // namespace zkrecipes::detail
