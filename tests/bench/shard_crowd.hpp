// Many members of one shard group in one process, each with a session of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <zkrecipes/consumer/shard_group.hpp>

namespace bench {

class shard_crowd {
 public:
  using clock = std::chrono::steady_clock;

  /// How the owner of a shard has changed. The hand-overs do nothing, so the times are those of the group alone.
  struct shard_log {
    std::int64_t begun = 0;     ///< Terms that were inaugurated.
    clock::time_point ended{};  ///< When the last owner had given it up; not set while it has one.
    std::size_t owner = 0;      ///< The number of the member.
  };

  struct member {
    member(zkrecipes::session over, std::string path, zkrecipes::shard_group_options with)
        : zk(std::move(over)), group(zk, std::move(path), std::move(with)) {}
    zkrecipes::session zk;
    zkrecipes::shard_group group;
    std::size_t owned = 0;
    bool runs = false;
  };

  /// `hosts`: each server; the members are spread over them.
  shard_crowd(boost::asio::io_context& io, std::vector<std::string> hosts, std::string path, std::uint32_t shards);

  /// Connects members until there are so many. They do not run yet.
  void connect(std::size_t members);
  void start(std::size_t which);
  member& at(std::size_t which) { return *members_[which]; }
  std::size_t size() const { return members_.size(); }
  /// Closes the session of a member, as if its process had died and the servers had noticed.
  void close(std::size_t which);
  /// From the answer to the last `close`, when the session had ended, until the last term that has begun since.
  double until_last_begun_ms() const;
  /// The median of some round trips, all members being there.
  double round_trip_ms();
  /// Runs the context until it holds. \throws std::runtime_error after five minutes.
  void run_until(const char* what, const std::function<bool()>& holds);
  /// Ends all runs, and removes the nodes of the group.
  void end();

  std::size_t owned() const { return owned_; }
  std::int64_t begun() const { return begun_; }
  const std::vector<shard_log>& log() const { return log_; }
  /// The longest time that a shard was without an owner, since the last call. The time of a crash counts from `close`.
  double longest_gap_ms();
  std::optional<std::size_t> planner() const;
  /// Requests of all sessions so far.
  std::uint64_t requests() const;

 private:
  class idle_career;

  boost::asio::io_context& io_;
  std::vector<std::string> hosts_;
  std::string path_;
  std::uint32_t shards_;
  std::deque<std::unique_ptr<member>> members_;
  std::vector<shard_log> log_;
  std::size_t owned_ = 0;
  std::int64_t begun_ = 0;
  clock::duration longest_gap_{};
  clock::time_point closed_{};
  clock::time_point last_begun_{};
};

}  // namespace bench
