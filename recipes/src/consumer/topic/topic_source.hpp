// The messages of one shard of a topic, for one group: a log with a position.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "source/log_source.hpp"
#include "topic/log_reader.hpp"
#include "topic/log_trimmer.hpp"

namespace zkrecipes::detail {

class topic_source final : public log_source {
 public:
  topic_source(topic_frame_ptr topic, std::uint32_t shard, std::string group);

  /// What a topic takes fits into a letter.
  traits get_traits() const override {
    auto all = log_source::get_traits();
    all.cuts_letters = false;
    return all;
  }
  std::string name() const override;
  awaitable<error_code> open() override;
  awaitable<outcome<std::vector<message>>> receive(std::size_t most) override { return reader_.receive(most); }
  std::uint64_t take_passed_over() override { return reader_.take_passed_over(); }
  std::string problem_of(const std::string& name) const override { return reader_.problem_of(name); }
  awaitable<outcome<std::vector<std::optional<message>>>> read_again(std::vector<std::string> names) override {
    return reader_.read_again(std::move(names));
  }
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
