// A semaphore: a line in which all hold who fit, from the front.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <zkrecipes/semaphore.hpp>

#include "line/place.hpp"

namespace zkrecipes::detail {

/// What is written at the semaphore's path, as JSON.
struct permit_record {
  std::int32_t size = 0;
  std::int32_t before = 0;  ///< What `size` was before it was resized; 0: it never was.
  /// Who holds since there were so many permits may not be marked yet as one who does; 0: they all are.
  std::int32_t shrunk_from = 0;

  friend bool operator==(const permit_record&, const permit_record&) = default;
};

/// Nothing if it is not a record.
std::optional<permit_record> parse_permits(const std::string& data);
std::string serialize(const permit_record& record);

/// Permits that a member asks for, as its name says; 0 for a name that nobody here gave.
std::int32_t weight_of(const std::string& name);

/// Who of those before `self` has to go first. Nobody either if it asks for more permits than there are.
std::optional<stretch> who_fills(const std::vector<member>& members, std::size_t self, const permit_record& size);

/// Of each whether it waits, by the list alone: whoever holds since there were more permits seems to wait.
std::vector<bool> who_waits(const std::vector<member>& members, std::int32_t size);

class permits : public std::enable_shared_from_this<permits> {
 public:
  permits(core_ptr session, std::string path, std::int32_t size, semaphore_options options);

  awaitable<outcome<ownership>> acquire(std::int32_t weight);
  awaitable<outcome<ownership>> try_acquire(std::int32_t weight);
  awaitable<outcome<>> resize(std::int32_t size);
  awaitable<outcome<semaphore_state>> state();
  awaitable<outcome<std::vector<line_member>>> members();

  // From any thread.
  const core_ptr& session() const noexcept { return session_; }
  const std::string& path() const noexcept { return path_; }
  std::string problem() const;

 private:
  struct picture {
    std::vector<member> members;
    std::optional<backend::reply> node;  ///< The path itself, unless it is missing.
    bool is_strange = false;             ///< Somebody of another recipe is there.
  };
  /// The size by which we are let in or wait.
  struct size_in_view {
    permit_record now;
    std::unique_ptr<watch> hint{};  ///< Fires when `now` is out of date.
    bool is_read = false;           ///< Behind the hint.
    bool is_current() const { return is_read && hint && !hint->fired(); }
  };
  using size_ptr = std::shared_ptr<size_in_view>;

  line_spec line(std::int32_t weight) const;
  awaitable<outcome<place_ptr>> enter(std::int32_t weight, size_ptr size);
  awaitable<outcome<picture>> look();
  awaitable<outcome<permit_record>> agree(std::optional<backend::reply> node);
  error_code judge(const permit_record& found);
  void note_size(std::int32_t size) { agreed_ = true, size_ = size; }
  error_code refuse_path();
  error_code refuse(error_code why, std::string problem);
  static blocker by_size(size_ptr size);
  static awaitable<error_code> wait_fitting(place_ptr where, size_ptr size);
  void announce_later(const place_ptr& where);
  static awaitable<void> announce(place_ptr where, std::string id);
  awaitable<outcome<>> settle_shrink(permit_record now, std::int32_t version);
  awaitable<error_code> mark_holders(std::int32_t size);
  static awaitable<void> follow_size(place_ptr where, std::string path, size_ptr size, std::shared_ptr<bool> done);

  core_ptr session_;
  std::string path_;
  std::int32_t size_;    // with which we came, and later as last seen
  bool agreed_ = false;  // it was that of the semaphore
  semaphore_options options_;
  mutable std::mutex mutex_;
  std::string problem_;
};

}  // namespace zkrecipes::detail
