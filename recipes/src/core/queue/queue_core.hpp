// The implementation of a queue object: putting, taking and settling.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <zkrecipes/queue_base.hpp>

#include "queue/capacity.hpp"
#include "queue/claims.hpp"
#include "queue/item_list.hpp"
#include "queue/queue_frame.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

// Puts one item, or many in one transaction.

struct new_item {
  std::int64_t rank = 0;
  std::string data;
};

/// The names of items that were put.
using names = std::vector<std::string>;

class putter {
 public:
  putter(shared_frame frame, std::shared_ptr<capacity> limits)
      : frame_(std::move(frame)), capacity_(std::move(limits)) {}

  /// Completes with the name of the item. Errors: `outcome_unknown`, `full`, ...
  awaitable<outcome<std::string>> put(new_item item);
  /// The same for several in one transaction. Error besides: `bad_arguments` (there are none).
  awaitable<outcome<names>> put(std::vector<new_item> items);

 private:
  template <class Made, class Items>
  awaitable<outcome<Made>> put_all(Items items);
  bool fits(std::span<const new_item> items) const;
  backend::request request_of(std::span<const new_item> items) const;

  shared_frame frame_;
  std::shared_ptr<capacity> capacity_;
};

class queue_core : public std::enable_shared_from_this<queue_core> {
 public:
  /// \throws std::invalid_argument naming the bad path or option.
  static std::shared_ptr<queue_core> make(const session& over, queue_kind kind, std::string path,
                                          queue_options options);
  explicit queue_core(shared_frame frame);

  const shared_frame& frame() const noexcept { return frame_; }
  const scheduler_ptr& get_scheduler() const noexcept { return frame_->session->get_scheduler(); }
  const std::shared_ptr<server_clock>& clock() const noexcept { return clock_; }
  const std::shared_ptr<capacity>& get_capacity() const noexcept { return capacity_; }

  awaitable<outcome<std::string>> put(new_item item);
  awaitable<outcome<names>> put_many(std::vector<new_item> items);
  /// The same for items whose `rank` is a delay in milliseconds, by the leader's clock.
  awaitable<outcome<std::string>> put_later(new_item item);
  awaitable<outcome<names>> put_many_later(std::vector<new_item> items);

  awaitable<outcome<message>> take();
  awaitable<outcome<std::vector<message>>> take_many(std::size_t most);
  awaitable<outcome<message>> pop();

  awaitable<outcome<>> acknowledge(message item, transaction effects);
  awaitable<outcome<>> give_back(message item, return_to where, std::string reason);
  awaitable<outcome<>> reject(message item, std::string reason);

 private:
  awaitable<outcome<message>> take_drawn(claims::attempt& begun);
  void give_up(std::span<const claims::attempt> begun, std::span<const entry> all) noexcept;
  void take_back_surely(const message& item) noexcept;
  awaitable<claim_result> pop_drawn(entry what);
  awaitable<outcome<message>> pop_by_claim();
  awaitable<bool> is_there(std::string name);
  awaitable<backend::reply> read_for_pop(std::string name);
  void after(const std::string& name, const claim_result& result);
  awaitable<error_code> make_dead_letter(claim_id which, std::int32_t attempts, std::string reason);
  awaitable<error_code> move_to_end(claim_id which);

  shared_frame frame_;
  std::shared_ptr<server_clock> clock_;
  std::shared_ptr<claims> claims_;
  std::shared_ptr<item_list> items_;
  std::shared_ptr<capacity> capacity_;
  putter putter_;
  std::optional<std::pair<std::string, backend::reply>> read_ahead_;  // for a pop: the next item's name, and the reply
};

}  // namespace zkrecipes::detail
