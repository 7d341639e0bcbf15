// The implementation of a queue object: taking and settling.
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
#include "queue/putter.hpp"
#include "queue/queue_layout.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

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
  const std::shared_ptr<putter>& get_putter() const noexcept { return putter_; }

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
  std::shared_ptr<putter> putter_;
  std::optional<std::pair<std::string, backend::reply>> read_ahead_;  // for a pop: the next item's name, and the reply
};

}  // namespace zkrecipes::detail
