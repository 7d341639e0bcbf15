// Keeps the state of a shard group up to date.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include <zkrecipes/consumer/shard_group_view.hpp>

#include "group/children_reader.hpp"
#include "session/background.hpp"
#include "session/core.hpp"
#include "session/refusals.hpp"
#include "shards/group_layout.hpp"

namespace zkrecipes::detail {

class group_follower : public std::enable_shared_from_this<group_follower> {
 public:
  group_follower(core_ptr session, group_layout where, std::chrono::milliseconds interval);

  // From any thread.
  void start();
  void stop_later();
  const scheduler_ptr& get_scheduler() const noexcept { return scheduler_; }
  const std::string& path() const noexcept { return where_.root; }

  // On the strand.
  awaitable<outcome<shard_group_view>> change(std::uint64_t seen);

 private:
  struct parsed_record {
    child_ptr node;
    shard_view shard;
  };

  awaitable<void> run();
  awaitable<error_code> follow();
  awaitable<error_code> look();
  awaitable<error_code> read_top();
  error_code trouble() const;
  bool is_ready() const;
  shard_group_view compose();
  const shard_view& parsed(std::uint32_t number, const child_ptr& node);

  scheduler_ptr scheduler_;
  core_ptr session_;
  const group_layout where_;
  const children_reader_ptr members_;
  const children_reader_ptr away_;
  const children_reader_ptr quarantines_;
  const children_reader_ptr records_;
  const children_reader_ptr notes_;

  std::unique_ptr<watch> root_hint_;
  std::unique_ptr<watch> frozen_hint_;
  group_size size_;
  bool is_frozen_ = false;
  error_code error_;  // why the root can not be read, if so
  bool ready_ = false;
  std::uint64_t revision_ = 1;
  std::map<std::uint32_t, parsed_record> parsed_;
  condition hinted_;
  condition told_;
  background work_;
};

}  // namespace zkrecipes::detail
