// A disk for spooled producers that fails, and forgets at a crash what was not synced.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/post.hpp>

#include <zkrecipes/spool/spooled_producer.hpp>

#include "spool/spool_disk.hpp"

namespace zkrecipes::test {

/// Numbers the steps of the disk and of the queue: one of them fails, and the process ends at another one.
struct step_plan {
  int step = 0;
  int fault_at = -1;
  int crash_at = -1;
  bool is_crashed = false;

  /// False if the process has ended: what was to follow does not happen.
  bool goes_on() {
    is_crashed = is_crashed || step == crash_at;
    return !is_crashed;
  }
  bool fails() { return step++ == fault_at; }
};

/// What a file holds: as the running system sees it, and as it is on the disk.
struct simulated_file {
  struct image {
    std::map<std::uint64_t, detail::spool_row> rows;
    detail::spool_extent extent;
  };
  image seen;
  image synced;
  bool has_origins = false;
  std::uint64_t origins = 0;  ///< How many were drawn, also by copies.
  bool is_broken = false;     ///< A sync has failed: what is synced from now on is not there after a power failure.

  void sync() {
    if (!is_broken) synced = seen;
  }
  void lose_power() {
    seen = synced;
    is_broken = false;
  }
};

class simulated_disk : public detail::spool_disk {
 public:
  simulated_disk(boost::asio::any_io_executor strand, std::shared_ptr<simulated_file> file,
                 std::shared_ptr<step_plan> plan, spool_durability durability)
      : strand_(std::move(strand)), file_(std::move(file)), plan_(std::move(plan)), durability_(durability) {}

  void open(std::optional<std::uint64_t> keep, handler done) override {
    if (!plan_->goes_on()) return;
    if (plan_->fails()) return answer(std::move(done), spool_errc::io_failed);
    auto& seen = file_->seen;
    if (keep) {
      seen.rows.erase(seen.rows.upper_bound(*keep), seen.rows.end());
      seen.extent.last = std::min(seen.extent.last, *keep);
    }
    if (file_->has_origins) seen.extent.origin = ++file_->origins;
    file_->is_broken = false;
    file_->sync();
    answer(std::move(done), {});
  }

  void commit(detail::spool_change change, handler done) override {
    if (!plan_->goes_on()) return;
    if (refuses_commits_) ++refusals_;
    if (refuses_commits_ || plan_->fails()) return answer(std::move(done), spool_errc::disk_full);
    apply(change);
    if (!plan_->goes_on()) return;
    if (durability_ == spool_durability::power || change.is_vital) {
      if (plan_->fails()) {
        file_->is_broken = true;
        return answer(std::move(done), spool_errc::io_failed);
      }
      file_->sync();
    }
    if (plan_->goes_on()) answer(std::move(done), {});
    ++plan_->step;
  }

  void load(std::uint64_t from, std::size_t most_messages, std::size_t most_bytes, handler done) override {
    if (!plan_->goes_on()) return;
    if (plan_->fails()) return answer(std::move(done), spool_errc::io_failed);
    detail::spool_answer all;
    std::size_t bytes = 0;
    for (auto at = file_->seen.rows.lower_bound(from); at != file_->seen.rows.end(); ++at) {
      bytes += size_of(at->second);
      if (all.rows.size() == most_messages || (bytes > most_bytes && !all.rows.empty())) break;
      all.rows.push_back(at->second);
    }
    if (all.rows.empty()) all.error = spool_errc::corrupt;
    tell(std::move(done), std::move(all));
  }

  void close(handler done) override {
    if (!plan_->goes_on()) return;
    file_->sync();
    answer(std::move(done), {});
  }

  void stop() noexcept override { is_stopped_ = true; }

  /// From now on what is done is answered only after `release`: other things happen during the operation.
  void hold() { is_held_ = true; }
  void release() {
    is_held_ = false;
    for (auto& each : std::exchange(held_, {})) boost::asio::post(strand_, std::move(each));
  }

  /// From now on it is full: it can be opened, and takes nothing.
  void refuse_commits() { refuses_commits_ = true; }
  int refusals() const noexcept { return refusals_; }
  bool is_stopped() const noexcept { return is_stopped_; }

 private:
  void apply(const detail::spool_change& change) {
    auto& [rows, extent] = file_->seen;
    for (const auto& each : change.rows) {
      rows.emplace(each->number, *each);
      extent.last = std::max(extent.last, each->number);
    }
    rows.erase(rows.begin(), rows.upper_bound(change.put));
    extent.put = change.put;
    extent.last = std::max(extent.last, change.put);
    extent.base = change.base;
    extent.unsent_from = change.unsent_from;
  }
  void answer(handler done, error_code error) {
    detail::spool_answer all;
    all.error = error;
    if (error) all.trouble = "spool.db: " + error.message();
    all.extent = file_->seen.extent;
    for (const auto& [number, row] : file_->seen.rows) all.extent.bytes += size_of(row);
    tell(std::move(done), std::move(all));
  }
  void tell(handler done, detail::spool_answer all) {
    auto answer = [done = std::move(done), all = std::move(all)]() mutable { done(std::move(all)); };
    if (is_held_) {
      held_.emplace_back(std::move(answer));
    } else {
      boost::asio::post(strand_, std::move(answer));
    }
  }

  boost::asio::any_io_executor strand_;
  std::shared_ptr<simulated_file> file_;
  std::shared_ptr<step_plan> plan_;
  spool_durability durability_;
  bool is_stopped_ = false;
  bool refuses_commits_ = false;
  int refusals_ = 0;
  bool is_held_ = false;
  std::vector<std::function<void()>> held_;
};

}  // namespace zkrecipes::test
