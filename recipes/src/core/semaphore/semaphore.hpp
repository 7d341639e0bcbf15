// A semaphore: a line in which the members at the front hold, as many as fit into the size.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <zkrecipes/diagnostic.hpp>
#include <zkrecipes/semaphore.hpp>

#include "format/json_object.hpp"
#include "line/line_spec.hpp"
#include "line/own_node.hpp"
#include "line/waiter.hpp"
#include "session/condition.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"
#include "session/watch_registry.hpp"

namespace zkrecipes::detail {

// The data of a semaphore: its size in the node at the path, the weight of a member in its node's name.

/// The data of the node at the semaphore's path, as JSON.
struct permit_record {
  std::int32_t size = 0;
  std::int32_t before = 0;  ///< The size before the last resize; 0: it was never resized.
  /// Set while a shrink is not complete: the size before it. A member that was let in under that size may hold without
  /// being marked as a holder yet (`let_pass`). 0: all holders are marked.
  std::int32_t shrunk_from = 0;
  json_object unknown_fields{};  ///< Fields that a later version of the library has added.

  friend bool operator==(const permit_record&, const permit_record&) = default;
};

/// Nothing if it is not a record.
std::optional<permit_record> parse_permits(const std::string& data);
std::string serialize(const permit_record& record);

/// The number of permits that a member asks for, from its name; 0 for a name that this library has not made.
std::int32_t weight_of(const std::string& name);

/// The members before `self` that have to go first. Nothing if `self` fits, or asks for more permits than there are.
std::optional<stretch> who_fills(std::span<const member> members, std::size_t self, const permit_record& size);

/// For each member whether it waits, judged by the list alone. A member that was let in under a larger size may seem
/// to wait.
std::vector<bool> who_waits(std::span<const member> members, std::int32_t size);

/// The size by which one acquisition decides whether it holds or waits. While it waits it follows the size, because a
/// resize can let it in, or leave fewer permits than it asks for. On the strand.
class size_follower : public std::enable_shared_from_this<size_follower> {
 public:
  size_follower(scheduler_ptr on, std::string path, permit_record known);

  const permit_record& now() const noexcept { return now_; }
  void update(const permit_record& size) { now_ = size; }
  /// Decides by the size at the moment when it is asked.
  blocker who_first();

  /// Follows the size until `stop`, or until the node is lost.
  void start(own_node_ptr node);
  void stop();
  /// Nothing is known to have happened to the size since it was read. Only while it is followed.
  bool is_current() const { return is_read_ && hint_ && !hint_->fired(); }
  /// The size, or what is known of it, has changed.
  condition& changed() noexcept { return changed_; }

 private:
  static awaitable<void> follow(std::shared_ptr<size_follower> self, own_node_ptr node);

  std::string path_;
  permit_record now_;
  condition changed_;
  std::unique_ptr<watch> hint_;  // fires when `now_` is out of date
  bool is_read_ = false;         // the read behind `hint_` was answered
  bool stopped_ = false;
};

using size_follower_ptr = std::shared_ptr<size_follower>;

class permits : public std::enable_shared_from_this<permits> {
 public:
  permits(core_ptr session, std::string path, std::int32_t size, line_options options);

  awaitable<outcome<ownership>> acquire(std::int32_t weight, diagnostic why);
  awaitable<outcome<ownership>> try_acquire(std::int32_t weight, diagnostic why);
  awaitable<outcome<>> resize(std::int32_t size, diagnostic why);
  awaitable<outcome<semaphore_state>> state(diagnostic why);
  awaitable<outcome<std::vector<line_member>>> members(diagnostic why);

  // From any thread.
  const scheduler_ptr& get_scheduler() const noexcept { return session_->get_scheduler(); }
  const std::string& path() const noexcept { return path_; }
  const line_options& options() const noexcept { return options_; }

 private:
  struct picture {
    std::vector<member> members;
    std::optional<backend::reply> node;  ///< The node at the path, unless it is missing.
    bool is_strange = false;             ///< The path has members of another recipe.
  };
  line_spec line(std::int32_t weight) const;
  awaitable<outcome<waiter_ptr>> enter(std::int32_t weight, size_follower_ptr size, diagnostic why);
  awaitable<outcome<picture>> look();
  awaitable<outcome<permit_record>> agree(std::optional<backend::reply> node, diagnostic why);
  error_code judge(const permit_record& found, const diagnostic& why);
  void record_size(std::int32_t size) { agreed_ = true, size_ = size; }
  error_code refuse_path(const diagnostic& why) const;
  error_code refuse_data(const diagnostic& why) const;
  size_follower_ptr follower() const;
  static awaitable<error_code> wait_fitting(waiter_ptr who, size_follower_ptr size);
  static awaitable<error_code> wait_news(waiter_ptr who, size_follower_ptr size);
  void announce_later(const own_node_ptr& node);
  static awaitable<void> announce(own_node_ptr node, std::string written);
  awaitable<outcome<>> settle_shrink(permit_record now, std::int32_t version);
  awaitable<error_code> mark_holders(std::int32_t size);

  core_ptr session_;
  std::string path_;
  std::int32_t size_;    // as given by the user, later as last seen
  bool agreed_ = false;  // `size_` has once been the semaphore's size
  line_options options_;
};

}  // namespace zkrecipes::detail
