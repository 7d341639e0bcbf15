#include "spool/spool_numbers.hpp"

namespace zkrecipes::detail {

void spool_numbers::open(const spool_extent& found) noexcept {
  put_ = found.put;
  spooled_ = found.last;
  base_ = found.base;
  unsent_from_ = found.unsent_from;
  bound_ = unsent_from_ != 0 ? unsent_from_ - 1 : spooled_;
}

/// Messages that are appended before the queue was asked have not been sent. The next run has to know that, if this one
/// ends before it could ask: the queue's number may be that of messages which the file never had.
std::uint64_t spool_numbers::unsent_from(bool appends) const noexcept {
  if (was_agreed_) return 0;
  return unsent_from_ == 0 && appends ? spooled_ + 1 : unsent_from_;
}

spool_numbers::finding spool_numbers::compare(std::uint64_t last_in_queue) const noexcept {
  const auto last = static_cast<std::int64_t>(last_in_queue);
  const auto reached = last + base_;
  const auto put = static_cast<std::int64_t>(put_);
  const auto bound = static_cast<std::int64_t>(bound_);
  using kind = finding::kind;
  if (reached < put) return {kind::anew, put_, put - last, static_cast<std::uint64_t>(put - reached)};
  if (reached <= bound) return {kind::expected, static_cast<std::uint64_t>(reached), base_, 0};
  const auto what = was_agreed_ ? kind::foreign : kind::gap;
  return {what, bound_, bound - last, static_cast<std::uint64_t>(reached - bound)};
}

void spool_numbers::agree(const finding& what) noexcept {
  put_ = what.put;
  base_ = what.base;
  unsent_from_ = 0;
  is_agreed_ = was_agreed_ = true;
}

void spool_numbers::go_on() noexcept {
  unsent_from_ = 0;
  is_agreed_ = was_agreed_ = true;
}

void spool_numbers::on_spooled(std::uint64_t count, std::uint64_t unsent_from) noexcept {
  spooled_ += count;
  unsent_from_ = unsent_from;
}

}  // namespace zkrecipes::detail
