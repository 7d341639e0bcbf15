// Groups: members, and nodes that only look like members.
#include <deque>
#include <map>
#include <set>

#include <zkrecipes/membership.hpp>
#include <zkrecipes/service_provider.hpp>

#include "ensemble/ensemble_case.hpp"
#include "ensemble/request_log.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

class groups : public ensemble_case {
 public:
  void teardown() {
    remove("/g");  // throws, which fails the case, if a member is left
    ensemble_case::teardown();
  }

  joined_member join(membership& group, const std::string& name, const std::string& data = {}) {
    return must(run(group.async_join(name, data, tuple)));
  }
  error_code join_error(membership& group, const std::string& name, const std::string& data = {}) {
    return std::get<0>(run(group.async_join(name, data, tuple)));
  }
  void leave(joined_member member) { BOOST_TEST(!std::get<0>(run(member.async_leave(tuple)))); }
  children_snapshot current(children_view& view) { return std::get<1>(run(view.async_current(tuple))); }
  children_change change(children_view& view, const children_snapshot& seen) {
    return must(run(view.async_change(seen, tuple)));
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(memberships, groups)

BOOST_AUTO_TEST_CASE(joins_updates_and_leaves_are_seen) {
  session other = connect();
  membership ours(zk(), "/g");
  membership theirs(other, "/g");
  auto me = join(ours, "me", "1");
  catch_up(other);  // its server may lag behind
  auto view = theirs.watch();
  auto seen = current(view);
  BOOST_TEST_REQUIRE(seen.nodes.size() == 1u);
  BOOST_TEST(seen.nodes[0]->name == "me");
  BOOST_TEST(seen.nodes[0]->data == "1");
  BOOST_TEST(seen.nodes[0]->stat.ephemeral_owner == zk().status().session_id);
  BOOST_TEST(!std::get<0>(run(me.async_update("2", tuple))));
  auto updated = change(view, seen);
  BOOST_TEST_REQUIRE(updated.changed.size() == 1u);
  BOOST_TEST(updated.changed[0]->data == "2");
  leave(std::move(me));
  BOOST_TEST(change(view, updated.now).removed.size() == 1u);
}

BOOST_AUTO_TEST_CASE(an_expired_member_joins_again_with_its_last_data) {
  session other = connect();
  membership theirs(other, "/g");
  auto they = join(theirs, "they", "1");
  BOOST_TEST(!std::get<0>(run(they.async_update("2", tuple))));
  catch_up(zk());
  auto view = membership(zk(), "/g").watch();
  auto seen = current(view);
  cluster().expire(other.status().session_id);
  BOOST_TEST_REQUIRE(run_until([&] { return they.status().created == 2; }));
  auto now = change(view, seen);
  while (now.now.nodes.empty()) now = change(view, now.now);
  BOOST_TEST(now.now.nodes[0]->data == "2");
  BOOST_TEST(now.now.nodes[0]->stat.czxid > seen.nodes[0]->stat.czxid);
  leave(std::move(they));
}

BOOST_AUTO_TEST_CASE(a_name_has_one_owner) {
  auto other = std::make_unique<session>(connect());
  membership theirs(*other, "/g");
  membership ours(zk(), "/g");
  membership patient(zk(), "/g", {.wait_for_name = true});
  auto they = join(theirs, "name", "theirs");
  BOOST_TEST(join_error(ours, "name", "ours") == errc::busy);
  auto cut_short = patient.async_join("name", "ours", recorded());
  auto waiting = patient.async_join("name", "ours", recorded());
  settle(zk());
  BOOST_TEST(!waiting.done());
  cut_short.cancel();
  BOOST_TEST_REQUIRE(ends_with(cut_short, asio::error::operation_aborted));
  BOOST_TEST(get("/g/name").data == "theirs");
  leave(std::move(they));
  BOOST_TEST_REQUIRE(succeeds(waiting));
  BOOST_TEST(get("/g/name").data == "ours");
  leave(std::move(waiting.result<0>()));
}

BOOST_AUTO_TEST_CASE(a_bad_name_is_refused_and_a_foreign_node_is_no_member) {
  membership group(zk(), "/g");
  for (const auto* name : {"", "a/b", "/", ".", "..", "a\n"})
    BOOST_TEST(join_error(group, name) == errc::bad_arguments);
  BOOST_TEST(join_error(group, "a", std::string(1'000'001, 'x')) == errc::too_large);
  BOOST_CHECK_THROW(membership(zk(), "g"), std::invalid_argument);
  auto me = join(group, "me");
  create("/g/config", "of somebody else");
  BOOST_TEST(join_error(group, "config") == errc::foreign_data);
  auto view = group.watch();
  auto seen = current(view);
  BOOST_TEST_REQUIRE(seen.nodes.size() == 1u);
  BOOST_TEST(seen.nodes[0]->name == "me");
  remove("/g/config");
  leave(std::move(me));
}

BOOST_AUTO_TEST_CASE(a_cancelled_join_leaves_no_node) {
  membership close_by(zk(), "/g");
  leave(join(close_by, "first"));
  auto far = connect_far();
  membership group(far, "/g");
  own().set_delay(50ms);
  const auto before = far.counters().requests;
  auto joining = group.async_join("me", "", recorded());
  BOOST_TEST(run_until([&] { return far.counters().requests > before; }));
  joining.cancel();
  BOOST_TEST_REQUIRE(ends_with(joining, asio::error::operation_aborted));
  own().set_delay(0ms);
  settle(far);
  BOOST_TEST(run_until([&] { return children("/g").empty(); }));
}

BOOST_AUTO_TEST_CASE(a_thousand_members) {
  membership group(zk(), "/g");
  std::deque<joined_member> members;
  std::size_t joined = 0;
  for (int i = 0; i < 1'000; ++i) {
    group.async_join("m" + std::to_string(i), "data", [&](error_code error, joined_member member) {
      BOOST_TEST(!error, error.message());
      members.push_back(std::move(member));
      ++joined;
    });
  }
  BOOST_TEST_REQUIRE(run_until([&] { return joined == 1'000; }));
  request_log log;
  auto with = far_options();
  with.trace = log.hook();
  auto watching = connect_far(with);
  constexpr auto round_trip = 400ms;
  own().set_delay(round_trip / 2);
  log.clear();
  const auto began = std::chrono::steady_clock::now();
  auto view = membership(watching, "/g").watch();
  BOOST_TEST(current(view).nodes.size() == 1'000u);
  const auto took = std::chrono::steady_clock::now() - began;
  BOOST_TEST((took >= 2 * round_trip));
  BOOST_TEST((took < 2 * round_trip + 2s), "two round trips, not one for each");
  BOOST_TEST(log.count("children") == 1);
  BOOST_TEST(log.count("get") == 1'000);
  own().set_delay(0ms);
  members.clear();
  BOOST_TEST(run_until([&] { return view.snapshot().nodes.empty(); }));
}

BOOST_AUTO_TEST_SUITE_END()

// Services are registered, seen and chosen; Curator's layout and JSON.
namespace {

std::string ids(const std::vector<service_instance>& instances) {
  std::string all;
  for (const auto& each : instances) all += (all.empty() ? "" : " ") + each.id;
  return all;
}

service_instance instance(const std::string& id) {
  return {.name = "billing", .id = id, .address = "10.0.0.7", .port = 8080};
}

class discoveries : public ensemble_case {
 public:
  void teardown() {
    for (const auto* each : {"/s/billing", "/s"}) remove(each);  // throws, which fails the case, if an instance is left
    ensemble_case::teardown();
  }

  service_registration enlist(service_discovery& at, service_instance what) {
    return must(run(at.async_register(std::move(what), tuple)));
  }
  error_code enlist_error(service_discovery& at, service_instance what) {
    return std::get<0>(run(at.async_register(std::move(what), tuple)));
  }
  void unregister(service_registration which) { BOOST_TEST(!std::get<0>(run(which.async_unregister(tuple)))); }
  service_snapshot current(service_view& view) { return must(run(view.async_current(tuple))); }
  service_change change(service_view& view, const service_snapshot& seen) {
    return must(run(view.async_change(seen, tuple)));
  }
  std::string pick(service_provider& from) {
    auto result = run(from.async_pick(tuple));
    return std::get<0>(result) ? std::get<0>(result).message() : std::get<1>(result).id;
  }
  /// Waits until the provider chooses this instance, and so has seen all that it is to choose from.
  void await(service_provider& from, const std::string& id) {
    BOOST_TEST_REQUIRE(run_until([&] { return pick(from) == id; }));
  }
};

const auto nobody = make_error_code(errc::no_node).message();

}  // namespace

BOOST_FIXTURE_TEST_SUITE(discovery, discoveries)

BOOST_AUTO_TEST_CASE(it_is_written_as_curator_writes_it) {
  service_discovery ours(zk(), "/s");
  auto what = instance("i-1");
  what.registration_time = 1234;
  auto registered = enlist(ours, what);
  BOOST_TEST(registered.path() == "/s/billing/i-1");
  const auto node = get("/s/billing/i-1");
  BOOST_TEST(node.data ==
             R"({"name":"billing","id":"i-1","address":"10.0.0.7","port":8080,"sslPort":null,"payload":null,)"
             R"("registrationTimeUTC":1234,"serviceType":"DYNAMIC","uriSpec":null,"enabled":true})");
  BOOST_TEST(node.stat.ephemeral_owner == zk().status().session_id);
  auto names = run(ours.async_services(tuple));
  BOOST_TEST((std::get<1>(names) == std::vector<std::string>{"billing"}));
  BOOST_TEST(std::get<1>(run(service_discovery(zk(), "/nowhere").async_services(tuple))).empty());
  auto made_up = instance("");
  auto other = enlist(ours, made_up);
  BOOST_TEST(other.path().size() == std::string("/s/billing/").size() + 36);
  const auto found = parse_service_instance(get(other.path()).data);
  BOOST_TEST_REQUIRE(found.has_value());
  BOOST_TEST("/s/billing/" + found->id == other.path());
  BOOST_TEST(found->registration_time > 1'600'000'000'000);
  unregister(std::move(registered));
  unregister(std::move(other));
}

BOOST_AUTO_TEST_CASE(differences_are_told_and_a_broken_node_hides_nobody) {
  service_discovery ours(zk(), "/s");
  auto one = enlist(ours, instance("1"));
  auto view = ours.watch("billing");
  auto seen = current(view);
  BOOST_TEST(ids(seen.instances) == "1");
  create("/s/billing/0", "not JSON");
  auto broken = change(view, seen);
  BOOST_TEST(ids(broken.now.instances) == "1");
  BOOST_TEST_REQUIRE(broken.now.broken.size() == 1u);
  BOOST_TEST((broken.now.broken[0] == broken_instance{"0", errc::foreign_data}));
  BOOST_TEST(ids(broken.added) + ids(broken.changed) + ids(broken.removed) == "");
  auto two = enlist(ours, instance("2"));
  auto added = change(view, broken.now);
  BOOST_TEST(ids(added.added) == "2");
  BOOST_TEST(!std::get<0>(run(two.async_set_enabled(false, tuple))));
  auto drained = change(view, added.now);
  BOOST_TEST(ids(drained.changed) == "2");
  BOOST_TEST(!drained.changed[0].enabled);
  auto moved = instance("1");
  moved.port = 9090;
  BOOST_TEST(!std::get<0>(run(one.async_update(moved, tuple))));
  auto changed = change(view, drained.now);
  BOOST_TEST(ids(changed.changed) == "1");
  BOOST_TEST((changed.changed[0].port == 9090));
  BOOST_TEST(std::get<0>(run(one.async_update(instance("3"), tuple))) == errc::bad_arguments);
  unregister(std::move(two));
  auto removed = change(view, changed.now);
  BOOST_TEST(ids(removed.removed) == "2");
  BOOST_TEST(ids(removed.now.instances) == "1");
  remove("/s/billing/0");
  unregister(std::move(one));
}

BOOST_AUTO_TEST_CASE(a_reconnect_writes_nothing_and_nobody_sees_it) {
  request_log log;
  auto with = far_options();
  with.trace = log.hook();
  auto far = connect_far(with);
  service_discovery theirs(far, "/s");
  auto registered = enlist(theirs, instance("1"));
  auto view = service_discovery(zk(), "/s").watch("billing");
  auto seen = current(view);
  const auto before = get("/s/billing/1").stat;
  log.clear();
  for (int i = 0; i < 3; ++i) {
    const auto looks = log.count("get");
    disconnect(far);
    reconnect();
    BOOST_TEST_REQUIRE(run_until([&] { return log.count("get") > looks; }));
  }
  BOOST_TEST(log.count("create") + log.count("set") + log.count("remove") == 0, "CURATOR-164");
  BOOST_TEST((get("/s/billing/1").stat == before));
  auto flap = view.async_change(seen, recorded());
  settle(zk());
  BOOST_TEST(!flap.done());
  // The next session neither forgets what was updated since, nor brings back what was unregistered.
  BOOST_TEST(!std::get<0>(run(registered.async_set_enabled(false, tuple))));
  auto second = enlist(theirs, instance("2"));
  unregister(std::move(second));
  cluster().expire(far.status().session_id);
  BOOST_TEST_REQUIRE(run_until([&] { return registered.status().created == 2; }));
  BOOST_TEST(!parse_service_instance(get("/s/billing/1").data)->enabled);
  BOOST_TEST(children("/s/billing").size() == 1u);
  BOOST_TEST(run_until([&] { return flap.done(); }));
  unregister(std::move(registered));
}

BOOST_AUTO_TEST_CASE(an_id_has_one_owner_and_bad_descriptions_are_refused) {
  session other = connect();
  service_discovery theirs(other, "/s");
  service_discovery ours(zk(), "/s");
  auto they = enlist(theirs, instance("1"));
  auto elsewhere = instance("1");
  elsewhere.address = "10.0.0.8";
  BOOST_TEST(enlist_error(ours, elsewhere) == errc::busy);
  BOOST_TEST(get("/s/billing/1").stat.ephemeral_owner == other.status().session_id);
  auto refused = [&](auto spoil) {
    auto what = instance("2");
    spoil(what);
    return enlist_error(ours, what) == errc::bad_arguments;
  };
  BOOST_TEST(refused([](auto& i) { i.id = "a/b"; }));
  BOOST_TEST(refused([](auto& i) { i.name = ""; }));
  BOOST_TEST(refused([](auto& i) { i.name = "a/b"; }));
  BOOST_TEST(refused([](auto& i) { i.address = "\xff"; }));
  BOOST_TEST(refused([](auto& i) { i.payload = "{"; }));
  BOOST_TEST(refused([](auto& i) { i.type = service_type::permanent; }));
  BOOST_TEST(refused([](auto& i) { i.type = service_type::dynamic_sequential; }));
  auto large = instance("2");
  large.payload = '"' + std::string(1'000'000, 'x') + '"';
  BOOST_TEST(enlist_error(ours, large) == errc::too_large);
  BOOST_CHECK_THROW(service_discovery(zk(), "s"), std::invalid_argument);
  BOOST_CHECK_THROW(ours.watch("a/b"), std::invalid_argument);
  BOOST_CHECK_THROW(service_provider(ours, "a/b"), std::invalid_argument);
  BOOST_CHECK_THROW(service_provider(ours, "billing", {.errors_until_rest = 0}), std::invalid_argument);
  BOOST_CHECK_THROW(service_provider(ours, "billing", {.rest = 0ms}), std::invalid_argument);
  auto fixed = instance("3");
  fixed.type = service_type::static_node;
  auto standing = enlist(ours, fixed);
  BOOST_TEST(get("/s/billing/3").stat.ephemeral_owner == 0);
  unregister(std::move(standing));
  unregister(std::move(they));
}

BOOST_AUTO_TEST_CASE(a_static_id_has_one_address) {
  auto fixed = instance("1");
  fixed.type = service_type::static_node;
  session other = connect();
  service_discovery theirs(other, "/s");
  service_discovery ours(zk(), "/s");
  auto they = enlist(theirs, fixed);
  const auto before = get("/s/billing/1");
  auto elsewhere = fixed;
  elsewhere.address = "10.0.0.8";
  BOOST_TEST(enlist_error(ours, elsewhere) == errc::foreign_data);
  elsewhere = fixed;
  elsewhere.port = 8081;
  BOOST_TEST(enlist_error(ours, elsewhere) == errc::foreign_data);
  BOOST_TEST(enlist_error(ours, instance("1")) == errc::foreign_data, "a dynamic one");
  BOOST_TEST((get("/s/billing/1").stat == before.stat), "what failed has touched nothing");
  run(other.async_close(tuple));
  BOOST_TEST(std::get<0>(run(they.async_unregister(tuple))) == errc::closed);
  BOOST_TEST((get("/s/billing/1").stat == before.stat), "it outlives its session");
  // A process that starts again at this address takes its own registration over.
  fixed.enabled = false;
  auto again = enlist(ours, fixed);
  BOOST_TEST(get("/s/billing/1").stat.czxid == before.stat.czxid);
  BOOST_TEST(!parse_service_instance(get("/s/billing/1").data)->enabled);
  unregister(std::move(again));
  BOOST_TEST(!exists("/s/billing/1"));
}

BOOST_AUTO_TEST_CASE(strategies) {
  service_discovery ours(zk(), "/s");
  std::vector<service_registration> all;
  for (const auto* id : {"1", "2", "3"}) all.push_back(enlist(ours, instance(id)));
  settle(zk());
  service_provider in_turn(ours, "billing");
  std::string order;
  for (int i = 0; i < 4; ++i) order += pick(in_turn);
  BOOST_TEST(order == "1231");

  service_provider at_random(ours, "billing", {.strategy = service_strategy::random});
  std::set<std::string> seen;
  for (int i = 0; i < 200; ++i) seen.insert(pick(at_random));
  BOOST_TEST(seen.size() == 3u);

  service_provider faithful(ours, "billing", {.strategy = service_strategy::sticky, .errors_until_rest = 1});
  const auto favourite = pick(faithful);
  for (int i = 0; i < 20; ++i) BOOST_TEST(pick(faithful) == favourite);
  faithful.note_error(instance(favourite));
  const auto next = pick(faithful);
  BOOST_TEST(next != favourite);
  for (int i = 0; i < 20; ++i) BOOST_TEST(pick(faithful) == next);

  auto weight = [](const service_instance& i) { return i.id == "1" ? 0u : i.id == "2" ? 1u : 9u; };
  service_provider weighted(ours, "billing", {.strategy = service_strategy::weighted, .weight = weight});
  std::map<std::string, int> counts;
  for (int i = 0; i < 500; ++i) ++counts[pick(weighted)];
  BOOST_TEST(counts["1"] == 0);
  BOOST_TEST(counts["2"] > 10);
  BOOST_TEST(counts["3"] > 350);
  for (auto& each : all) unregister(std::move(each));
}

BOOST_AUTO_TEST_CASE(who_drains_or_fails_is_not_chosen) {
  service_discovery ours(zk(), "/s");
  service_provider from(ours, "billing", {.rest = 300ms});
  BOOST_TEST(pick(from) == nobody);
  auto one = enlist(ours, instance("1"));
  await(from, "1");
  auto two = enlist(ours, instance("2"));
  await(from, "2");
  from.note_error(instance("1"));
  from.note_error(instance("1"));
  BOOST_TEST(pick(from) + pick(from) == "22");
  await(from, "1");  // its rest is over
  unregister(std::move(two));
  await(from, "1");
  BOOST_TEST(!std::get<0>(run(one.async_set_enabled(false, tuple))));
  await(from, nobody);
  BOOST_TEST(!std::get<0>(run(one.async_set_enabled(true, tuple))));
  await(from, "1");
  service_provider choosy(ours, "billing", {.accept = [](const service_instance& i) { return i.port == 1; }});
  BOOST_TEST(pick(choosy) == nobody);
  unregister(std::move(one));
}

BOOST_AUTO_TEST_SUITE_END()
