// A fixture with the members of a shard group at `/g`, and what `zkadmin groups` says of it.
#pragma once

#include <deque>
#include <functional>
#include <string>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "live/admin_fixture.hpp"
#include "live/shard_worker.hpp"

/// The group is removed at the end.
class group_fixture : public admin_fixture {
 public:
  static constexpr std::uint32_t shards = 6;

  void teardown() {
    for (auto& each : members_) stop(each);
    members_.clear();
    if (contains("/g")) {
      for (const char* folder : {"/g/member", "/g/_planner"})
        BOOST_TEST(run_until([&] { return !contains(folder) || children(folder).empty(); }));
      remove_tree("/g");
    }
    admin_fixture::teardown();
  }

  shard_worker& add(const std::string& id, std::chrono::milliseconds grace = std::chrono::milliseconds(0)) {
    return add(id, grace, connect());
  }
  shard_worker& add(const std::string& id, std::chrono::milliseconds grace, zkrecipes::session over) {
    zkrecipes::shard_group_options with;
    with.id = id;
    with.shards = shards;
    with.data = "host-of-" + id;
    with.grace = grace;
    with.collect = std::chrono::milliseconds(50);
    with.max_moves = 1;
    return members_.emplace_back(std::move(over), "/g", with);
  }
  void stop(shard_worker& member) {
    member.stop();
    BOOST_TEST(run_until([&] { return member.has_ended(); }));
  }
  void stop_member(std::size_t which) { stop(members_.at(which)); }
  /// Waits until all shards are executed.
  void wait_complete() {
    BOOST_TEST_REQUIRE(run_until([this] {
      int all = 0;
      for (const auto& each : members_) all += each.executing();
      return all == static_cast<int>(shards);
    }));
  }

  boost::json::value groups() {
    const auto result = zkadmin({"groups", "-o", "json"});
    BOOST_TEST(result.code == 0, result.err);
    return boost::json::parse(result.out);
  }
  /// The group once the condition holds for it.
  boost::json::object group(const std::function<bool(const boost::json::object&)>& condition) {
    boost::json::object found;
    const bool holds = run_until([&] {
      const auto document = groups();
      const auto& all = document.at("groups").as_array();
      if (all.size() == 1) found = all[0].as_object();
      return !found.empty() && condition(found);
    });
    BOOST_TEST_REQUIRE(holds, boost::json::serialize(found));
    return found;
  }
  boost::json::object group_owning(std::int64_t owned) {
    return group([owned](const auto& each) { return each.at("owned").as_int64() == owned; });
  }

 private:
  void remove_tree(const std::string& path) {
    for (const auto& each : children(path)) remove_tree(path + "/" + each);
    remove(path);
  }

  std::deque<shard_worker> members_;
};
