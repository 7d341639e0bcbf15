// A member of a shared balance in the fake world.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/flow/shared_balance.hpp>

#include "balance/pacer.hpp"
#include "unit/fake_session.hpp"

namespace zkrecipes::test {

/// The range is 8, so granules are of 2 steps.
struct member_case : fake_session {
  member_case() : pace(zk, "/p", {.id = "me", .range = 8}), ended(record<>()) {
    connect();
    pace.async_run(ended.token());
    track = pace.track("t");
    settle();
  }

  static backend::reply limit_at(std::int64_t limit, std::int64_t zxid, std::int64_t range = 8) {
    backend::reply node;
    node.data = serialize(detail::limit_record{range, limit});
    node.stat.mzxid = zxid;
    node.stat.version = static_cast<std::int32_t>(zxid);
    return node;
  }
  /// Joins while the limit is this, and answers the first reads of the tasks: alone, so it is the pacer.
  void join(std::int64_t limit) {
    CHECK_PENDING("get /p/limit");
    answer(limit_at(limit, 1));
    CHECK_PENDING("multi /", "get /p/limit");
    const auto both = answer();
    BOOST_TEST_REQUIRE(both.operations.size() == 2u);
    BOOST_TEST((both.operations[0].mode == create_mode::ephemeral));
    name = both.operations[0].path.substr(std::string("/p/members/").size());
    BOOST_TEST((both.operations[1].type == operation::kind::set));
    BOOST_TEST(both.operations[1].path == "/p/members");
    BOOST_TEST(both.operations[1].version == any_version);  // it need not win a race
    answer(limit_at(limit, 1));
    CHECK_PENDING("get /p/limit", "children /p/members");
    answer(limit_at(limit, 1));
    list_members({name}, 3);
  }
  void list_members(std::vector<std::string> names, std::int32_t version) {
    answer_with({.stat = {.version = version}, .children = std::move(names)});
  }
  int steps(int most = 100) {
    int made = 0;
    while (made < most && track.try_move()) ++made;
    settle();
    return made;
  }
  std::string own_node() const { return "/p/members/" + name; }
  static backend::reply written(std::int64_t zxid) {
    backend::reply done;
    done.results.resize(3);
    done.results[1].stat.mzxid = zxid;
    done.results[1].stat.version = static_cast<std::int32_t>(zxid);
    return done;
  }

  shared_balance pace;
  shared_balance_track track;
  recorder<> ended;
  std::string name;
};

}  // namespace zkrecipes::test
