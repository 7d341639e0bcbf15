// Puts one item, or many in one transaction: for queues of every kind.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backend/request.hpp"
#include "queue/capacity.hpp"
#include "queue/queue_layout.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

struct new_item {
  std::int64_t rank = 0;
  std::string data;
};

/// The names of items that were put.
using names = std::vector<std::string>;

class putter {
 public:
  putter(shared_frame frame, std::shared_ptr<server_clock> clock, std::shared_ptr<capacity> limits)
      : frame_(std::move(frame)), clock_(std::move(clock)), capacity_(std::move(limits)) {}

  const scheduler_ptr& get_scheduler() const noexcept { return frame_->session->get_scheduler(); }

  /// Completes with the name of the item. Errors: `outcome_unknown`, `full`, ...
  awaitable<outcome<std::string>> put(new_item item);
  /// The same for several in one transaction. Error besides: `bad_arguments` (there are none).
  awaitable<outcome<names>> put_many(std::vector<new_item> items);
  /// The same for items whose `rank` is a delay in milliseconds, by the leader's clock.
  awaitable<outcome<std::string>> put_later(new_item item);
  awaitable<outcome<names>> put_many_later(std::vector<new_item> items);

 private:
  template <class Made, class Items>
  awaitable<outcome<Made>> put_all(Items items);
  bool fits(std::span<const new_item> items) const;
  backend::request request_of(std::span<const new_item> items) const;

  shared_frame frame_;
  std::shared_ptr<server_clock> clock_;
  std::shared_ptr<capacity> capacity_;
};

}  // namespace zkrecipes::detail
