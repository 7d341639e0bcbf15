// Taking from a queue: one list serves many takes.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>

#include <zkrecipes/queue.hpp>

#include "line/node_name.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

/// Where items of a queue stand; nothing else under its path is one.
inline constexpr std::string_view item_marker = "qn-";
inline constexpr std::string_view claim_prefix = "_claim-";
/// What a server takes in one request by default, less the names around it.
inline constexpr std::size_t most_item_bytes = 1'000'000;

/// The items among the children of a queue, in order.
std::vector<member> items_of(const std::vector<std::string>& children);

class queue_reader : public std::enable_shared_from_this<queue_reader> {
 public:
  queue_reader(core_ptr session, std::string path);

  const core_ptr& session() const noexcept { return session_; }

  awaitable<outcome<message>> next();
  awaitable<outcome<message>> take();
  awaitable<outcome<>> acknowledge(message item);
  awaitable<outcome<>> give_back(message item);

 private:
  awaitable<error_code> list(bool wait_for_item);
  awaitable<outcome<message>> claim(std::string name);
  awaitable<error_code> find_claim(std::string path, incarnation_ptr bound);
  void abandon_claim(std::string name, incarnation_ptr bound);
  void drop_item(const std::string& name);
  std::string item_path(const std::string& name) const { return join(path_, name); }
  std::string claim_path(const std::string& name) const;

  core_ptr session_;
  std::string path_;
  std::deque<member> items_;      // in order, as last listed, less those seen to be gone
  std::set<std::string> claimed_;  // by anybody, when the list was made
  std::string last_;               // what `next` returned last
  std::map<std::string, incarnation_ptr> ours_;
  condition changed_;
};

}  // namespace zkrecipes::detail
