// The rules for a queue of any kind, checked by what the servers commit and by the results that the clients get.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include <zkrecipes/queue_base.hpp>

#include "queue/queue_layout.hpp"
#include "run/stage.hpp"

namespace zkrecipes::simulation {

/// How a run uses its queue; the seed decides.
struct queue_use {
  detail::queue_kind kind = detail::queue_kind::fifo;
  bool pops = false;   ///< Items are popped (at most once), not taken (at least once).
  bool alone = false;  ///< There is only one taker.
  std::size_t limit = 0;
  std::int32_t max_attempts = 0;
  bool produces = false;      ///< The putting client uses a producer, several puts at once.
  bool revives = false;       ///< Operators revive dead letters.
  bool takes_twice = false;   ///< A second take waits beside the first one of the same object.
  bool changes_mind = false;  ///< Acknowledgements are cancelled, and done again with other effects.
  bool backlog = false;       ///< There are many items at once, and the takers do nothing but take.
};

class queue_rules {
 public:
  queue_rules(stage& in, queue_use use);

  void committed(const entry& what);
  void life_begins(int client) {
    ++lives_[client];
    met_itself_ = met_itself_ || !standing_.empty();
  }

  /// A request has arrived at a server.
  void received(const connection& from, const backend::request& what);

  // Results that the clients get.
  void puts_begin(int client, std::size_t so_many) { budgets_[client] = {0, 0, so_many * max_requests_of_a_put}; }
  void puts_end(int client) { budgets_.erase(client); }
  void put_ends(const std::string& value, error_code why);
  /// An acknowledgement with this effect has ended. `bound`: the session in which the item was taken.
  void acknowledged(const std::string& effect, error_code why, std::int64_t bound);
  void rejected(const std::string& value, error_code why, std::int64_t bound);
  void taken(int client, std::int64_t session, const message& item);
  void finished_with(const std::string& value) { finished_.insert(value); }
  /// A pop has ended with `why`; `item` is empty if none was handed out.
  void popped(error_code why, const message& item);

  std::size_t size() const noexcept { return items_.size(); }
  void check_quiet(const tree& nodes) const;
  const queue_use& use() const noexcept { return use_; }

  static constexpr const char* path = "/queue";
  static constexpr const char* results = "/result";
  static constexpr std::size_t max_requests_of_a_put = 16;

 private:
  struct known_item {
    std::string value;
    std::int32_t attempts = 0;  ///< Claims, without those taken back before the taker was told of the item.
    std::int64_t owner = 0;     ///< The session that owns the claim.
    bool is_told = false;       ///< Whether the owner of the claim was told of the item.
    int overtaken = 0;          ///< The number of later items that were claimed before it.
  };
  /// One life of a process, from its start until it is killed.
  struct life {
    int client;
    int number;
  };

  /// The requests that a client may send for its present puts; counted anew on each connection.
  struct budget {
    std::uint64_t connection = 0;
    std::size_t used = 0;
    std::size_t most = 0;
  };

  /// Counts the requests of takers while the queue is long.
  void asked(const backend::request& what);
  void created(const change& what, const entry& in);
  bool is_revived(const change& what, const entry& in);
  bool is_left_open(error_code why, std::int64_t bound) const;
  void put_has_ended(int client);
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
  std::map<std::string, known_item> items_;        ///< Items in the queue, by name.
  std::set<std::string> put_;                      ///< Values that were ever put.
  std::set<std::string> finished_;                 ///< Values that a taker has finished working on.
  std::set<std::string> ended_;                    ///< Values that have left the queue.
  std::set<std::string> handed_out_;               ///< Values that a successful pop has handed out.
  std::map<std::string, life> popped_from_queue_;  ///< Popped values, and the process that removed each.
  std::set<std::string> told_;                     ///< Popped values of which the taker was told.
  std::map<int, int> lives_;                       ///< How often each client has been started.
  std::map<std::int64_t, life> begun_;             ///< For each session the process that began it.
  std::map<std::string, std::string> letters_;     ///< Values of the dead letters, by path.
  std::set<std::string> effects_;                  ///< Committed effects of acknowledgements.
  std::map<int, budget> budgets_;
  bool is_long() const noexcept { return use_.backlog && items_.size() >= long_list; }
  void check_costs() const;

  static constexpr std::size_t long_list = 50;
  std::size_t lists_ = 0, claims_ = 0, claimed_ = 0;  ///< Counted while the queue is long.
  bool came_back_ = false;
  std::set<std::string> standing_;  ///< Claims that are there.
  bool met_itself_ = false;         ///< A process may have met a claim of its own earlier session.
  std::int32_t last_number_ = -1;
};

}  // namespace zkrecipes::simulation
