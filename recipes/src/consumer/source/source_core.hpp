// The implementation of a source's handle: what operators ask of a source, and what they change.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <zkrecipes/consumer/source_base.hpp>

#include "source/source_frame.hpp"

namespace zkrecipes::detail {

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

}  // namespace zkrecipes::detail
