#include "line/roster.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace zkrecipes::detail {

void roster::assign(member_list listed, const own& self, std::string_view ghost) {
  const auto is_own = [&](const member& m) { return m.sequence == self.sequence && m.name == self.name; };
  const auto is_ghost = [&](const member& m) { return !is_own(m) && m.name.find(ghost) != m.name.npos; };
  members_ = std::move(listed);
  if (!ghost.empty() && std::ranges::any_of(*members_, is_ghost)) {
    auto others = *members_;
    std::erase_if(others, is_ghost);
    members_ = std::make_shared<const std::vector<member>>(std::move(others));
  }
  const auto found = std::ranges::find_if(*members_, is_own);
  current_ = found != members_->end();
  self_ = static_cast<std::size_t>(found - members_->begin());
  forgotten_ = 0;
}

const std::vector<member>& roster::members() const noexcept {
  static const std::vector<member> nobody;
  return members_ ? *members_ : nobody;
}

void roster::depart(const std::vector<std::string>& names, const stretch& watched, const blocker& who_first) {
  if (names.empty()) return;
  const bool all_are_watched = forgotten_ == 0 && watched == stretch(0, self_);
  auto left = std::make_shared<std::vector<member>>(*members_);
  const auto before = self_;
  for (const auto& name : names) {
    const auto end = left->begin() + static_cast<std::ptrdiff_t>(self_);
    const auto gone = std::find_if(left->begin(), end, [&](const member& m) { return m.name == name; });
    if (gone == end) continue;
    left->erase(gone);
    --self_;
  }
  members_ = std::move(left);
  if (self_ < before && !all_are_watched) current_ = forgotten_ == 0 && !who_first(*members_, self_);
}

void roster::note_pass(std::size_t which, bool lets_pass) {
  if ((*members_)[which].lets_pass == lets_pass) return;
  auto changed = std::make_shared<std::vector<member>>(*members_);  // others look at the same list
  (*changed)[which].lets_pass = lets_pass;
  members_ = std::move(changed);
}

stretch roster::forget_all_but(std::size_t ahead) {
  // Nobody reads our own name in here, so the number is enough.
  const member self{{}, (*members_)[self_].sequence, false};
  members_ = std::make_shared<const std::vector<member>>(std::vector{(*members_)[ahead], self});
  forgotten_ += self_ - 1;
  self_ = 1;
  return stretch(0);
}

}  // namespace zkrecipes::detail
