// The messages that were put and are not confirmed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

namespace zkrecipes::detail {

/// A message that comes back has no tag, so they are found by their ids.
class amqp_unconfirmed {
 public:
  void add(std::uint64_t tag, const std::string& id) {
    ids_.emplace(tag, id);
    tags_[id] = tag;
  }
  std::optional<std::uint64_t> tag_of(const std::string& id) const {
    const auto found = tags_.find(id);
    return found == tags_.end() ? std::nullopt : std::optional(found->second);
  }
  /// False: there is none of these.
  bool remove(std::uint64_t tag, bool is_multiple) {
    const auto begin = is_multiple ? ids_.begin() : ids_.find(tag);
    const auto end = ids_.upper_bound(tag);
    const bool is_one = begin != ids_.end() && begin->first <= tag;
    if (!is_one) return false;
    for (auto each = begin; each != end; ++each) forget(each->first, each->second);
    ids_.erase(begin, end);
    return true;
  }

 private:
  void forget(std::uint64_t tag, const std::string& id) {
    const auto found = tags_.find(id);
    if (found != tags_.end() && found->second == tag) tags_.erase(found);
  }

  std::map<std::uint64_t, std::string> ids_;
  std::unordered_map<std::string, std::uint64_t> tags_;
};

}  // namespace zkrecipes::detail
