// A case with a broker, and consumers of one of its queues.
#pragma once

#include <deque>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/system/system_error.hpp>

#include <zkrecipes/rabbit_queues.hpp>

#include <testcluster/rabbit_broker.hpp>

#include "ensemble/delivery_case.hpp"
#include "rabbit/rabbit_client.hpp"
#include "rabbit/rabbit_reader.hpp"

namespace zkrecipes::test {

/// The longest message that the common broker takes.
inline constexpr std::size_t largest_message = std::size_t{8} << 20;

/// The broker of all cases that do without one of their own. It is started by the first, and ends with the process.
inline testcluster::rabbit_broker& common_rabbit() {
  static testcluster::rabbit_broker broker({.extra_config = {"max_message_size = " + std::to_string(largest_message)}});
  return broker;
}

/// A broker that cases share, all nodes of which run. Begins before the fixture counts the descriptors of the process.
class with_shared_rabbit {
 public:
  using getter = testcluster::rabbit_broker& (*)();

  explicit with_shared_rabbit(getter which) : shared_(&which()) { start_missing_nodes(); }

 protected:
  void start_missing_nodes() {
    bool is_complete = true;
    for (int node = 1; node <= shared_->nodes(); ++node) is_complete = shared_->running(node) && is_complete;
    if (!is_complete) shared_->start_all();
  }
  testcluster::rabbit_broker& shared() { return *shared_; }

 private:
  testcluster::rabbit_broker* shared_;
};

struct running_queue_reader {
  running_queue_reader(session over, const rabbit_options& where, const std::string& election,
                       queue_consumer_options options, processor does)
      : zk(std::move(over)),
        does(rabbit_queues(zk, "/t", where).feed(0), std::move(options), career_traits(), std::move(does)),
        coordinator(zk, election, {.id = "reader"}),
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

/// Each case has queues of its own; `queue()` is that of shard 0. Consumers stand under the election "/e".
class rabbit_case : protected with_shared_rabbit, public ensemble_case {
 public:
  /// `which`: the broker unless the case has one of its own. `password`: of its user, guest.
  explicit rabbit_case(getter which = &common_rabbit, const std::string& password = "guest")
      : with_shared_rabbit(which), password_of_shared_(password), password_(password) {
    static int cases = 0;
    create("/e");
    create("/results");
    with.hosts = shared().addresses();
    with.queue = "orders-" + std::to_string(++cases);
    with.shards = 1;
    with.retry = {.first_pause = 5ms, .max_pause = 50ms};
    options.window = 64;
    options.retry = {.first = 1ms, .longest = 10ms, .attempts = 3};
  }
  void teardown() {
    end_runs(all);
    for (const auto* each : {"/e", "/results", "/t"}) {
      if (exists(each)) BOOST_TEST(!std::get<0>(run(zk().async_remove_with_children(each, tuple))));
    }
    proxy_.reset();
    own_broker_.reset();
    start_missing_nodes();
    client_ = std::make_unique<rabbit_client>(shared().addresses(), password_of_shared_);
    for (std::uint32_t shard = 0; shard < with.shards; ++shard) client_->remove(queue(shard));
    client_.reset();
    ensemble_case::teardown();
  }

  /// A broker of this case alone; consumers and the client use it from then on.
  testcluster::rabbit_broker& use_own_broker(const testcluster::rabbit_broker_options& how) {
    client_.reset();
    own_broker_ = std::make_unique<testcluster::rabbit_broker>(how);
    with.hosts = own_broker_->addresses();
    password_ = how.password;
    return *own_broker_;
  }
  testcluster::rabbit_broker& broker() { return own_broker_ ? *own_broker_ : shared(); }
  /// In front of the broker, and consumers and producers that are made later connect to it. The client does not.
  testcluster::proxy& use_proxy() {
    proxy_ = std::make_unique<testcluster::proxy>(
        broker().address(), testcluster::proxy_options{.protocol = testcluster::proxy_protocol::opaque});
    with.hosts = proxy_->address();
    return *proxy_;
  }
  rabbit_client& client() {
    if (!client_) client_ = std::make_unique<rabbit_client>(broker().addresses(), password_);
    return *client_;
  }

