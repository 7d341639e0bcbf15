// A case with a broker, and consumers of one of its streams.
#pragma once

#include <deque>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include <boost/system/system_error.hpp>

#include <zkrecipes/redis_streams.hpp>

#include <testcluster/redis_broker.hpp>

#include "ensemble/delivery_case.hpp"
#include "redis/redis_client.hpp"

namespace zkrecipes::test {

/// The broker of all cases that do without one of their own. It is started by the first, and ends with the process.
inline testcluster::redis_broker& common_broker() {
  static testcluster::redis_broker broker;
  return broker;
}

/// Begins before the fixture counts the descriptors of the process.
struct with_common_broker {
  with_common_broker() {
    if (!common_broker().running()) common_broker().start();
  }
};

struct running_stream_reader {
  running_stream_reader(session over, const redis_options& where, std::string group, queue_consumer_options options,
                        career_traits traits, processor does)
      : zk(std::move(over)),
        does(redis_streams(zk, "/t", where).feed(0, group), std::move(options), traits, std::move(does)),
        coordinator(zk, "/e-" + group, {.id = "reader"}),
        ended(zk.get_executor()) {
    coordinator.async_run(this->does, ended.token());
  }

  /// The error for which the career has failed.
  error_code failure() const {
    try {
      if (const auto why = coordinator.failure()) std::rethrow_exception(why);
    } catch (const boost::system::system_error& why) {
      return why.code();
    }
    return {};
  }

  session zk;
  acting_consumer does;
  consumer_coordinator coordinator;
  recorder<> ended;
};

/// The stream is "orders:0". Each group has an election of its own.
class redis_case : private with_common_broker, public ensemble_case {
 public:
  redis_case() {
    create("/results");
    with.hosts = common_broker().address();
    with.stream = "orders";
    with.shards = 1;
    with.timeout = 2s;
    with.retry = {.first_pause = 5ms, .max_pause = 50ms};
    options.window = 64;
    options.retry = {.first = 1ms, .longest = 10ms, .attempts = 3};
    client().get({"FLUSHALL"});
  }
  void teardown() {
    end_runs(all);
    for (const auto& each : elections_) remove("/e-" + each);
    for (const auto& each : children("/results")) remove("/results/" + each);
    remove("/results");
    if (exists("/t")) BOOST_TEST(!std::get<0>(run(zk().async_remove_with_children("/t", tuple))));
    client_.reset();
    own_broker_.reset();
    if (!common_broker().running()) common_broker().start();
    ensemble_case::teardown();
  }

  /// A broker of this case alone; consumers and the client use it from then on.
  testcluster::redis_broker& use_own_broker(const testcluster::redis_broker_options& how) {
    client_.reset();
    own_broker_ = std::make_unique<testcluster::redis_broker>(how);
    with.hosts = own_broker_->address();
    client_ = std::make_unique<redis_client>(with.hosts, how.password);
    return *own_broker_;
  }
  testcluster::redis_broker& broker() { return own_broker_ ? *own_broker_ : common_broker(); }
  redis_client& client() {
    if (!client_) client_ = std::make_unique<redis_client>(with.hosts);
    return *client_;
  }

  running_stream_reader& consume(processor does, const std::string& group = "g", career_traits traits = {}) {
    create_election(group);
    return all.emplace_back(connect(logging()), with, group, options, traits, std::move(does));
  }
  void create_election(const std::string& group) {
    if (exists("/e-" + group)) return;
    create("/e-" + group);
    elections_.push_back(group);
  }
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

  /// The data is the key, too.
  void put_all(const std::vector<std::string>& data) {
    for (const auto& each : data) client().add("orders:0", each, each);
  }
  bool has_results(std::size_t count) {
    return run_until([&] { return children("/results").size() >= count; }, 30s);
  }
  bool has_failed(running_stream_reader& who) {
    return run_until([&] { return who.ended.done(); }) && who.ended.error() == errc::career_failed;
  }
  std::string position(const std::string& group = "g") { return get("/t/0000/_at/" + group).data; }
  std::vector<std::string> letters(const std::string& group = "g") {
    return exists("/t/_dead/" + group) ? children("/t/_dead/" + group) : std::vector<std::string>();
  }
  std::string letter(const std::string& group = "g") {
    const auto all_letters = letters(group);
    return all_letters.empty() ? std::string() : get("/t/_dead/" + group + "/" + all_letters.front()).data;
  }

  redis_options with;
  queue_consumer_options options;
  std::deque<running_stream_reader> all;
  std::shared_ptr<std::vector<std::string>> log = std::make_shared<std::vector<std::string>>();

 private:
  std::unique_ptr<testcluster::redis_broker> own_broker_;
  std::unique_ptr<redis_client> client_;
  std::vector<std::string> elections_;
};

}  // namespace zkrecipes::test
