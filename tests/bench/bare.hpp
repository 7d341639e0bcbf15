// The C client in a loop of its own, with nothing around it. No library on top of it can be faster.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace bench {

/// A commit of a consumer of a log.
struct log_commit {
  std::string record;    ///< It has its first version.
  std::string position;  ///< Written, whatever its version.
  std::string effects;   ///< A node below it for each message, or it is written.
  std::size_t first;     ///< The number of the first message.
  std::vector<std::string> removed;
  std::vector<std::string> read_meanwhile;
  std::size_t messages = 0;
  bool creates = false;
};

/// Puts into a log.
struct log_puts {
  std::string record;              ///< It has its first version.
  std::vector<std::string> nodes;  ///< The sequential nodes of a transaction.
  std::size_t bytes = 0;           ///< The data of each.
  std::size_t transactions = 0;
  std::size_t under_way = 0;  ///< So many are sent without waiting for answers.
};

/// Every operation throws std::runtime_error if the server refuses it or the connection breaks.
class bare_client {
 public:
  explicit bare_client(const std::string& hosts);
  ~bare_client();
  bare_client(const bare_client&) = delete;
  bare_client& operator=(const bare_client&) = delete;

  void ensure(const std::string& path);
  std::vector<std::string> children(const std::string& path);
  void get(const std::string& path);
  void remove(const std::string& path);
  void create_items(const std::string& prefix, std::size_t count);  ///< One after the other.
  void create_items_at_once(const std::string& prefix, std::size_t count);
  void get_at_once(const std::string& path, std::size_t count);

  /// Creates an ephemeral sequential node and lists the parent in the same round trip, as acquiring a lock needs.
  std::string enter(const std::string& parent, const std::string& name);

  /// One transaction: the record has its first version, these items are removed, and each has an effect of its name.
  /// Items that are to be read are read meanwhile.
  void settle(const std::string& record, const std::string& items, const std::string& effects,
              const std::vector<std::string>& names, const std::vector<std::string>& read_meanwhile);

  /// One transaction of a log.
  void move_on(const log_commit& what);
  /// Each transaction writes the record from the version that the one before leaves.
  void put(const log_puts& what);

 private:
  struct state;
  void check(int code, const char* what);
  void run(std::size_t most_left = 0);

  std::unique_ptr<state> state_;
};

}  // namespace bench
