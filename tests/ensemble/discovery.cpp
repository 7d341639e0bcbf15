// Services are registered, seen and chosen; Curator's layout and JSON.
#include <map>
#include <set>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/service_provider.hpp>

#include "ensemble/ensemble_case.hpp"
#include "ensemble/request_log.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

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
  auto far = connect_far(log.noted(far_options()));
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
  recorder<service_change> flap(executor());
  view.async_change(seen, flap.token());
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
