// Puts items exactly once: the transaction that creates the items also writes the number of the last one.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <zkrecipes/producer.hpp>

#include "queue/capacity.hpp"
#include "queue/producer_record.hpp"
#include "queue/queue_frame.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

class producer_state : public std::enable_shared_from_this<producer_state> {
 public:
  producer_state(shared_frame frame, std::shared_ptr<capacity> limits, std::string name, producer_options options);

  const scheduler_ptr& get_scheduler() const noexcept { return session_->get_scheduler(); }
  const std::string& path() const noexcept { return where_.items; }  // of the queue
  const producer_options& options() const noexcept { return options_; }

  /// From now on nothing that waits behind a batch which failed is put: it fails, too.
  void stop_at_failures() noexcept { stops_at_failures_ = true; }

  awaitable<outcome<std::uint64_t>> put(std::string data);
  awaitable<outcome<std::uint64_t>> last();

 private:
  struct item {
    item(const scheduler_ptr& on, std::string what, lease_clock::time_point until)
        : data(std::move(what)), due(until), changed(on) {}
    std::string data;
    lease_clock::time_point due;  // until then it waits for others, if it is the first of a batch
    std::uint64_t number = 0;
    bool done = false;
    bool is_in_batch = false;  // of the one that is being put
    bool is_left = false;      // nobody waits for it: it is not sent again
    error_code error;
    condition changed;  // one for each item, because a batch of a hundred must not wake ten thousand that wait
  };
  using item_ptr = std::shared_ptr<item>;

  awaitable<void> work();
  awaitable<void> fill_batch();
  awaitable<error_code> make_ready();
  awaitable<error_code> put_batch(std::vector<item_ptr>& batch);
  bool is_full() const noexcept;
  std::size_t bytes_of(const item& one) const noexcept { return one.data.size() + overhead_; }
  std::vector<item_ptr> next_batch() const;
  void forget(const item_ptr& which);

  core_ptr session_;
  queue_layout where_;
  std::shared_ptr<capacity> capacity_;
  producer_options options_;
  producer_record record_;
  bool working_ = false;
  bool stops_at_failures_ = false;
  std::deque<item_ptr> waiting_;  // those of the batch in flight are the first
  std::size_t waiting_bytes_ = 0;
  std::size_t overhead_;  // bytes of an item in a transaction besides its data
  condition filled_;      // the next batch is full
};

}  // namespace zkrecipes::detail
