// A source with a position: what all logs have in common.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "delivery/message_source.hpp"
#include "session/core.hpp"
#include "topic/position_node.hpp"
#include "topic/topic_layout.hpp"

namespace zkrecipes::detail {

/// Nothing leaves the log with a commit: one write moves the position behind all its messages, whatever their number.
/// Dead letters go to a folder of the group. The log itself may be elsewhere.
class log_source : public message_source {
 public:
  log_source(core_ptr session, topic_layout where, std::uint32_t shard, std::string group);

  traits get_traits() const override {
    return {.settles_singly = false, .parks_keys = false, .most_at_once = 1'000, .cuts_letters = true};
  }
  bool is_outdated() const noexcept override { return position_.is_outdated(); }
  condition* changed() final { return &position_.changed(); }
  bool wants_look() const noexcept final { return position_.wants_look(); }
  void doubt() final { position_.note_outdated(); }
  awaitable<outcome<std::set<std::string>>> parked_keys() final;
  awaitable<outcome<std::vector<key_state>>> look_at_keys(std::vector<std::string> keys) final;
  void put_back(const std::vector<std::string>&) final { position_.note_outdated(); }
  std::string place_of_marks() const final { return where_.marks(shard_, group_); }
  awaitable<error_code> prepare(settlement::kind what, bool parks_key) final;
  transaction settling(const settlement& each) const final;

 protected:
  std::uint32_t shard() const noexcept { return shard_; }
  const std::string& group() const noexcept { return group_; }
  position_node& position() noexcept { return position_; }

 private:
  core_ptr session_;
  topic_layout where_;
  std::uint32_t shard_;
  std::string group_;
  position_node position_;
};

}  // namespace zkrecipes::detail
