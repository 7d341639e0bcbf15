#include "queue/key_revival.hpp"

#include <algorithm>

#include "line/line_spec.hpp"
#include "queue/capacity.hpp"
#include "queue/dead_letter.hpp"
#include "queue/key_mark.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {

using name_list = std::vector<std::string>;

constexpr std::size_t most_letters = 100;  // read together; of up to a megabyte each
constexpr std::size_t most_bytes = 256 * 1024;

}  // namespace

key_revival::key_revival(shared_frame frame, std::string mark)
    : frame_(std::move(frame)),
      name_(std::move(mark)),
      path_(join(frame_->where.on_side(parked_folder), name_)),
      folder_(frame_->where.on_side(dead_folder)),
      at_once_(most_letters) {}

awaitable<outcome<std::size_t>> key_revival::run() {
  auto error = co_await hold();
  while (!error) {
    auto listed = co_await list();
    const auto& [failure, names] = listed;
    error = failure;
    if (!error && names.empty()) co_return outcome<std::size_t>(co_await release(), count_);
    if (!error) error = co_await put_back(names);
  }
  co_return outcome<std::size_t>(error, count_);
}

/// Reads the mark. `no_node`: the key is not parked, or was parked anew. The node below the mark tells that; it is read
/// first, so that it never belongs to a later parking than the mark.
awaitable<error_code> key_revival::check_mark() {
  std::vector<backend::request> look;
  look.push_back(make_request(opcode::children, path_));
  look.push_back(make_request(opcode::get, path_));
  auto seen = co_await frame_->session->perform_all(std::move(look));
  for (const auto& each : seen) {
    if (each.error) co_return each.error;
  }
  const auto& below = seen[0].children;
  const auto parking = below.empty() ? path_ : join(path_, below.front());  // none: the mark was made by hand
  if (parking_.empty()) parking_ = parking;
  mark_ = std::move(seen[1]);
  co_return parking == parking_ ? error_code() : make_error_code(errc::no_node);
}

/// Changes the mark, unless a revival that was interrupted has done so.
awaitable<error_code> key_revival::hold() {
  for (;;) {
    auto error = co_await check_mark();
    if (error) co_return error;
    auto listed = co_await list();
    const auto& [failure, names] = listed;
    error = failure;
    if (!error && !names.empty()) error = co_await check_queue(names.size());
    if (error || mark_.stat.version != mark_of_parking) co_return error;
    const auto change = transaction().check(parking_).set(path_, mark_.data, mark_of_parking);
    auto changed = co_await frame_->session->perform(backend::make_multi(change), retry::once);
    const bool is_open = may_have_happened(changed.error) || is_write_conflict(changed.error);
    if (!is_open) co_return changed.error;
  }
}

/// In a queue that was removed and made again the numbers of the names begin anew: an item under an old name would
/// stand in the way of the one that gets its number.
awaitable<error_code> key_revival::check_queue(std::size_t more) {
  const auto& options = frame_->options;
  auto there = co_await frame_->session->perform(make_request(opcode::children, frame_->where.items), retry::always);
  if (there.error && there.error != errc::no_node) co_return there.error;
  if (there.error || there.stat.czxid > mark_.stat.czxid) co_return errc::node_exists;
  const bool is_held = mark_.stat.version != mark_of_parking;  // a part may be back already
  const auto items = frame_->where.items_of(there.children).size();
  const bool is_over_limit = options.limit != 0 && items + more > options.limit;
  const auto bytes = list_bytes(frame_->where, there.children.size() + more);
  const bool is_overlong = options.max_list_bytes != 0 && bytes > options.max_list_bytes;
  co_return !is_held && (is_over_limit || is_overlong) ? make_error_code(errc::full) : error_code();
}

/// The names of the letters of the key, in order.
awaitable<outcome<name_list>> key_revival::list() {
  auto listed = co_await frame_->session->perform(make_request(opcode::children, folder_), retry::always);
  if (listed.error == errc::no_node) listed.error.clear();
  const auto begin = letters_of(name_);
  const std::string_view markers[] = {begin};
  name_list names;
  for (auto& each : members_of(listed.children, markers)) {
    if (!unreadable_.contains(each.name)) names.push_back(std::move(each.name));
  }
  // The letters of a transaction whose reply was lost have gone together, or not at all.
  const bool is_done = !listed.error && !unknown_.empty() && std::ranges::find(names, unknown_.front()) == names.end();
  if (is_done) count_ += unknown_.size();
  if (!listed.error) unknown_.clear();
  co_return outcome<name_list>(listed.error, std::move(names));
}

/// Puts the first letters back, in one transaction. Without an error the list of the letters is out of date.
awaitable<error_code> key_revival::put_back(const name_list& names) {
  std::vector<backend::request> asked;
  for (std::size_t i = 0; i < std::min(names.size(), at_once_); ++i) {
    asked.push_back(make_request(opcode::get, join(folder_, names[i])));
  }
  auto nodes = co_await frame_->session->perform_all(std::move(asked));
  transaction all;
  all.check(parking_);
  name_list moved;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].error == errc::no_node) continue;  // discarded meanwhile
    if (nodes[i].error) co_return nodes[i].error;
    const auto letter = read_letter(nodes[i].data);
    if (!letter || !frame_->where.parse(letter->item)) {
      unreadable_.insert(names[i]);
      continue;
    }
    bytes += letter->data.size();
    if (!moved.empty() && bytes > most_bytes) break;
    all.remove(join(folder_, names[i])).create(frame_->where.item(letter->item), letter->data);
    moved.push_back(names[i]);
  }
  at_once_ = std::clamp<std::size_t>(2 * moved.size(), 1, most_letters);  // few that are large, or many small ones
  if (moved.empty()) co_return error_code();
  co_return co_await commit(std::move(all), std::move(moved));
}

awaitable<error_code> key_revival::commit(transaction all, name_list moved) {
  const auto& session = frame_->session;
  auto result = co_await session->perform(backend::make_multi(all), retry::once);
  if (!result.error) count_ += moved.size();
  if (may_have_happened(result.error)) {
    if (result.sent) unknown_ = std::move(moved);
    co_return error_code();
  }
  const auto place = failed_at(result);
  const bool is_mark = place == 0 && is_write_conflict(result.error);
  if (is_mark) co_return co_await hold();  // somebody has written it; or another client has put the rest back
  const bool is_letter = result.error == errc::no_node && place % 2 == 1;
  co_return is_letter ? error_code() : result.error;  // discarded meanwhile, or put back by another client
}

/// From here on the consumer goes on with the key.
awaitable<error_code> key_revival::release() {
  transaction all;
  if (parking_ != path_) all.remove(parking_);
  all.remove(path_);
  for (;;) {
    auto removed = co_await frame_->session->perform(backend::make_multi(all), retry::once);
    const bool is_gone = removed.error == errc::no_node;
    if (!may_have_happened(removed.error)) co_return is_gone ? error_code() : removed.error;
    auto error = co_await check_mark();
    if (error) co_return error == errc::no_node ? error_code() : error;
  }
}

}  // namespace zkrecipes::detail
