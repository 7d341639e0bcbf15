// The messages of one shard of a topic, for one group: a log with a position.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "delivery/message_source.hpp"
#include "topic/log_reader.hpp"
#include "topic/log_trimmer.hpp"

namespace zkrecipes::detail {

class topic_source final : public message_source {
 public:
  topic_source(topic_frame_ptr topic, std::uint32_t shard, std::string group);

  std::string name() const override;
  traits get_traits() const override { return {.settles_singly = false, .parks_keys = false, .most_at_once = 1'000}; }
  awaitable<error_code> open() override;
  bool is_outdated() const noexcept override { return reader_.is_outdated(); }
  condition* changed() override { return &reader_.changed(); }
  bool wants_look() const noexcept override { return reader_.wants_look(); }
  void doubt() override { reader_.note_outdated(); }
  awaitable<outcome<std::vector<message>>> receive(std::size_t most) override { return reader_.receive(most); }
  std::uint64_t take_passed_over() override { return reader_.take_passed_over(); }
  std::string problem_of(const std::string& name) const override { return reader_.problem_of(name); }
  awaitable<outcome<std::vector<std::optional<message>>>> read_again(std::vector<std::string> names) override {
    return reader_.read_again(std::move(names));
  }
  bool can_read_again() const noexcept override { return true; }
  awaitable<outcome<std::set<std::string>>> parked_keys() override;
  awaitable<outcome<std::vector<key_state>>> look_at_keys(std::vector<std::string> keys) override;
  void put_back(const std::vector<std::string>&) override { reader_.note_outdated(); }
  std::string place_of_marks() const override { return topic_->where.marks(shard_, group_); }
  awaitable<error_code> prepare(settlement::kind what, bool parks_key) override;
  transaction settling(const settlement& each) const override;
  transaction moving_on(const std::vector<settlement>& batch) override;
  bool adapt(std::size_t operation, const error_code& why) override;
  awaitable<void> settled(std::vector<settlement> batch) override;
  awaitable<void> close() override;

 private:
  void apply(log_progress& to, const settlement& each) const;
  const batch_name* name_of_finished(std::int32_t number) const;

  static constexpr std::size_t most_removals = 1'000;  // of a commit
  static constexpr std::size_t most_refusals = 16;

  topic_frame_ptr topic_;
  std::uint32_t shard_;
  std::string group_;
  log_reader reader_;
  std::shared_ptr<log_trimmer> trimmer_;
  bool removes_at_once_;                         // nobody else needs what this group has consumed
  std::map<std::int32_t, batch_name> finished_;  // settled as a whole, and to be removed with the next commit
  std::vector<std::int32_t> removing_;           // those that the last commit removes
  std::set<std::int32_t> kept_;                  // their removal was refused
  std::size_t removals_ = most_removals;         // of the next try to commit
  std::size_t refusals_ = 0;                     // of tries before it
};

}  // namespace zkrecipes::detail
