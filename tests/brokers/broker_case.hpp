// What cases with Redis and cases with RabbitMQ have in common. Cases that say the same of both are in the files
// *_cases.hpp of this folder. The suites of each broker include these where their own cases stand, so each program has
// the cases under names of its own, and needs only its broker.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "brokers/running_reader.hpp"

namespace zkrecipes::test {

/// A case with a broker, and consumers of its messages. The source is at the path "/t". The pure functions are what the
/// common cases need of a broker.
class broker_case : public ensemble_case {
 public:
  virtual ~broker_case() = default;

  /// Puts messages, each with its data as its key.
  virtual void put_all(const std::vector<std::string>& data) = 0;
  /// Returns the name of the message by which a consumer knows it.
  virtual std::string put_with_key(const std::string& data, const std::string& key) = 0;
  /// Puts a message although the broker may just have come back.
  virtual void put_in_the_end(const std::string& data) = 0;
  /// A consumer of the case's group.
  virtual running_reader& consume(processor does) = 0;
  /// Ends the consumers, when all that they have done is known to the broker. So many messages were put in all.
  virtual void end_consumers(std::size_t count) = 0;
  /// Checks the record of the source, and what is stored when the messages up to this one are consumed.
  virtual void check_records(const running_reader& who, std::uint64_t last) = 0;
  /// Checks that the broker has taken back what the consumers, whose sessions are closed, had of it.
  virtual void check_departure() = 0;

  /// The broker has what the messages are put into.
  virtual bool has_source() = 0;
  /// The option that names it.
  virtual std::string& name_of_source() = 0;

  /// For cases that kill the broker. Call it first.
  virtual void use_mortal_broker() = 0;
  virtual std::string address_of_broker() = 0;
  virtual void kill_broker() = 0;
  virtual void start_broker() = 0;
  /// For cases with a wrong password. Call it first.
  virtual void demand_password() = 0;

  /// The servers, for a process of its own.
  std::string hosts_of_worker() const { return this->fixture::options().hosts; }
  /// Options of a session whose log is kept.
  session_options logging() {
    auto how = this->fixture::options();
    how.log = [lines = log](const log_event& each) { lines->push_back(to_string(each)); };
    return how;
  }
  bool has_logged(const std::string& part) const {
    return std::ranges::any_of(*log, [&](const std::string& each) { return each.find(part) != each.npos; });
  }
  bool has_results(std::size_t count, std::chrono::milliseconds deadline = time_limit) {
    return run_until([&] { return children("/results").size() >= count; }, deadline);
  }
  bool has_failed(running_reader& who) {
    return run_until([&] { return who.ended.done(); }) && who.ended.error() == errc::career_failed;
  }
  /// The run fails for this error. No consumer is left then.
  void check_failure(running_reader& who, const error_code& why) {
    BOOST_TEST_REQUIRE(has_failed(who));
    BOOST_TEST((who.failure() == why), who.failure().message());
    all.clear();
  }

  /// It tells this, and waits until somebody has mended it. No consumer is left then.
  void check_waiting(running_reader& who, const std::string& told) {
    BOOST_TEST_REQUIRE(run_until([&] { return has_logged(told); }));
    who.coordinator.stop();
    BOOST_TEST_REQUIRE(run_until([&] { return who.ended.done(); }));
    BOOST_TEST((who.ended.error() != errc::career_failed));
    all.clear();
  }

  const std::string& group() const { return group_; }
  const std::string& election() const { return election_; }
  /// What the group has stored for shard 0.
  std::string stored() { return get(path_of_stored()).data; }
  std::string path_of_stored() const { return "/t/0000/_at/" + group_; }
  std::vector<std::string> letters() {
    return exists("/t/_dead/" + group_) ? children("/t/_dead/" + group_) : std::vector<std::string>();
  }
  std::string letter() {
    const auto all_letters = letters();
    return all_letters.empty() ? std::string() : get("/t/_dead/" + group_ + "/" + all_letters.front()).data;
  }

  queue_consumer_options options;
  std::deque<running_reader> all;
  std::shared_ptr<std::vector<std::string>> log = std::make_shared<std::vector<std::string>>();

 protected:
  /// `group`: of the consumers, as in the paths of their records. `election`: they stand under it.
  broker_case(std::string group, std::string election) : group_(std::move(group)), election_(std::move(election)) {
    create("/results");
    options.window = 64;
    options.retry = {.first = 1ms, .longest = 10ms, .attempts = 3, .outage = 10ms};
  }
  running_reader& begin(session by, const message_feed& from, const std::string& where, processor does) {
    return all.emplace_back(std::move(by), from, where, options, std::move(does));
  }
  /// The first part of `teardown`.
  void remove_what_consumers_have_left() {
    end_runs(all);
    for (const auto* each : {"/results", "/t"}) remove_tree(each);
  }
  void remove_tree(const std::string& path) {
    if (exists(path)) BOOST_TEST(!std::get<0>(run(zk().async_remove_with_children(path, tuple))));
  }

 private:
  std::string group_;
  std::string election_;
};

}  // namespace zkrecipes::test
