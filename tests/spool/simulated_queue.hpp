// A queue for spooled producers, with the faults that a producer's puts can have.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/post.hpp>

#include "spool/simulated_disk.hpp"
#include "spool/spool_target.hpp"

namespace zkrecipes::test {

/// How a put fails.
enum class put_fault { refused, not_done, done, half_done, late };

/// The items of the queue, and what the producer's record says.
struct simulated_items {
  std::vector<std::string> all;
  std::uint64_t last = 0;  ///< The number of the last one.
  int version = 0;         ///< The version of the record.
  std::vector<std::string> late{};
  int version_for_late = -1;
  bool is_away = false;    ///< Every call fails.
  bool is_silent = false;  ///< No call is answered before `simulated_queue::answer_late`; then it has failed.
  bool is_connected = true;

  void add(const std::vector<std::string>& more) {
    all.insert(all.end(), more.begin(), more.end());
    last += more.size();
    ++version;
  }
  /// What was sent before arrives late. It is not done if somebody else has written meanwhile.
  void bring_late() {
    if (std::exchange(version_for_late, -1) == version) add(late);
  }
  void remove() {
    all.clear();
    last = 0;
    ++version;
  }
};

class simulated_queue : public detail::spool_target {
 public:
  simulated_queue(boost::asio::any_io_executor strand, std::shared_ptr<simulated_items> items,
                  std::shared_ptr<step_plan> plan, put_fault fault)
      : strand_(std::move(strand)), items_(std::move(items)), plan_(std::move(plan)), fault_(fault) {}

  const std::string& path() const noexcept override { return path_; }
  error_code check(const detail::spool_row& what) const override {
    return what.data.size() > 1'000 ? errc::too_large : error_code();
  }
  std::size_t most_messages() const noexcept override { return 3; }
  std::size_t most_bytes() const noexcept override { return 10'000; }

  void last(handler done) override {
    if (!plan_->goes_on()) return;
    if (items_->is_silent) return unanswered_.push_back(std::move(done));
    if (plan_->fails() || items_->is_away) return answer(std::move(done), errc::connection_loss, 0);
    version_ = items_->version;
    answer(std::move(done), {}, items_->last);
    items_->bring_late();  // the worst moment
  }

  detail::spool_outage outage() const override {
    if (items_->is_connected) return {};
    return {errc::connection_loss, "the session has no connection: check the ensemble and the network"};
  }
  void cancel() override {}

  void put(std::vector<detail::spool_row> what, handler done) override {
    if (!plan_->goes_on()) return;
    std::vector<std::string> all;
    for (auto& each : what) all.push_back(std::move(each.data));
    if (on_put) on_put(all);
    if (items_->is_silent) return unanswered_.push_back(std::move(done));
    if (items_->is_away) return answer(std::move(done), errc::connection_loss, 0);
    if (items_->version != version_) return answer(std::move(done), errc::superseded, 0);
    if (plan_->fails()) return fail(std::move(all), std::move(done));
    items_->add(all);
    version_ = items_->version;
    if (plan_->goes_on()) answer(std::move(done), {}, all.size());
    ++plan_->step;
  }

  void answer_late() {
    for (auto& each : std::exchange(unanswered_, {})) answer(std::move(each), errc::connection_loss, 0);
  }

  std::function<void(const std::vector<std::string>&)> on_put;

 private:
  void fail(std::vector<std::string> all, handler done) {
    if (fault_ == put_fault::refused) return answer(std::move(done), errc::full, 0);
    if (fault_ == put_fault::half_done) all.resize((all.size() + 1) / 2);
    if (fault_ == put_fault::late) {
      items_->late = std::move(all);
      items_->version_for_late = items_->version;
    } else if (fault_ != put_fault::not_done) {
      items_->add(all);
    }
    answer(std::move(done), errc::connection_loss, 0);
  }
  void answer(handler done, error_code error, std::uint64_t number) {
    boost::asio::post(strand_, [done = std::move(done), error, number] { done(error, number); });
  }

  std::string path_ = "/q";
  boost::asio::any_io_executor strand_;
  std::shared_ptr<simulated_items> items_;
  std::shared_ptr<step_plan> plan_;
  put_fault fault_;
  int version_ = -1;
  std::vector<handler> unanswered_;
};

}  // namespace zkrecipes::test