  std::string queue(std::uint32_t shard = 0) const { return with.queue + ':' + std::to_string(shard); }

  running_queue_reader& consume(processor does, const std::string& election = "/e") {
    return all.emplace_back(connect(logging()), with, election, options, std::move(does));
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
  /// For what takes seconds and blocks: the context goes on meanwhile, so that no session expires.
  void beside(const std::function<void()>& what) {
    auto done = std::async(std::launch::async, what);
    run_until([&] { return done.wait_for(0s) == std::future_status::ready; }, 3min);
    done.get();
  }

  /// The data is the id and the key, too.
  void put_all(const std::vector<std::string>& data) {
    client().declare(queue());
    std::vector<rabbit_post> posts;
    for (const auto& each : data) posts.push_back({.queue = queue(), .data = each, .id = each, .key = each});
    client().put_all(posts);
  }
  /// Tries until the broker has confirmed it: the queue may hold it more than once then.
  void put_in_the_end(const std::string& data) {
    const rabbit_post what{.queue = queue(), .data = data, .id = data};
    BOOST_TEST_REQUIRE(run_until([&] { return client().try_put(what); }, 2min), data);
  }
  /// A broker that is killed now finds the queue again.
  void await_kept() {
    BOOST_TEST_REQUIRE(run_until([&] { return broker().keeps(queue()); }));
  }
  /// So many messages are ready in the queue. It has none while the broker can not tell.
  bool has_depth(std::size_t messages) {
    try {
      const auto found = client().look_at(queue());
      return found && found->messages >= messages;
    } catch (const rabbit_failure&) {
      return false;
    }
  }
  bool has_results(std::size_t count, std::chrono::milliseconds deadline = patience) {
    return run_until([&] { return children("/results").size() >= count; }, deadline);
  }
  bool has_failed(running_queue_reader& who) {
    return run_until([&] { return who.ended.done(); }) && who.ended.error() == errc::career_failed;
  }
  std::string memory() { return get("/t/0000/_at/consumers").data; }
  std::vector<std::string> letters() {
    return exists("/t/_dead/consumers") ? children("/t/_dead/consumers") : std::vector<std::string>();
  }
  std::string letter() {
    const auto all_letters = letters();
    return all_letters.empty() ? std::string() : get("/t/_dead/consumers/" + all_letters.front()).data;
  }
  /// Ends all consumers, one of which is at work, behind a last message, "end". The acknowledgement of that one may not
  /// have been sent.
  void end_when_all_is_acknowledged() {
    client().put({.queue = queue(), .data = "end", .id = "end"});
    BOOST_TEST_REQUIRE(run_until([&] {
      const auto seen = results();
      return !seen.empty() && seen.back() == "end";
    }));
    end_runs(all);
    for (const auto& each : take_what_is_left()) BOOST_TEST(each == "end");
  }
  std::unique_ptr<rabbit_reader> make_reader(std::uint32_t shard = 0) {
    return std::make_unique<rabbit_reader>(client(), broker().address(), password_, queue(shard));
  }
  /// What a consumer that comes now would get, without repeated ids. Takes it out of the queue.
  std::vector<std::string> take_what_is_left(std::uint32_t shard = 0) { return make_reader(shard)->read_data(); }

  rabbit_options with;
  queue_consumer_options options;
  std::deque<running_queue_reader> all;
  std::shared_ptr<std::vector<std::string>> log = std::make_shared<std::vector<std::string>>();

 private:
  std::string password_of_shared_;
  std::string password_;  // of the broker that the client connects to
  std::unique_ptr<testcluster::rabbit_broker> own_broker_;
  std::unique_ptr<testcluster::proxy> proxy_;
  std::unique_ptr<rabbit_client> client_;
};

}  // namespace zkrecipes::test
