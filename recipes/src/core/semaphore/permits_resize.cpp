// Changing the size of a semaphore.
#include <algorithm>
#include <optional>
#include <utility>

#include "line/turn.hpp"
#include "semaphore/permits.hpp"

namespace zkrecipes::detail {

using backend::opcode;

awaitable<outcome<>> permits::resize(std::int32_t size, diagnostic why) {
  for (;;) {
    auto node = co_await session_->perform(make_request(opcode::get, path_), retry::always);
    if (node.error == errc::no_node) {
      auto error = co_await session_->ensure_path(path_);
      if (error && error != errc::connection_loss) co_return outcome<>(error);
      continue;
    }
    if (node.error) co_return outcome<>(node.error);
    permit_record next{size, size == size_ ? 0 : size_, 0};
    if (!node.data.empty()) {
      const auto found = parse_permits(node.data);
      if (!found) co_return failed<>(refuse_data(why));
      if (found->size == size) {
        note_size(size);
        co_return co_await settle_shrink(*found, node.stat.version);
      }
      next.before = found->size;
      next.unknown_fields = found->unknown_fields;
      next.shrunk_from = size < found->size || found->shrunk_from ? std::max(found->size, found->shrunk_from) : 0;
    }
    auto set = make_request(opcode::set, path_);
    set.data = serialize(next);
    set.version = node.stat.version;
    auto written = co_await session_->perform(std::move(set), retry::once);
    if (written.error == errc::connection_loss) continue;  // a second look tells whether it happened
    if (written.error) co_return outcome<>(written.error);
    note_size(size);
    co_return co_await settle_shrink(next, written.stat.version);
  }
}

/// Marks all holders after a shrink, and then clears `shrunk_from`. From then on a waiter behind many members need not
/// watch all of them. Until then it does, so nothing is lost if we fail here.
awaitable<outcome<>> permits::settle_shrink(permit_record now, std::int32_t version) {
  if (!now.shrunk_from) co_return outcome<>(error_code());
  auto error = co_await mark_holders(now.shrunk_from);
  if (error) co_return outcome<>(error);
  now.shrunk_from = 0;
  auto set = make_request(opcode::set, path_);
  set.data = serialize(now);
  set.version = version;
  auto written = co_await session_->perform(std::move(set), retry::always);
  // `bad_version`: somebody has resized the semaphore again, and marks the holders; or our reply was lost.
  co_return outcome<>(written.error == errc::bad_version ? error_code() : written.error);
}

/// After a shrink a holder can look like a waiter to the members behind it, unless its node is marked.
awaitable<error_code> permits::mark_holders(std::int32_t size) {
  auto looked = co_await look();
  auto& [error, seen] = looked;
  const auto waits = who_waits(seen.members, size);
  for (std::size_t i = 0; i < seen.members.size() && !error; ++i) {
    if (waits[i]) continue;
    auto node = join(path_, seen.members[i].name);
    auto marked = co_await let_pass(session_, std::move(node), std::nullopt);
    error = std::get<0>(marked);
    if (error == errc::no_node) error.clear();  // it has gone
  }
  co_return error;
}

}  // namespace zkrecipes::detail
