// A case with a queue, which it leaves empty.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <zkrecipes/queue.hpp>

#include "ensemble/ensemble_case.hpp"

namespace zkrecipes::test {

class queue_case : public ensemble_case {
 public:
  void teardown() {
    for (const auto& each : of_producers_) remove("/q/_producer-" + each);
    BOOST_TEST(run_until([&] { return tickets() == 0; }), "tickets are given back");
    for (const auto* each : {"/q/_idle", "/q/_dead", "/q/_parked", "/q/_repeats", "/q/_gate", "/q/_clock"}) {
      if (exists(each)) remove(each);
    }
    remove("/q");  // throws, which fails the case, if an item or a claim is left
    ensemble_case::teardown();
  }

  queue over(session which) { return queue(std::move(which), "/q"); }
  /// A producer. Its record stays for its next run; `teardown` removes the records of all producers made here.
  producer make_producer(const queue& into, const std::string& name, producer_options how = {}) {
    if (std::find(of_producers_.begin(), of_producers_.end(), name) == of_producers_.end())
      of_producers_.push_back(name);
    return producer(into, name, how);
  }
  producer make_producer(session which, const std::string& name, producer_options how = {}) {
    return make_producer(over(std::move(which)), name, how);
  }

  std::string put(const std::string& data) { return must(run(over(zk()).async_put(data, tuple))); }
  template <class Queue>
  message take(Queue from) {
    return must(run(from.async_take(tuple)));
  }
  template <class Queue>
  message pop(Queue from) {
    return must(run(from.async_pop(tuple)));
  }
  template <class Queue>
  error_code acknowledge(Queue from, const message& item) {
    return std::get<0>(run(from.async_acknowledge(item, tuple)));
  }
  template <class Queue>
  error_code give_back(Queue from, const message& item) {
    return std::get<0>(run(from.async_return(item, tuple)));
  }
  template <class Queue>
  void expect_done(Queue from, const message& item) {
    const auto error = acknowledge(std::move(from), item);
    BOOST_TEST(!error, error.message());
  }
  template <class Queue>
  queue_status status_of(Queue which) {
    settle(zk());
    return must(run(which.async_status(tuple)));
  }
  template <class Queue>
  std::vector<dead_letter> dead_letters(Queue which) {
    settle(zk());
    return must(run(which.async_dead_letters(tuple)));
  }

  /// Takes and acknowledges all items; returns their data in order.
  std::vector<std::string> drain() {
    std::vector<std::string> seen;
    auto from = over(zk());
    while (size() > 0) {
      auto item = take(from);
      seen.push_back(item.data);
      expect_done(from, item);
    }
    return seen;
  }
  std::size_t size() {
    settle(zk());
    return must(run(over(zk()).async_size(tuple)));
  }
  std::size_t tickets() { return exists("/q/_gate") ? children("/q/_gate").size() : 0; }
  std::size_t claims() {
    const auto names = children("/q");
    return static_cast<std::size_t>(
        std::count_if(names.begin(), names.end(), [](const std::string& each) { return each.starts_with("_claim-"); }));
  }

 private:
  std::vector<std::string> of_producers_;
};

}  // namespace zkrecipes::test
