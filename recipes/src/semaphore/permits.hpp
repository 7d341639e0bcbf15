// A semaphore: a line in which the members at the front hold, as many as fit into the size.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <zkrecipes/semaphore.hpp>

#include "format/json_object.hpp"
#include "line/place.hpp"

namespace zkrecipes::detail {

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
std::optional<stretch> who_fills(const std::vector<member>& members, std::size_t self, const permit_record& size);

/// For each member whether it waits, judged by the list alone. A member that was let in under a larger size may seem
/// to wait.
std::vector<bool> who_waits(const std::vector<member>& members, std::int32_t size);

class permits : public std::enable_shared_from_this<permits> {
 public:
  permits(core_ptr session, std::string path, std::int32_t size, line_options options);

  awaitable<outcome<ownership>> acquire(std::int32_t weight, diagnostic why);
  awaitable<outcome<ownership>> try_acquire(std::int32_t weight, diagnostic why);
  awaitable<outcome<>> resize(std::int32_t size, diagnostic why);
  awaitable<outcome<semaphore_state>> state(diagnostic why);
  awaitable<outcome<std::vector<line_member>>> members();

  // From any thread.
  const core_ptr& session() const noexcept { return session_; }
  const std::string& path() const noexcept { return path_; }
  const line_options& options() const noexcept { return options_; }

 private:
  struct picture {
    std::vector<member> members;
    std::optional<backend::reply> node;  ///< The node at the path, unless it is missing.
    bool is_strange = false;             ///< The path has members of another recipe.
  };
  /// The size by which we decide whether we hold or wait.
  struct size_in_view {
    permit_record now;
    std::unique_ptr<watch> hint{};  ///< Fires when `now` is out of date.
    bool is_read = false;           ///< The read behind `hint` was answered.
    bool is_current() const { return is_read && hint && !hint->fired(); }
  };
  using size_ptr = std::shared_ptr<size_in_view>;

  line_spec line(std::int32_t weight) const;
  awaitable<outcome<place_ptr>> enter(std::int32_t weight, size_ptr size, diagnostic why);
  awaitable<outcome<picture>> look();
  awaitable<outcome<permit_record>> agree(std::optional<backend::reply> node, diagnostic why);
  error_code judge(const permit_record& found, const diagnostic& why);
  void note_size(std::int32_t size) { agreed_ = true, size_ = size; }
  error_code refuse_path(const diagnostic& why) const;
  error_code refuse_data(const diagnostic& why) const;
  static blocker by_size(size_ptr size);
  static awaitable<error_code> wait_fitting(place_ptr where, size_ptr size);
  void announce_later(const place_ptr& where);
  static awaitable<void> announce(place_ptr where, std::string id);
  awaitable<outcome<>> settle_shrink(permit_record now, std::int32_t version);
  awaitable<error_code> mark_holders(std::int32_t size);
  static awaitable<void> follow_size(place_ptr where, std::string path, size_ptr size, std::shared_ptr<bool> done);

  core_ptr session_;
  std::string path_;
  std::int32_t size_;    // as given by the user, later as last seen
  bool agreed_ = false;  // `size_` has once been the semaphore's size
  line_options options_;
};

}  // namespace zkrecipes::detail
