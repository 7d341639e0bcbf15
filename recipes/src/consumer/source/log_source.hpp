// A source with a position: what all logs have in common.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "delivery/message_source.hpp"
#include "source/position_node.hpp"

namespace zkrecipes::detail {

/// Nothing leaves the log with a commit: one write moves the position behind all its messages, whatever their number.
/// Dead letters go to a folder of the group. The log itself may be elsewhere.
class log_source : public message_source {
 public:
  log_source(source_frame_ptr frame, std::uint32_t shard, std::string group);

  traits get_traits() const override {
    return {.settles_singly = false, .parks_keys = false, .most_at_once = 1'000, .cuts_letters = true};
  }
  bool can_read_again() const noexcept final { return true; }
  /// A position that can not be written stands in the way of all.
  bool adapt(std::size_t, const error_code& why) override { return position_.on_refused(why); }
  bool is_outdated() const noexcept override { return position_.is_outdated(); }
  condition* changed() final { return &position_.changed(); }
  bool wants_look() const noexcept final { return position_.wants_look(); }
  void on_unknown_outcome() final { position_.mark_outdated(); }
  awaitable<outcome<std::set<std::string>>> parked_keys() final;
  awaitable<outcome<std::vector<key_state>>> look_at_keys(std::vector<std::string> keys) final;
  void put_back(const std::vector<std::string>&) final { position_.mark_outdated(); }
  std::string place_of_marks() const final { return source_->where.marks(shard_, group_); }
  awaitable<error_code> prepare(settlement::kind what, bool parks_key) final;
  transaction settling(const settlement& each) const final;

 protected:
  std::uint32_t shard() const noexcept { return shard_; }
  const std::string& group() const noexcept { return group_; }
  position_node& position() noexcept { return position_; }

 private:
  source_frame_ptr source_;
  std::uint32_t shard_;
  std::string group_;
  position_node position_;
};

}  // namespace zkrecipes::detail
