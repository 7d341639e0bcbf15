// The messages of a queue in ZooKeeper, read in order without claims.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "delivery/message_source.hpp"
#include "queue/queue_listing.hpp"

namespace zkrecipes::detail {

class queue_source final : public message_source {
 public:
  explicit queue_source(shared_frame frame) : frame_(std::move(frame)), list_(frame_) {}

  std::string name() const override { return "queue " + frame_->where.items; }
  awaitable<error_code> open() override;
  awaitable<outcome<std::vector<message>>> receive(std::size_t most) override;
  awaitable<outcome<std::vector<std::optional<message>>>> read_again(std::vector<std::string> names) override;
  bool can_read_again() const noexcept override { return true; }
  awaitable<outcome<std::set<std::string>>> parked_keys() override;
  awaitable<outcome<std::vector<key_state>>> look_at_keys(std::vector<std::string> keys) override;
  void put_back(const std::vector<std::string>& names) override;
  std::string place_of_marks() const override;
  awaitable<error_code> prepare(settlement::kind what, bool parks_key) override;
  transaction settling(const settlement& each) const override;
  transaction moving_on(const std::vector<settlement>&) override { return {}; }
  awaitable<void> settled(std::vector<settlement> batch) override;
  awaitable<void> close() override;

 private:
  awaitable<outcome<std::vector<backend::reply>>> ask(std::vector<backend::request> what);

  shared_frame frame_;
  queue_listing list_;
  std::set<std::string> out_;  // handed out and not settled
};

}  // namespace zkrecipes::detail
