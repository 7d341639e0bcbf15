// Keeps the map of a shard group up to date, for routers.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <zkrecipes/consumer/shard_router.hpp>

#include "session/background.hpp"
#include "session/core.hpp"

namespace zkrecipes::detail {

/// The hint for routers: which member owns which shard.
struct shard_map {
  std::int64_t plan = 0;
  std::vector<shard_route> members;
  std::vector<std::size_t> owners;  ///< By shard: the index of a member; as many as there are members: nobody.
};

/// Nothing if it is not a map.
std::optional<shard_map> parse_shard_map(const std::string& data);

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
