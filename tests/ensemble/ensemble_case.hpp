// A case with a proxy of its own, for faults that only one session meets.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "ensemble/print.hpp"
#include "support/fixture.hpp"
#include "support/tls_front.hpp"

namespace zkrecipes::test {

class ensemble_case : public fixture {
 public:
  void teardown() {
    if (own_) {
      own_->freeze(false);
      own_->refuse(false);
      BOOST_TEST(run_until([&] { return own_->connections() == 0; }, time_limit),
                 "a session is kept open by nobody we know");
      front_.reset();
      own_.reset();
    }
    fixture::teardown();
  }

  /// The proxy, in front of server 1.
  testcluster::proxy& own() {
    if (!own_) own_ = std::make_unique<testcluster::proxy>(direct_hosts()[0]);
    return *own_;
  }

  session_options far_options() {
    auto with = options();
    with.hosts = own().address();
    if (over_tls() && !front_) front_ = std::make_unique<tls_front>(with.hosts);
    if (front_) with.hosts = front_->address();
    return with;
  }

  /// A session that is connected through `own`, and has got the answers to the first requests that every session sends.
  session connect_far(session_options with) {
    auto far = connect(std::move(with));
    settle(far);
    return far;
  }
  session connect_far() { return connect_far(far_options()); }

  /// Breaks the connection of a session made by `connect_far`; the session gets no other one until `reconnect`.
  void disconnect(const session& far) {
    own().refuse(true);
    own().cut();
    BOOST_TEST_REQUIRE(run_until([&] { return far.status().state == session_state::suspended; }));
  }
  void reconnect() { own().refuse(false); }

  /// Sets an ACL, and waits until it allows these operations, or forbids them. The leader goes by the old ACL until it
  /// has applied the new one itself, which may be after the server that answered us.
  void set_rights(const std::string& path, const acl& rights, transaction probe, bool allows) {
    must(run(zk().async_set_acl(path, rights, any_version, tuple)));
    const auto in_vain = probe.check("/nothing-of-this-name");
    const auto is_forbidden = [&] { return std::get<0>(run(zk().async_commit(in_vain, tuple))) == errc::no_auth; };
    BOOST_TEST_REQUIRE(run_until([&] { return is_forbidden() != allows; }));
  }
  void forbid_writing(const std::string& path, const acl& rights) {
    set_rights(path, rights, transaction().set(path, ""), false);
  }
  void forbid_creating(const std::string& path, const acl& rights) {
    set_rights(path, rights, transaction().create(path + "/probe"), false);
  }
  void allow_creating(const std::string& path) {
    set_rights(path, open_acl(), transaction().create(path + "/probe"), true);
  }
  void forbid_deleting(const std::string& path, const acl& rights) {
    set_rights(path, rights, transaction().create(path + "/probe").remove(path + "/probe"), false);
  }

  /// Waits for an answer that comes behind every event that the server had for the session before.
  void settle(session& which) { catch_up(which); }

  // `zk` sees what others have done only after it has caught up, because its server may lag behind.
  node_data get(const std::string& path) {
    settle(zk());
    return fixture::get(path);
  }
  std::vector<std::string> children(const std::string& path) {
    settle(zk());
    return fixture::children(path);
  }
  bool exists(const std::string& path) {
    settle(zk());
    return !std::get<0>(run(zk().async_exists(path, tuple)));
  }

  /// The effects of messages, in the order in which they happened.
  std::vector<std::string> results() {
    auto names = children("/results");
    std::sort(names.begin(), names.end());
    std::vector<std::string> seen;
    for (const auto& each : names) seen.push_back(get("/results/" + each).data);
    return seen;
  }
  /// Ends consumers, each with its coordinator, without an error.
  template <class Runs>
  void end_runs(Runs& all) {
    for (auto& each : all) each.coordinator.stop();
    auto is_ended = [](const auto& each) { return each.ended.done(); };
    BOOST_TEST(run_until([&] { return std::all_of(all.begin(), all.end(), is_ended); }));
    for (auto& each : all) BOOST_TEST(!each.ended.error(), each.ended.error().message());
    all.clear();
  }

 private:
  std::unique_ptr<testcluster::proxy> own_;
  std::unique_ptr<tls_front> front_;  // of `own_`, over TLS
};

inline std::vector<std::string> numbers(int from, int to) {
  std::vector<std::string> all;
  for (int i = from; i <= to; ++i) all.push_back(std::to_string(i));
  return all;
}

}  // namespace zkrecipes::test
