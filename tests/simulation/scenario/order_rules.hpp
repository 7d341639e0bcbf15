// The rules for the planner of a shard group, and for what it orders.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "scenario/group_state.hpp"

namespace zkrecipes::simulation {

class order_rules {
 public:
  /// `most_moves`: how many shards may be on their way from one member to another.
  order_rules(stage& in, std::size_t most_moves) : in_(in), state_(in), most_moves_(most_moves) {}

  void committed(const entry& what);
  void received(const connection& from) { clients_[from.key.id] = from.client; }
  void watch_fired(const connection& to, const backend::watch_event& event);
  /// The record of a shard says that this member has begun its term.
  void begun(std::uint32_t shard, const std::string& member);

  /// Nobody: -1.
  int client_of(std::int64_t session) const;
  const group_state& state() const noexcept { return state_; }
  instant last_news() const noexcept { return last_news_; }

 private:
  void record_departures(const entry& what, const of_shards<std::string>& before);
  void record_planner(const entry& what);
  void check_writer(const entry& what);
  void check_change(std::uint32_t shard, const std::string& from, const std::string& to);
  void check_move(std::uint32_t shard, const std::string& from, const std::string& to);
  void check_given(std::uint32_t shard, const std::string& to, bool is_taken);
  bool restores(const entry& what) const;
  /// Whether an operator has written orders lately: the planner sorts them out.
  bool is_tampered() const { return tampered_ && !is_over(*tampered_); }
  std::map<std::string, detail::shard_orders> orders() const;
  bool is_over(instant since) const;

  stage& in_;
  group_state state_;
  std::size_t most_moves_;
  std::map<std::int64_t, int> clients_;  // by session
  std::int64_t planner_epoch_ = 0;
  int planner_ = -1;  // the client whose term as planner is the last
  bool has_planner_ = false;
  std::set<int> planners_;  // all clients that have been
  instant last_news_{0};
  bool was_balanced_ = false;
  of_shards<int> moves_{};  // since the last news
  struct move {
    std::string to;
    instant since;
  };
  std::map<std::uint32_t, move> way_;                    // shards on their way
  std::map<std::uint32_t, std::string> workers_;         // who has begun the last term of a shard
  std::map<std::string, detail::shard_orders> had_;      // by member, before the present transaction
  std::map<std::string, std::set<std::uint32_t>> kept_;  // shards that wait for those who have stopped, by id
  std::optional<instant> tampered_;                      // when an operator has written orders
};

}  // namespace zkrecipes::simulation
