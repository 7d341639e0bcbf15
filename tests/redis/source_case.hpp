// A case that calls a source as the engine does, so that it says what comes first.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/co_spawn.hpp>

#include "delivery/message_source.hpp"
#include "redis/redis_case.hpp"
#include "session/core.hpp"

namespace zkrecipes::test {

/// `Case`: a `redis_case`.
template <class Case>
class source_case : public Case {
 public:
  using messages = std::vector<message>;
  using read_messages = std::vector<std::optional<message>>;
  using settled_as = detail::settlement::kind;

  void teardown() {
    source_.reset();
    by_.reset();
    Case::teardown();
  }

  /// The source of the group "g". One that was made before is gone.
  void open_source() {
    source_.reset();
    by_.emplace(this->connect(this->logging()));
    source_ = redis_streams(*by_, "/t", this->with).feed(0, "g").get_source();
    open_again();
  }

  void open_again() { BOOST_TEST(!on_strand(source_->open())); }

  template <class T>
  T on_strand(detail::awaitable<T> body) {
    return this->run(asio::co_spawn(strand(), std::move(body), asio::use_awaitable));
  }
  messages receive(std::size_t most) {
    auto got = on_strand(source_->receive(most));
    BOOST_TEST_REQUIRE(!std::get<0>(got), std::get<0>(got).message());
    return std::get<1>(got);
  }
  /// As many as were put, in several calls.
  messages receive_all(std::size_t count) {
    messages all;
    while (all.size() < count) {
      for (auto& each : receive(count - all.size())) all.push_back(std::move(each));
    }
    return all;
  }
  /// Begins to receive. It is done when the returned recorder says so.
  recorder<messages> begin_to_receive(std::size_t most) {
    recorder<messages> ended(this->executor());
    detail::handler_for<void(error_code, messages)> note(ended.token());
    detail::launch(*detail::require_session(*by_)->get_scheduler(), std::move(note), source_->receive(most));
    return ended;
  }
  detail::outcome<read_messages> read_again(std::vector<std::string> names) {
    return on_strand(source_->read_again(std::move(names)));
  }

  /// Without the write in ZooKeeper.
  void on_settled(const messages& which, settled_as how = settled_as::remove) {
    on_strand(tell_settled(batch_of(which, how)));
  }
  /// Writes the position, as a commit does.
  void commit(const messages& which) {
    const auto batch = batch_of(which, settled_as::remove);
    const auto error = std::get<0>(this->run(by_->async_commit(source_->moving_on(batch), tuple)));
    BOOST_TEST_REQUIRE(!error, error.message());
    on_strand(tell_settled(batch));
  }

  static std::vector<std::string> data_of(const messages& all) {
    std::vector<std::string> data;
    for (const auto& each : all) data.push_back(each.data);
    return data;
  }

 private:
  asio::any_io_executor strand() { return detail::require_session(*by_)->get_scheduler()->strand; }
  static std::vector<detail::settlement> batch_of(const messages& which, settled_as how) {
    std::vector<detail::settlement> batch;
    for (const auto& each : which) {
      auto& one = batch.emplace_back();
      one.how = how;
      one.what = &each;
    }
    return batch;
  }
  detail::awaitable<bool> tell_settled(std::vector<detail::settlement> batch) {
    co_await source_->settled(std::move(batch));
    co_return true;
  }

  std::optional<session> by_;
  message_feed::source_ptr source_;
};

}  // namespace zkrecipes::test
