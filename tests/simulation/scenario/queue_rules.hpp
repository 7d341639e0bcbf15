// What has to be true of a queue, whatever its kind: judged by what the servers commit and what the takers are told.
#pragma once

#include "run/stage.hpp"

#include "queue/layout.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace zkrecipes::simulation {

/// How a run uses its queue; the seed decides.
struct queue_use {
  detail::queue_kind kind = detail::queue_kind::fifo;
  bool pops = false;       ///< At most once, else at least once.
  bool alone = false;      ///< There is one taker.
  std::size_t limit = 0;
  std::int32_t most_attempts = 0;
  bool produces = false;  ///< The putting client does it by a producer, several at once.
  bool revives = false;   ///< Operators bring dead letters back.
  bool takes_twice = false;  ///< Of one object a second take waits beside the first.
  bool changes_mind = false;  ///< Acknowledgements are given up, and done again with other effects.
  bool backlog = false;    ///< There are many items at once, and all who take do nothing but that.
};

class queue_rules {
 public:
  queue_rules(stage& in, queue_use use);

  void committed(const entry& what);
  void life_begins(int client) { ++lives_[client]; }

  /// A request has arrived.
  void received(const connection& from, const backend::request& what);

  // What the clients are told.
  void puts_begin(int client, std::size_t so_many) { budgets_[client] = {0, 0, so_many * most_requests_of_a_put}; }
  void puts_end(int client) { budgets_.erase(client); }
  void put_ends(const std::string& value, error_code why);
  /// An acknowledgement with this effect has ended; `bound`: the session that the item was taken in.
  void acknowledged(const std::string& effect, error_code why, std::int64_t bound);
  void rejected(const std::string& value, error_code why, std::int64_t bound);
  void taken(int client, std::int64_t session, const message& item);
  void finished_with(const std::string& value) { finished_.insert(value); }
  /// Of a pop: `why` as it ended, with an item in hand or not.
  void popped(error_code why, const message& item);

  std::size_t size() const noexcept { return items_.size(); }
  void check_quiet(const tree& nodes) const;
  const queue_use& use() const noexcept { return use_; }

  static constexpr const char* path = "/queue";
  static constexpr const char* results = "/result";
  static constexpr std::size_t most_requests_of_a_put = 16;

 private:
  struct known_item {
    std::string value;
    std::int32_t attempts = 0;  ///< Claims, but for those that were taken back before anybody was told of the item.
    std::int64_t owner = 0;     ///< Of the claim.
    bool is_told = false;       ///< To the one who has the claim.
    int overtaken = 0;          ///< By how many that should have come later.
  };
  /// A process, from its start until it is killed.
  struct life {
    int client;
    int number;
  };

  /// What a client may still send for what it puts; begins anew with each connection.
  struct budget {
    std::uint64_t connection = 0;
    std::size_t used = 0;
    std::size_t most = 0;
  };

  /// What a taker asks for, counted where the list is long.
  void asked(const backend::request& what);
  void created(const change& what, const entry& in);
  bool is_revived(const change& what, const entry& in);
  bool is_left_open(error_code why, std::int64_t bound) const;
  bool is_for_put(const backend::request& what) const;
  void removed(const change& what, const entry& in);
  void claimed(const std::string& name, const entry& in);
  void overtakes(const detail::entry& what);
  void died(const known_item& what, const std::string& letter);
  void unclaimed(const std::string& name, const entry& in);
  std::string item_name(const std::string& path) const;
  std::string claimed_name(const std::string& path) const;

  stage& in_;
  queue_use use_;
  detail::queue_layout where_;
  bool operator_interferes_ = false;
  std::map<std::string, known_item> items_;  ///< In the queue, by name.
  std::set<std::string> put_;          ///< Values that were ever put.
  std::set<std::string> finished_;     ///< Values that some taker has worked on to the end.
  std::set<std::string> ended_;        ///< Values that have left the queue.
  std::set<std::string> handed_out_;   ///< By a pop.
  std::map<std::string, life> popped_from_queue_;  ///< By whose session.
  std::set<std::string> told_;         ///< Popped values that their taker knows of.
  std::map<int, int> lives_;           ///< How often each client has been started.
  std::map<std::int64_t, life> begun_; ///< Sessions, by who began them.
  std::map<std::string, std::string> letters_;  ///< Values of the dead letters, by path.
  std::set<std::string> effects_;      ///< Of acknowledgements, as they were committed.
  std::map<int, budget> budgets_;
  bool is_long() const noexcept { return use_.backlog && items_.size() >= long_list; }
  void check_costs() const;

  static constexpr std::size_t long_list = 50;
  std::size_t lists_ = 0, claims_ = 0, claimed_ = 0;  ///< While the list is long.
  bool came_back_ = false;
  std::int32_t last_number_ = -1;
};

}  // namespace zkrecipes::simulation
