// The member of a shard group that owns slices of a rate, and its share.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <zkrecipes/consumer/shared_limiter.hpp>

#include "rate/slice_share.hpp"
#include "shards/group_member.hpp"

namespace zkrecipes::detail {

class shared_limiter_state : public std::enable_shared_from_this<shared_limiter_state> {
 public:
  /// `options` have been checked, and `burst` is set.
  shared_limiter_state(core_ptr session, std::string path, shared_limiter_options options);

  const scheduler_ptr& get_scheduler() const noexcept { return member_->get_scheduler(); }
  const std::shared_ptr<group_member>& member() const noexcept { return member_; }
  slice_share& share() const noexcept { return *share_; }
  const std::string& path() const noexcept { return member_->group()->where.root; }
  const shared_limiter_options& options() const noexcept { return options_; }
  shared_limiter_status status() const;

  /// Errors: those of `group_member::begin_run`.
  error_code begin_run();
  std::uint64_t present_run() const noexcept { return member_->present_run(); }

  // On the strand.
  awaitable<outcome<>> run(asio::any_io_executor executor);
  void stop(bool at_once) { member_->stop(at_once); }

 private:
  const shared_limiter_options options_;
  std::shared_ptr<slice_share> share_;
  std::shared_ptr<group_member> member_;
};

}  // namespace zkrecipes::detail
