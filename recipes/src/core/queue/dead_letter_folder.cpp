#include "queue/dead_letter_folder.hpp"

#include <algorithm>
#include <utility>

#include "line/line_spec.hpp"
#include "queue/queue_layout.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {

constexpr std::size_t letters_at_once = 100;  // of up to a megabyte each

}  // namespace

awaitable<outcome<std::vector<dead_letter>>> read_letters(core_ptr session, std::string folder) {
  using result_type = outcome<std::vector<dead_letter>>;
  const std::string_view markers[] = {"letter-"};
  std::vector<dead_letter> found;
  auto listed = co_await session->perform(make_request(opcode::children, folder), retry::always);
  if (listed.error == errc::no_node) listed.error.clear();
  auto letters = members_of(listed.children, markers);
  for (std::size_t from = 0; from < letters.size(); from += letters_at_once) {
    std::vector<backend::request> asked;
    for (auto i = from; i < std::min(letters.size(), from + letters_at_once); ++i) {
      asked.push_back(make_request(opcode::get, join(folder, letters[i].name)));
    }
    auto nodes = co_await session->perform_all(std::move(asked));
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const auto& node = nodes[i];
      if (node.error && node.error != errc::no_node) co_return result_type(node.error, std::move(found));
      auto letter = read_letter(node.data);
      if (node.error || !letter) continue;  // revived or discarded meanwhile, or not a dead letter
      letter->name = std::move(letters[from + i].name);
      letter->since = node.stat.ctime;
      found.push_back(std::move(*letter));
    }
  }
  co_return result_type(listed.error, std::move(found));
}

awaitable<outcome<>> discard_letter(core_ptr session, std::string folder, std::string name) {
  if (name.find('/') != name.npos) co_return outcome<>(errc::bad_arguments);
  auto remove = make_request(opcode::remove, join(folder, name));
  const auto deadline = session->retry_deadline();
  for (bool maybe_done = false;;) {
    auto result = co_await session->perform(remove, retry::once, nullptr, deadline);
    if (is_reply_lost(result.error) && session->now() < deadline) {
      maybe_done = maybe_done || result.sent;
      continue;
    }
    if (result.error == errc::no_node && maybe_done) result.error = errc::outcome_unknown;
    co_return outcome<>(result.error);
  }
}

/// The letter has gone: we removed it, or another client revived or discarded it at that moment.
awaitable<error_code> check_letter(core_ptr session, std::string path) {
  auto there = co_await session->perform(make_request(opcode::exists, std::move(path)), retry::always);
  co_return there.error == errc::no_node ? make_error_code(errc::outcome_unknown) : there.error;
}

std::optional<transaction> revival_of(const queue_layout& where, const dead_letter& which, std::int32_t version) {
  const auto what = where.parse(which.item);
  if (!what || which.name.empty() || which.name.find('/') != which.name.npos) return std::nullopt;
  transaction all;
  all.remove(join(where.on_side(dead_folder), which.name), version);
  all.create(where.item(where.marker(what->rank)), which.data, create_mode::persistent_sequential);
  return all;
}

}  // namespace zkrecipes::detail
