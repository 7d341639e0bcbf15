// The pacer and the members whose nodes it has no right to read.
#include <algorithm>
#include <utility>

#include "balance/pacer.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

using backend::make_request;
using backend::opcode;

namespace {
constexpr std::size_t most_hidden_looks = 100;
constexpr std::chrono::seconds first_pause{1};
constexpr std::chrono::seconds longest_pause{30};
}  // namespace

bool pacer::sees_all() const {
  return std::ranges::none_of(others_, [](const auto& each) { return each.second.is_in_the_way(); });
}

/// Also where the member that we can not read is the only other one: it may be able to read us.
bool pacer::is_to_stand_aside() const {
  if (sees_all()) return false;
  const auto may_pace = [](const auto& each) {
    return each.second.is_member && !each.second.is_foreign && !each.second.is_aside;
  };
  return is_aside_ || (is_first_ && std::ranges::any_of(others_, may_pace));
}

/// The node goes with the session, or with the membership.
awaitable<pacer::result> pacer::stand_aside(bool aside) {
  may_be_aside_ = true;
  auto what = make_request(aside ? opcode::create : opcode::remove, where_->aside(own_name_));
  if (aside) what.mode = create_mode::ephemeral;
  auto done = co_await where_->session->perform(std::move(what), retry::always, bound_);
  const bool is_done = done.error == (aside ? errc::node_exists : errc::no_node);
  if (done.error && !is_done) co_return result{done.error, true};
  is_aside_ = aside;
  update_first();
  co_return result{{}, true};
}

/// The first of the nodes that can not be read, if it is time. One is enough to hold the limit; further ones are read
/// once that one can be.
std::vector<std::string> pacer::due_hidden() const {
  std::vector<std::string> names;
  if (next_look() > where_->session->now()) return names;
  for (const auto& [name, each] : others_) {
    if (each.is_in_the_way() && names.size() < hidden_looks_) names.push_back(name);
  }
  return names;
}

/// Counted from the end of a look, and longer after each that was refused.
void pacer::time_next_look(const std::vector<std::string>& read) {
  const auto is_in_the_way = [this](const std::string& name) {
    const auto found = others_.find(name);
    return found != others_.end() && found->second.is_in_the_way();
  };
  const bool was_refused = std::ranges::any_of(read, is_in_the_way);
  hidden_looks_ = was_refused ? 1 : std::min(hidden_looks_ * 2, most_hidden_looks);
  hidden_pause_ = was_refused ? std::clamp(hidden_pause_ * 2, first_pause, longest_pause) : std::chrono::seconds(0);
  next_look_ = where_->session->now() + hidden_pause_;
}

pacer::obstacle pacer::find_obstacle() const {
  if (!is_first_ && !is_aside_) return {};
  for (const auto& [name, each] : others_) {
    if (each.is_in_the_way()) return {errc::no_auth, where_->member(name)};
    if (is_first_ && each.is_foreign) return {errc::foreign_data, where_->member(name)};
  }
  return {};
}

lease_clock::time_point pacer::next_look() const {
  return (is_first_ || is_aside_) && !sees_all() ? next_look_ : never;
}

}  // namespace zkrecipes::detail
