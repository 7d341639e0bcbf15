#include "line/roster.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

namespace zkrecipes::detail {

namespace {

/// Where this member is; the number of members if it is not there.
std::size_t find(std::span<const member> members, const roster::own& who) {
  const auto distance = [&](std::int32_t sequence) {  // in this order they are: see `members_of`
    return static_cast<std::uint32_t>(sequence) - static_cast<std::uint32_t>(members.front().sequence);
  };
  const auto is_before = [&](const member& each, std::int32_t sequence) {
    return distance(each.sequence) < distance(sequence);
  };
  auto found = std::lower_bound(members.begin(), members.end(), who.sequence, is_before);
  while (found != members.end() && found->sequence == who.sequence && found->name != who.name) ++found;
  const bool is_there = found != members.end() && found->sequence == who.sequence;
  return is_there ? static_cast<std::size_t>(found - members.begin()) : members.size();
}

}  // namespace

void roster::assign(member_list listed, const own& self, std::string_view ghost) {
  const auto is_own = [&](const member& m) { return m.sequence == self.sequence && m.name == self.name; };
  const auto is_ghost = [&](const member& m) { return !is_own(m) && m.name.find(ghost) != m.name.npos; };
  std::optional<std::int32_t> passing;
  if (self_ > 0 && members()[self_ - 1].lets_pass) passing = members()[self_ - 1].sequence;
  members_ = std::move(listed);
  first_ = 0;
  if (!ghost.empty() && std::ranges::any_of(*members_, is_ghost)) {
    auto others = *members_;
    std::erase_if(others, is_ghost);
    count_alike(others);
    members_ = std::make_shared<const std::vector<member>>(std::move(others));
  }
  const auto found = find(*members_, self);
  current_ = found < members_->size();
  self_ = current_ ? found : 0;
  forgotten_ = 0;
  if (passing && self_ > 0 && members()[self_ - 1].sequence == *passing) set_pass(self_ - 1, true);
}

std::span<const member> roster::members() const noexcept {
  return members_ ? std::span(*members_).subspan(first_) : std::span<const member>();
}

void roster::depart(const std::vector<std::string>& names, const stretch& watched, const blocker& who_first) {
  if (names.empty()) return;
  const bool all_are_watched = forgotten_ == 0 && watched == stretch(0, self_);
  const auto before = self_;
  remove_ahead(names);
  if (self_ < before && !all_are_watched) current_ = forgotten_ == 0 && !who_first(members(), self_);
}

/// Those who leave from the front are left where they are, since others look at the same list.
void roster::remove_ahead(const std::vector<std::string>& names) {
  std::shared_ptr<std::vector<member>> left;
  for (const auto& name : names) {
    const auto ahead = members().first(self_);
    const auto gone = std::ranges::find(ahead, name, &member::name);
    if (gone == ahead.end()) continue;
    --self_;
    if (!left && gone == ahead.begin()) {
      ++first_;
      continue;
    }
    const auto which = gone - ahead.begin();
    if (!left) left = std::make_shared<std::vector<member>>(members().begin(), members().end());
    left->erase(left->begin() + which);
    members_ = left;
    first_ = 0;
  }
  if (left) count_alike(*left);
}

bool roster::take_turn_by(const member_list& listed, std::size_t departed_in_front,
                          const std::vector<std::string>& gone, const own& self, const blocker& who_first) {
  if (!listed) return false;
  roster other;
  other.members_ = listed;
  other.first_ = departed_in_front;
  other.self_ = find(other.members(), self);
  if (other.self_ == other.members().size()) return false;
  while (other.self_ > 0 && std::ranges::find(gone, other.members().front().name) != gone.end()) {
    ++other.first_;
    --other.self_;
  }
  if (who_first(other.members(), other.self_)) return false;
  other.current_ = true;
  *this = std::move(other);
  return true;
}

void roster::set_pass(std::size_t which, bool lets_pass) { members()[which].lets_pass = lets_pass; }

stretch roster::forget_all_but(std::size_t ahead) {
  // Nobody reads our own name in here, so the number is enough.
  const member self{{}, members()[self_].sequence, false, members()[self_].marker};
  member kept = members()[ahead];
  kept.alike = 0;
  members_ = std::make_shared<const std::vector<member>>(std::vector{std::move(kept), self});
  first_ = 0;
  forgotten_ += self_ - 1;
  self_ = 1;
  return stretch(0);
}

}  // namespace zkrecipes::detail
