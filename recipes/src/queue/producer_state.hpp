// Puts items exactly once: the transaction that creates the items also writes the number of the last one.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include <zkrecipes/producer.hpp>

#include "queue/capacity.hpp"
#include "queue/queue_frame.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

class producer_state : public std::enable_shared_from_this<producer_state> {
 public:
  producer_state(shared_frame frame, std::shared_ptr<capacity> limits, std::string name);

  const scheduler_ptr& get_scheduler() const noexcept { return session_->get_scheduler(); }
  const std::string& path() const noexcept { return where_.items; }  // of the queue

  awaitable<outcome<std::uint64_t>> put(std::string data);
  awaitable<outcome<std::uint64_t>> last();

 private:
  struct item {
    item(const core_ptr& session, std::string what) : data(std::move(what)), changed(session->get_scheduler()) {}
    std::string data;
    std::uint64_t number = 0;
    bool done = false;
    error_code error;
    condition changed;  // one for each item, because a batch of a hundred must not wake ten thousand that wait
  };
  using item_ptr = std::shared_ptr<item>;

  awaitable<void> work();
  awaitable<error_code> read_record();
  awaitable<error_code> make_record();
  awaitable<error_code> put_batch(std::vector<item_ptr>& batch);
  std::vector<item_ptr> next_batch() const;
  std::string record_data(std::uint64_t number) const;

  core_ptr session_;
  queue_layout where_;
  std::shared_ptr<capacity> capacity_;
  std::string record_;  // its path
  std::string guid_;    // tells our items from those of another producer of this name
  bool working_ = false;
  bool known_ = false;  // the next three values are up to date
  std::uint64_t last_ = 0;
  bool ours_ = false;  // we put the last item
  std::int32_t version_ = 0;
  std::deque<item_ptr> waiting_;
};

}  // namespace zkrecipes::detail
