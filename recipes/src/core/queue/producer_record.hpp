// The node that makes a producer's puts happen once: it holds the number of the last item, and changes in the same
// transaction.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "session/core.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

class producer_record {
 public:
  using folder_maker = std::function<awaitable<error_code>()>;

  /// `make_folder` creates what is missing above the path.
  producer_record(core_ptr session, std::string path, folder_maker make_folder)
      : session_(std::move(session)), path_(std::move(path)), make_folder_(std::move(make_folder)) {}

  /// Reads the record behind a catch-up, because an older state of it would make a producer believe that a newer one
  /// has taken over. Makes it if it is missing. Without a connection it waits, also beyond `retry_policy::limit`, but
  /// begins nothing after `until`. Error: `foreign_data`, and what reading and creating end with.
  awaitable<error_code> read(lease_clock::time_point until = never);
  /// Whether the values below are up to date.
  bool is_known() const noexcept { return is_known_; }
  /// The record is to be read again. What was sent before counts as somebody else's, should it be done late.
  void invalidate() noexcept {
    is_known_ = false;
    guid_.clear();
  }
  std::uint64_t last() const noexcept { return last_; }
  bool is_ours() const noexcept { return is_ours_; }  ///< We put the last item.

  /// The write of this number from the known version, or from that which so many writes under way will leave.
  void add_to(transaction& all, std::uint64_t number, std::int32_t behind = 0) const;
  /// It was done; `version` is the new one.
  void record_written(std::uint64_t number, std::int32_t version);

 private:
  awaitable<error_code> make();
  std::string data_of(std::uint64_t number) const;

  core_ptr session_;
  std::string path_;
  folder_maker make_folder_;
  std::string guid_;  // tells our items from those of another producer of this name
  bool is_known_ = false;
  std::uint64_t last_ = 0;
  bool is_ours_ = false;
  std::int32_t version_ = 0;
};

}  // namespace zkrecipes::detail
