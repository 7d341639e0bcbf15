#include "career/effects.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace zkrecipes::detail {

namespace {

bool draws_number(create_mode mode) {
  return mode == create_mode::persistent_sequential || mode == create_mode::ephemeral_sequential;
}

/// Whether the operation was done, as the node shows. Nothing if the node would look the same either way.
std::optional<bool> is_done(const operation& what, const backend::reply& node) {
  const bool is_there = !node.error;
  switch (what.type) {
    case operation::kind::remove: return !is_there;
    case operation::kind::create:
      if (draws_number(what.mode)) return std::nullopt;
      return is_there && node.data == what.data;
    case operation::kind::set:
      if (what.version == any_version) return std::nullopt;
      if (is_there && node.stat.version > what.version + 1) return std::nullopt;  // somebody has written since
      return is_there && node.data == what.data && node.stat.version == what.version + 1;
    case operation::kind::check: break;
  }
  return std::nullopt;
}

}  // namespace

awaitable<outcome<effects>> check_effects(core_ptr session, transaction of) {
  std::vector<backend::request> looks;
  for (const auto& each : of.operations()) looks.push_back(backend::make_request(backend::opcode::get, each.path));
  // A node that the transaction changes twice tells nothing of the first change.
  std::map<std::string, int> times;
  for (const auto& each : of.operations()) ++times[each.path];
  auto seen = co_await session->perform_all(std::move(looks));
  std::size_t done = 0;
  std::size_t not_done = 0;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (seen[i].error && seen[i].error != errc::no_node) co_return outcome<effects>(seen[i].error, effects::some);
    const auto verdict = is_done(of.operations()[i], seen[i]);
    if (verdict && times[of.operations()[i].path] == 1) ++(*verdict ? done : not_done);
  }
  auto sum = effects::some;  // also if no operation could be judged
  if (done && !not_done) sum = effects::all;
  if (not_done && !done) sum = effects::none;
  co_return outcome<effects>(error_code(), sum);
}

}  // namespace zkrecipes::detail
