// A case with a broker, and consumers of one of its streams.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <zkrecipes/redis/redis_streams.hpp>

#include <testcluster/redis_broker.hpp>

#include "brokers/broker_case.hpp"
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

/// The stream is "orders:0". Each group has an election of its own; that of the case is "g".
class redis_case : private with_common_broker, public broker_case {
 public:
  using broker_errc = redis_errc;
  inline static const std::string broker_name = "redis";
  inline static const std::string options_name = "redis_options";

  redis_case() : broker_case("g", "/e-g") {
    with.hosts = common_broker().address();
    with.stream = "orders";
    with.shards = 1;
    with.timeout = 2s;
    with.retry = {.first_pause = 5ms, .max_pause = 50ms};
    client().get({"FLUSHALL"});
  }
  void teardown() {
    remove_what_consumers_have_left();
    for (const auto& each : elections_) remove("/e-" + each);
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
  void use_mortal_broker() override { use_own_broker({}); }
  std::string address_of_broker() override { return broker().address(); }
  void kill_broker() override {
    broker().kill();
    client().disconnect();
  }
  void start_broker() override { broker().start(); }
  void demand_password() override { use_own_broker({.password = "open sesame"}); }

  redis_streams source(const session& by) const { return redis_streams(by, "/t", with); }
  running_reader& consume(processor does) override { return consume(std::move(does), "g"); }
  running_reader& consume(processor does, const std::string& group) {
    return consume(connect(logging()), std::move(does), group);
  }
  running_reader& consume(session by, processor does, const std::string& group = "g") {
    create_election(group);
    const auto from = source(by).feed(0, group);
    return begin(std::move(by), from, "/e-" + group, std::move(does));
  }
  void create_election(const std::string& group) {
    if (exists("/e-" + group)) return;
    create("/e-" + group);
    elections_.push_back(group);
  }

  void put_all(const std::vector<std::string>& data) override {
    for (const auto& each : data) client().add("orders:0", each, each);
  }
  std::string put_with_key(const std::string& data, const std::string& key) override {
    return client().add("orders:0", key, data);
  }
  void put_in_the_end(const std::string& data) override { put_all({data}); }
  bool has_source() override { return client().get({"EXISTS", with.stream + ":0"})->integer == 1; }
  std::string& name_of_source() override { return with.stream; }
  std::string last_id() {
    const auto last = client().get({"XREVRANGE", "orders:0", "+", "-", "COUNT", "1"});
    return last->element[0]->element[0]->str;
  }
  std::string position() { return stored(); }

  /// No entry was removed.
  void end_consumers(std::size_t count) override {
    end_runs(all);
    BOOST_TEST(client().length("orders:0") == static_cast<long long>(count));
  }
  void check_records(const running_reader& who, std::uint64_t last) override {
    BOOST_TEST(position() == "{\"zkrecipes\":\"stream_position\",\"last\":\"" + last_id() + "\"}");
    BOOST_TEST(get("/t").data ==
               "{\"zkrecipes\":\"redis_streams\",\"count\":1,\"hash\":\"crc32\",\"stream\":\"orders\"}");
    BOOST_TEST(who.does.status().done == last);
    BOOST_TEST(client().length("orders:0") == static_cast<long long>(last));
  }
  void check_departure() override {}  // it gives entries to nobody, so it has none to take back

  redis_options with;

 private:
  std::unique_ptr<testcluster::redis_broker> own_broker_;
  std::unique_ptr<redis_client> client_;
  std::vector<std::string> elections_;
};

/// Cases with a broker that loses messages.
/// `Case`: a `redis_case`. All that is put behind the SAVE is lost by a kill.
template <class Case>
struct lossy_case : Case {
  lossy_case() { this->use_own_broker({.durability = testcluster::redis_durability::none}); }

  void lose_what_was_put_since_the_save() {
    this->kill_broker();
    this->start_broker();
  }
};

}  // namespace zkrecipes::test
