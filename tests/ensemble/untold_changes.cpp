// Changes of nodes that a session may not read at that moment: a server uses the watches up, and tells nothing.
#include <zkrecipes/barrier.hpp>
#include <zkrecipes/children_view.hpp>
#include <zkrecipes/lock.hpp>
#include <zkrecipes/shared_value.hpp>

#include "ensemble/ensemble_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

const acl not_to_be_read{{perm_all & ~perm_read, "world", "anyone"}};

struct untold : ensemble_case {
  void teardown() {
    far_.reset();
    ensemble_case::teardown();
  }
  /// A session whose heartbeats follow one another quickly.
  session& far() {
    auto with = far_options();
    with.timeout = 4s;
    if (!far_) far_ = std::make_unique<session>(connect_far(with));
    return *far_;
  }
  void set(const std::string& path, const acl& rights) {
    BOOST_TEST_REQUIRE(!std::get<0>(run(zk().async_set_acl(path, rights, any_version, tuple))));
  }
  ownership acquire(const lock& which) { return must(run(lock(which).async_acquire(tuple))); }
  void await(const std::function<bool()>& condition) { BOOST_TEST_REQUIRE(run_until(condition)); }

 private:
  std::unique_ptr<session> far_;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(untold_changes, untold)

BOOST_AUTO_TEST_CASE(who_waits_finds_them_out) {
  create("/b");
  create("/v");
  create("/v/a", "1");
  auto held = acquire(lock(zk(), "/l"));
  recorder<> lifted(executor());
  barrier(far(), "/b").async_wait(lifted.token());
  recorder<ownership> waiting(executor());
  lock(far(), "/l").async_acquire(waiting.token());
  children_view view(far(), "/v");
  children_view late(far(), "/late");
  await([&] { return children("/l").size() == 2 && !view.snapshot().nodes.empty(); });
  settle(far());
  settle(far());  // all watches are set
  const std::vector<std::string> closed{"/b", "/v", "/v/a", held.path()};
  for (const auto& each : closed) set(each, not_to_be_read);
  create("/v/b", "1");
  BOOST_TEST(!std::get<0>(run(zk().async_set("/v/a", "2", any_version, tuple))));
  BOOST_TEST(!std::get<0>(run(zk().async_create("/late", "", create_mode::persistent, not_to_be_read, tuple))));
  remove("/b");
  BOOST_TEST(!std::get<0>(run(held.async_release(tuple))));
  for (const auto* each : {"/v", "/v/a", "/late"}) set(each, open_acl());
  create("/late/x");
  await([&] { return lifted.done() && waiting.done(); });
  BOOST_TEST(!lifted.error());
  BOOST_TEST(!waiting.error());
  await([&] {
    const auto seen = view.snapshot().nodes;
    return seen.size() == 2 && seen[0]->data == "2" && late.snapshot().nodes.size() == 1;
  });
  BOOST_TEST(!std::get<0>(run(waiting.result<0>().async_release(tuple))));
  for (const auto* each : {"/late/x", "/late", "/v/a", "/v/b", "/v", "/l"}) remove(each);
}

// The connection breaks while the node may not be read, so the owner can not watch it.
BOOST_AUTO_TEST_CASE(an_owner_hears_of_a_removal_although_it_was_refused_before) {
  auto held = acquire(lock(far(), "/l"));
  set(held.path(), not_to_be_read);
  disconnect(far());
  reconnect();
  await([&] { return far().status().state == session_state::connected; });
  settle(far());
  BOOST_TEST(held.valid());
  set(held.path(), open_acl());
  recorder<> revoked(executor());
  held.async_revoked(revoked.token());
  BOOST_TEST(!std::get<0>(run(lock(zk(), "/l").async_request_revocation(1h, tuple))));
  await([&] { return revoked.done(); });
  BOOST_TEST((revoked.error() == errc::revoked), revoked.error().message());
  remove(held.path());
  await([&] { return !held.valid(); });
  BOOST_TEST(held.error() == errc::node_removed);
  remove("/l");
}

BOOST_AUTO_TEST_SUITE_END()
