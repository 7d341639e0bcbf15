// Keeps the map of a shard group up to date.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "session/background.hpp"
#include "session/core.hpp"
#include "shards/shard_map.hpp"

namespace zkrecipes::detail {

class map_reader : public std::enable_shared_from_this<map_reader> {
 public:
  map_reader(core_ptr session, std::string group);

  // From any thread.
  void start();
  void stop_later();
  const scheduler_ptr& get_scheduler() const noexcept { return scheduler_; }
  const std::string& group() const noexcept { return group_; }
  /// Null while none is known.
  std::shared_ptr<const shard_map> map() const;

  // On the strand.
  awaitable<outcome<>> wait_started();

 private:
  awaitable<void> run();
  awaitable<error_code> read();
  void publish(shard_map map);

  scheduler_ptr scheduler_;
  core_ptr session_;
  const std::string group_;
  const std::string path_;
  std::unique_ptr<watch> hint_;
  error_code error_;
  condition hinted_;
  condition told_;
  background work_;

  mutable std::mutex mutex_;
  std::shared_ptr<const shard_map> map_;
};

}  // namespace zkrecipes::detail
