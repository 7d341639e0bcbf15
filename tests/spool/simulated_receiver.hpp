// A target that does not tell what was put, and a consumer behind it that drops repeats.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include "spool/simulated_queue.hpp"

namespace zkrecipes::test {

/// What the consumer has seen. Two messages of one origin and number are one to it, whatever they say.
struct received_items {
  std::vector<std::string> all;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> known;
  std::vector<detail::spool_row> late;  ///< On their way.
  std::set<std::uint64_t> repeated;     ///< The origins of messages that came again.
  std::size_t repeats = 0;
  std::string refused;  ///< This message can not be put.
  bool is_away = false;

  void take(const detail::spool_row& what) {
    const auto [at, is_new] = known.try_emplace({what.origin, what.number}, what.data);
    if (is_new) return all.push_back(what.data);
    ++repeats;
    repeated.insert(what.origin);
    BOOST_TEST(at->second == what.data, what.data << " is lost: it is taken for " << at->second);
  }
  void bring_late() {
    for (const auto& each : std::exchange(late, {})) take(each);
  }
};

class simulated_receiver : public detail::spool_target {
 public:
  simulated_receiver(boost::asio::any_io_executor strand, std::shared_ptr<received_items> items,
                     std::shared_ptr<step_plan> plan, put_fault fault)
      : strand_(std::move(strand)), items_(std::move(items)), plan_(std::move(plan)), fault_(fault) {}

  const std::string& path() const noexcept override { return path_; }
  error_code check(const detail::spool_row&) const override { return {}; }
  std::size_t most_messages() const noexcept override { return 3; }
  std::size_t most_bytes() const noexcept override { return 10'000; }
  detail::spool_outage outage() const override { return {}; }
  bool knows_last() const noexcept override { return false; }
  void last(handler done) override {
    BOOST_ERROR("it can not be asked");
    answer(std::move(done), errc::bad_arguments, 0);
  }
  void cancel() override {}

  void put(std::vector<detail::spool_row> what, handler done) override {
    if (!plan_->goes_on()) return;
    check_order(what);
    if (items_->is_away) return answer(std::move(done), errc::connection_loss, 0);
    if (plan_->fails()) return fail(std::move(what), std::move(done));
    std::uint64_t count = 0;
    for (const auto& each : what) {
      if (each.data == items_->refused) return answer(std::move(done), errc::no_auth, count);
      items_->take(each);
      ++count;
    }
    if (plan_->goes_on()) answer(std::move(done), {}, count);
    ++plan_->step;
  }

 private:
  static void check_order(const std::vector<detail::spool_row>& all) {
    BOOST_TEST_REQUIRE(!all.empty());
    BOOST_TEST(all.front().origin != 0u);
    for (std::size_t i = 1; i < all.size(); ++i) {
      BOOST_TEST(all[i].number == all[0].number + i);
      BOOST_TEST(all[i].origin == all[0].origin);
    }
  }
  void fail(std::vector<detail::spool_row> all, handler done) {
    if (fault_ == put_fault::refused) return answer(std::move(done), errc::full, 0);
    if (fault_ == put_fault::half_done) all.resize((all.size() + 1) / 2);
    if (fault_ == put_fault::late) {
      items_->late = std::move(all);
    } else if (fault_ != put_fault::not_done) {
      for (const auto& each : all) items_->take(each);
    }
    answer(std::move(done), errc::connection_loss, 0);
  }
  void answer(handler done, error_code error, std::uint64_t number) {
    boost::asio::post(strand_, [done = std::move(done), error, number] { done(error, number); });
  }

  std::string path_ = "/r";
  boost::asio::any_io_executor strand_;
  std::shared_ptr<received_items> items_;
  std::shared_ptr<step_plan> plan_;
  put_fault fault_;
};

}  // namespace zkrecipes::test
