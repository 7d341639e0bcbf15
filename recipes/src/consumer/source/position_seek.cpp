#include "source/position_seek.hpp"

#include <utility>
#include <vector>

#include "format/json_object.hpp"
#include "session/outcomes.hpp"
#include "session/paths.hpp"
#include "session/together.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {

awaitable<outcome<bool>> has_moved(core_ptr session, std::string path, std::string seek) {
  std::vector<backend::request> look{make_request(opcode::get, std::move(path))};
  auto latest = co_await perform_latest(session, std::move(look), persistence::limited);
  auto& [error, seen] = latest;
  if (!error && seen[0].error != errc::no_node) error = seen[0].error;
  const auto position = error || seen[0].error ? std::nullopt : json_object::parse(seen[0].data);
  co_return outcome<bool>(error, position && position->text("seek") == seek);
}

/// The position is written several times at once, because a consumer may know a low version of one that was removed.
backend::request make_anew(const std::string& path, const std::string& text, std::uint64_t random) {
  transaction all;
  all.create(path, "");
  const auto writes = 2 + random % 62;
  for (std::uint64_t i = 0; i < writes; ++i) all.set(path, text);
  return backend::make_multi(all);
}

}  // namespace

awaitable<error_code> write_position(core_ptr session, std::string path, std::string text, std::string seek) {
  const auto deadline = session->retry_deadline();
  const auto create = make_anew(path, text, session->get_scheduler()->world->random());
  auto write = make_request(opcode::set, path);
  write.data = std::move(text);
  for (;;) {
    auto written = co_await session->perform(write, retry::once, nullptr, deadline);
    if (written.error == errc::no_node) {
      const auto error = co_await session->ensure_path(std::string(parent_of(path)));
      if (error) co_return error;
      written = co_await session->perform(create, retry::once, nullptr, deadline);
      if (is_write_conflict(written.error)) continue;
    }
    if (!is_reply_lost(written.error) || session->now() >= deadline) co_return written.error;
    if (!written.sent) continue;
    auto looked = co_await has_moved(session, path, seek);
    const auto& [error, is_done] = looked;
    if (error || is_done) co_return error;
  }
}

}  // namespace zkrecipes::detail
