// Puts items exactly once: the transaction that creates the items also writes the number of the last one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include <zkrecipes/producer.hpp>

#include "queue/capacity.hpp"
#include "queue/producer_core.hpp"
#include "queue/producer_record.hpp"
#include "queue/queue_layout.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

class producer_state final : public producer_core, public std::enable_shared_from_this<producer_state> {
 public:
  /// `how_long`: for how long an operation waits without a connection.
  producer_state(shared_frame frame, std::shared_ptr<capacity> limits, std::string name, producer_options options,
                 persistence how_long = persistence::limited);

  const std::string& path() const noexcept override { return where_.items; }  // of the queue
  const producer_options& options() const noexcept { return options_; }
  void put(handler whose, std::vector<topic_message> what, bool is_many) override;
  void last(handler whose) override;

 private:
  struct item;
  using waiting_items = std::list<item>;
  struct call {
    call(const scheduler_ptr& on, std::size_t count) : items(count), changed(on) {}
    bool is_over() const noexcept { return error || put == items; }

    std::size_t items;
    std::size_t put = 0;              // so many of them, from the first on
    std::uint64_t number = 0;         // of the last one that was put
    waiting_items::iterator first{};  // of those that wait, which are next to each other
    std::size_t waiting = 0;          // so many of them
    error_code error;
    bool is_left = false;  // nobody waits for it: it is not sent again
    condition changed;     // one for each call, because a batch of a hundred must not wake ten thousand that wait
  };
  struct item {
    std::shared_ptr<call> of;
    std::string data;
    lease_clock::time_point due;  // until then it waits for others, if it is the first of a batch
    std::uint64_t place;          // in the order of the puts
  };

  awaitable<outcome<std::uint64_t>> put_items(std::vector<topic_message> what, bool is_many);
  awaitable<outcome<std::uint64_t>> read_last();
  awaitable<void> work();
  awaitable<void> fill_batch();
  awaitable<error_code> make_ready();
  awaitable<error_code> put_batch(std::size_t& count);
  bool is_full() const noexcept;
  std::size_t bytes_of(const item& one) const noexcept { return one.data.size() + overhead_; }
  std::size_t next_batch() const;
  void conclude(std::size_t count, const error_code& error);
  void forget(call& which);

  core_ptr session_;
  queue_layout where_;
  std::shared_ptr<capacity> capacity_;
  producer_options options_;
  persistence how_long_;
  producer_record record_;
  bool working_ = false;
  waiting_items waiting_;
  std::uint64_t last_place_ = 0;
  std::uint64_t last_in_batch_ = 0;  // those up to this place are being put
  std::size_t waiting_bytes_ = 0;
  std::size_t overhead_;    // bytes of an item in a transaction besides its data
  std::size_t most_bytes_;  // of a batch
  condition filled_;        // the next batch is full
};

}  // namespace zkrecipes::detail
