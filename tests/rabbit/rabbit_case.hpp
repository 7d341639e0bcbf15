// A case with a broker, and consumers of one of its queues.
#pragma once

#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

#include <testcluster/rabbit_broker.hpp>

#include "brokers/broker_case.hpp"
#include "rabbit/rabbit_client.hpp"

namespace zkrecipes::test {

// Reads what producers have put into a queue.

/// A consumer of the bare kind: it takes the messages out of the queue, for good. The queue must have no other consumer
/// at the time, because a single one gets messages.
class rabbit_reader {
 public:
  /// `client`: puts a mark behind what is there, so that nothing needs to be waited for that may not come.
  rabbit_reader(rabbit_client& client, const std::string& host, const std::string& password, std::string queue)
      : client_(client), queue_(std::move(queue)), channel_(host, password) {
    channel_.consume(queue_, true, 0);
  }

  /// All messages that were ever in the queue, each id once, as a consumer of the library takes them.
  const std::vector<rabbit_delivery>& read() {
    const auto mark = "mark " + std::to_string(++marks_);
    client_.put({.queue = queue_, .data = mark});
    for (auto next = channel_.next(); !next.id.empty() || next.data != mark; next = channel_.next()) {
      const bool is_repeat = !next.id.empty() && !ids_.insert(next.id).second;
      if (is_repeat) ++repeats_;
      if (!is_repeat) all_.push_back(std::move(next));
    }
    return all_;
  }
  std::vector<std::string> read_data() {
    std::vector<std::string> data;
    for (const auto& each : read()) data.push_back(each.data);
    return data;
  }
  /// Messages whose id was read before.
  std::size_t repeats() const { return repeats_; }

 private:
  rabbit_client& client_;
  std::string queue_;
  rabbit_channel channel_;
  int marks_ = 0;
  std::size_t repeats_ = 0;
  std::set<std::string> ids_;
  std::vector<rabbit_delivery> all_;
};

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

/// Each case has queues of its own; `queue()` is that of shard 0. Consumers stand under the election "/e".
class rabbit_case : protected with_shared_rabbit, public broker_case {
 public:
  using broker_errc = rabbit_errc;
  inline static const std::string broker_name = "rabbitmq";
  inline static const std::string options_name = "rabbit_options";

  /// `which`: the broker unless the case has one of its own. `password`: of its user, guest.
  explicit rabbit_case(getter which = &common_rabbit, const std::string& password = "guest")
      : with_shared_rabbit(which), broker_case("consumers", "/e"), password_of_shared_(password), password_(password) {
    static int cases = 0;
    create("/e");
    with.hosts = shared().addresses();
    with.queue = "orders-" + std::to_string(++cases);
    with.shards = 1;
    with.retry = {.first_pause = 5ms, .max_pause = 50ms};
  }
  void teardown() {
    remove_what_consumers_have_left();
    remove_tree("/e");
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

  /// All cases share it, because it takes five seconds to start.
  void use_mortal_broker() override {}
  std::string address_of_broker() override { return broker().address(); }
  void kill_broker() override {
    await_kept();
    broker().kill();
    client().disconnect();
  }
  void start_broker() override {
    beside([&] { broker().start(); });
  }
  void demand_password() override {}  // each broker does

  std::string queue(std::uint32_t shard = 0) const { return with.queue + ':' + std::to_string(shard); }

  rabbit_queues source(const session& by) const { return rabbit_queues(by, "/t", with); }
  running_reader& consume(processor does) override { return consume(std::move(does), "/e"); }
  running_reader& consume(processor does, const std::string& where) {
    return consume(connect(logging()), std::move(does), where);
  }
  running_reader& consume(session by, processor does, const std::string& where = "/e") {
    const auto from = source(by).feed(0);
    return begin(std::move(by), from, where, std::move(does));
  }
  /// For what takes seconds and blocks: the context goes on meanwhile, so that no session expires.
  void beside(const std::function<void()>& what) {
    auto done = std::async(std::launch::async, what);
    run_until([&] { return done.wait_for(0s) == std::future_status::ready; }, 3min);
    done.get();
  }

  /// The data is the id and the key, too.
  void put_all(const std::vector<std::string>& data) override {
    client().declare(queue());
    std::vector<rabbit_post> posts;
    for (const auto& each : data) posts.push_back({.queue = queue(), .data = each, .id = each, .key = each});
    client().put_all(posts);
  }
  std::string put_with_key(const std::string& data, const std::string& key) override {
    client().declare(queue());
    const auto id = "id of " + data.substr(0, 200);
    client().put({.queue = queue(), .data = data, .id = id, .key = key});
    return id;
  }
  /// Tries until the broker has confirmed it: the queue may hold it more than once then.
  void put_in_the_end(const std::string& data) override {
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
  bool has_source() override { return client().look_at(queue()).has_value(); }
  std::string& name_of_source() override { return with.queue; }
  std::string memory() { return stored(); }
  void check_records(const running_reader& who, std::uint64_t last) override {
    BOOST_TEST_REQUIRE(run_until([&] { return who.does.status().done == last; }));
    BOOST_TEST(get("/t").data ==
               R"({"zkrecipes":"rabbit_queues","count":1,"hash":"crc32","queue":")" + with.queue + "\"}");
    BOOST_TEST(memory().find("delivery_memory") != std::string::npos, memory());
  }
  void check_departure() override {
    BOOST_TEST(run_until([&] { return client().look_at(queue())->consumers == 0; }));
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
  void end_consumers(std::size_t) override { end_when_all_is_acknowledged(); }
  std::unique_ptr<rabbit_reader> make_reader(std::uint32_t shard = 0) {
    return std::make_unique<rabbit_reader>(client(), broker().address(), password_, queue(shard));
  }
  /// What a consumer that comes now would get, without repeated ids. Takes it out of the queue.
  std::vector<std::string> take_what_is_left(std::uint32_t shard = 0) { return make_reader(shard)->read_data(); }

  rabbit_options with;

 private:
  std::string password_of_shared_;
  std::string password_;  // of the broker that the client connects to
  std::unique_ptr<testcluster::rabbit_broker> own_broker_;
  std::unique_ptr<testcluster::proxy> proxy_;
  std::unique_ptr<rabbit_client> client_;
};

}  // namespace zkrecipes::test
