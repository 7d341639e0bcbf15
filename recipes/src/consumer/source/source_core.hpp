// A source in ZooKeeper: its nodes, its record, and what operators ask of it and change.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <zkrecipes/consumer/source_base.hpp>
#include <zkrecipes/session_options.hpp>

#include "format/json_object.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"
#include "shards/shard_name.hpp"

namespace zkrecipes::detail {

/// The nodes of a topic, of Redis streams, of RabbitMQ queues, or of a user's source.
struct source_layout {
  std::string root;

  std::string shard(std::uint32_t number) const;
  /// The folder of the positions of a shard's groups.
  std::string positions(std::uint32_t shard_number) const;
  std::string position(std::uint32_t shard_number, std::string_view group) const;
  /// The marks of the producers in a shard, for one group.
  std::string marks(std::uint32_t shard_number, std::string_view group) const;
  std::string producers() const;
  /// The folder of the dead letters of a group.
  std::string dead(std::string_view group) const;
};

/// What all parts of one source share. Each kind adds its options. The record stands at the path: the first that uses
/// the path writes it.
struct source_frame {
  core_ptr session{};
  source_layout where{};
  json_object record{};
  std::uint32_t shards = 1;
  std::string only_group{};  ///< The only one of a source without groups. Empty: it has groups.

  /// Whether this can be the name of a group: see `name_problem`.
  bool is_group(std::string_view name) const;
};

using source_frame_ptr = std::shared_ptr<const source_frame>;

/// `kind`, `count`, `hash`: as the records of all sources but those of the user begin.
json_object record_of_source(std::string_view kind, std::uint32_t shards);

/// Compares the record at the path with ours, and makes it if it is missing. Errors: `size_mismatch` (the field `count`
/// differs), `foreign_data` (another field of ours does, or it is no record), and those of `core::perform`.
awaitable<error_code> agree_on_record(source_frame_ptr frame);
/// Compares it only. Errors: `no_node` (there is none), and the same.
awaitable<error_code> find_record(source_frame_ptr frame);
/// The request that reads it, and what its reply says of ours. One that is missing, or empty, is no error.
backend::request request_of_record(const source_frame& frame);
error_code compare_record(const source_frame& frame, const backend::reply& found);

/// The implementation of a source's handle.
/// As it stands: a source that the library can read letters of only, such as a user's. A kind with a position or a
/// broker of its own adds how it finds a place, counts and puts.
class source_core {
 public:
  explicit source_core(source_frame_ptr frame) : frame_(std::move(frame)) {}
  virtual ~source_core() = default;

  const source_frame_ptr& frame() const noexcept { return frame_; }
  const scheduler_ptr& get_scheduler() const noexcept { return frame_->session->get_scheduler(); }

  /// As the operations of `source_base`.
  awaitable<outcome<>> seek(std::uint32_t shard, std::string group, source_position where);
  awaitable<outcome<std::vector<source_lag>>> lag(std::string group);
  awaitable<outcome<std::vector<dead_letter>>> dead_letters(std::string group);
  awaitable<outcome<>> revive(std::string group, dead_letter which);
  awaitable<outcome<>> discard(std::string group, dead_letter which);

 protected:
  using is_message = bool (*)(std::string_view);

  /// `message`: whether a text can be the name of a message of this source.
  source_core(source_frame_ptr frame, is_message message) : frame_(std::move(frame)), is_message_(message) {}

  /// The letter is removed when its message is put, so that it can not be lost. Its arguments are good.
  virtual awaitable<outcome<>> put_back(std::uint32_t shard, std::string group, dead_letter which);

 private:
  /// The record of a group that goes on there, with the GUID of the seek.
  virtual awaitable<outcome<std::string>> record_at(std::uint32_t shard, source_position where, std::string seek);
  virtual awaitable<error_code> read_lags(std::string group, std::vector<source_lag>& into);
  /// Puts it at the end of its shard. `made`: the zxid that has made the letter.
  virtual awaitable<error_code> put(std::uint32_t shard, dead_letter which, std::int64_t made);

  source_frame_ptr frame_;
  is_message is_message_ = nullptr;
};

/// The frame of a handle; null: it was made by default. `Frame`: that of its kind.
template <class Frame>
std::shared_ptr<const Frame> frame_of(const source_base& of) {
  return of.get_core() ? std::static_pointer_cast<const Frame>(of.get_core()->frame()) : nullptr;
}

template <class Frame>
const auto& options_of(const source_base& of) {
  static const decltype(Frame::options) defaults{};
  return of.get_core() ? static_cast<const Frame&>(*of.get_core()->frame()).options : defaults;
}

/// `kind`: the class of the handle. \throws std::invalid_argument if it has no such shard, or was made by default.
void require_shard(const source_base& of, const std::string& kind, std::uint32_t shard);

/// The exceptions are `std::invalid_argument`, and name the fields of one type of options.
class option_checks {
 public:
  /// `owner`: the type of the options.
  explicit option_checks(std::string owner) : owner_(std::move(owner)) {}

  [[noreturn]] void refuse(const std::string& field, const std::string& why) const;
  void require(bool is_good, const std::string& field, const std::string& why) const;
  void require_shards(std::uint32_t shards) const;
  /// The pauses between tries.
  void require_pauses(const retry_policy& retry) const;

 protected:
  const std::string& owner() const noexcept { return owner_; }

 private:
  std::string owner_;
};

}  // namespace zkrecipes::detail
