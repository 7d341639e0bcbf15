// What cases of many producers, consumers, letters and shards need beside the case of their broker.
#pragma once

#include <algorithm>
#include <cstddef>
#include <future>
#include <string>

#include <boost/asio/use_future.hpp>

#include <zkrecipes/consumer/shard.hpp>
#include <zkrecipes/queue_base.hpp>
#include <zkrecipes/session.hpp>
#include <zkrecipes/transaction.hpp>

#include "brokers/letters_case.hpp"
#include "ensemble/request_log.hpp"
#include "queue/queue_layout.hpp"
#include "support/coroutine.hpp"

namespace zkrecipes::test {

/// `Case`: a `producing_case` with `producer_of`.
template <class Case>
class many_case : public letters_case<Case> {
 public:
  /// A session whose requests are logged. It has got the answers to those that every session sends first.
  session connect_logged() {
    auto how = this->fixture::options();
    how.trace = requests.hook();
    auto made = this->connect(how);
    this->settle(made);
    requests.clear();
    return made;
  }

  /// The letters of messages of shard 0 whose data and keys are 1 to `last`.
  void make_letters(int last) {
    constexpr int at_once = 500;
    BOOST_TEST_REQUIRE(!std::get<0>(this->run(this->zk().async_ensure_path(letter_folder_, tuple))));
    for (int from = 1; from <= last; from += at_once) {
      transaction some;
      for (int i = from; i < std::min(last + 1, from + at_once); ++i) some.create(path_of_letter(i), text_of_letter(i));
      BOOST_TEST_REQUIRE(!std::get<0>(this->run(this->zk().async_commit(some, tuple))));
    }
  }

  /// How many requests the first put of an object costs, with a new path. The message goes to shard 0.
  std::size_t requests_of_first_put(const std::string& data) {
    this->remove_tree("/t");
    const auto own = connect_logged();
    auto by = this->producer_of(own);
    const auto put = this->put_all_of(by, {{key_of_first_shard(), data}});
    this->check(std::get<0>(put), {});
    return requests.all().size();
  }
  std::string key_of_first_shard() const {
    int number = 0;
    while (shard_of(std::to_string(number), this->with.shards) != 0) ++number;
    return std::to_string(number);
  }

  request_log requests;

 private:
  std::string path_of_letter(int number) const {
    const auto digits = std::to_string(number);
    return letter_folder_ + "/letter-" + std::string(10 - digits.size(), '0') + digits;
  }
  static std::string text_of_letter(int number) {
    dead_letter made;
    made.data = made.key = std::to_string(number);
    made.item = "0000/" + made.data + "-0";
    made.reason = "it can not be read";
    made.attempts = 3;
    return detail::write_letter(made);
  }

  std::string letter_folder_ = "/t/_dead/" + this->group();
};

}  // namespace zkrecipes::test
