// The choice of an instance: strategies, weights, and the rest after errors.
#include <map>
#include <optional>
#include <set>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/service_provider.hpp>

#include "unit/fake_session.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

service_instance instance(const std::string& id) { return {.name = "b", .id = id}; }

struct choosing : fake_session {
  choosing() : services(zk, "/s") { connect(); }

  /// Makes the provider, and answers its first reads with these instances.
  void watch(service_provider_options options, const std::vector<std::string>& ids = {"1", "2", "3"}) {
    from.emplace(services, "b", std::move(options));
    settle();
    show(ids);
  }
  void show(const std::vector<std::string>& ids) {
    list(ids);
    show_nodes();
  }
  /// Answers every pending read of an instance.
  void show_nodes() {
    while (!pending().empty()) {
      const auto path = last().pending.front().first.path;
      const auto id = path.substr(path.rfind('/') + 1);
      backend::reply found;
      found.data = *to_json(instance(id));
      found.stat.czxid = found.stat.mzxid = born[id];
      answer(found);
    }
  }
  std::string pick() {
    auto picked = record<service_instance>();
    from->async_pick(picked.token());
    settle();
    BOOST_TEST_REQUIRE(picked.done());
    return picked.error() ? picked.error().message() : picked.result<0>().id;
  }
  std::string picks(int so_many) {
    std::string all;
    for (int i = 0; i < so_many; ++i) all += pick();
    return all;
  }
  /// Those that are chosen now, in the order of their ids.
  std::string chosen() {
    const auto all = picks(20);
    const std::set<char> each(all.begin(), all.end());
    return {each.begin(), each.end()};
  }
  void note_error(const std::string& id) {
    from->note_error(instance(id));
    settle();
  }

  service_discovery services;
  std::map<std::string, std::int64_t> born;  // czxid by id
  std::optional<service_provider> from;
};

const auto none_fits = make_error_code(errc::no_node).message();

}  // namespace

BOOST_FIXTURE_TEST_SUITE(service_providers, choosing)

BOOST_AUTO_TEST_CASE(in_turn) {
  watch({});
  BOOST_TEST(picks(7) == "1231231");
}

// In the fake world each random number is one more than the one before.
BOOST_AUTO_TEST_CASE(at_random) {
  watch({.strategy = service_strategy::random});
  for (std::uint64_t random : {5, 0, 1}) {
    state().random = random;
    BOOST_TEST(pick() == std::to_string(random % 3 + 1));
  }
}

BOOST_AUTO_TEST_CASE(the_same_as_long_as_it_can_be_had) {
  watch({.strategy = service_strategy::sticky, .errors_until_rest = 1});
  state().random = 1;
  BOOST_TEST(picks(5) == "22222");
  note_error("2");
  state().random = 1;
  BOOST_TEST(picks(5) == "33333");
}

BOOST_AUTO_TEST_CASE(in_proportion_to_the_weights) {
  auto weight = [](const service_instance& each) { return each.id == "1" ? 0u : each.id == "2" ? 1u : 9u; };
  watch({.strategy = service_strategy::weighted, .weight = weight});
  std::map<char, int> counts;
  for (const auto each : picks(100)) ++counts[each];
  BOOST_TEST(counts['1'] == 0);
  BOOST_TEST(counts['2'] == 10);
  BOOST_TEST(counts['3'] == 90);
}

BOOST_AUTO_TEST_CASE(each_is_weighed_once_in_a_pick) {
  int weighed = 0;
  watch({.strategy = service_strategy::weighted,
         .weight = [&](const service_instance&) { return weighed++ < 3 ? 1u : 0u; }});
  BOOST_TEST(pick().size() == 1u);
  BOOST_TEST(weighed == 3);
  BOOST_TEST(pick() == none_fits, "by now none of them weighs anything");
}

BOOST_AUTO_TEST_CASE(who_fails_rests_for_a_second_and_then_for_longer_and_longer) {
  watch({.errors_until_rest = 2, .rest = 3s}, {"1", "2"});
  for (const auto rest : {1s, 2s, 3s, 3s}) {
    note_error("1");
    BOOST_TEST(chosen() == "12", "once may be chance");
    advance(500ms);
    note_error("1");
    advance(rest / 2);
    note_error("1");
    note_error("1");  // of calls that were begun before
    BOOST_TEST(chosen() == "2");
    advance(rest - rest / 2 - 1ms);
    BOOST_TEST(chosen() == "2");
    advance(1ms);
    BOOST_TEST(chosen() == "12", "and the count begins anew");
  }
  advance(3s);
  note_error("1");
  note_error("1");
  advance(1s);
  BOOST_TEST(chosen() == "12", "all is forgotten after a time without errors");
}

BOOST_AUTO_TEST_CASE(errors_that_are_far_apart_do_not_add_up) {
  watch({.errors_until_rest = 2, .rest = 10s}, {"1", "2"});
  for (int i = 0; i < 5; ++i) {
    note_error("1");
    advance(10s);
  }
  BOOST_TEST(chosen() == "12");
}

// Where all fail at once it is our own network, or something that all of them need.
BOOST_AUTO_TEST_CASE(at_most_half_of_them_rest) {
  watch({.errors_until_rest = 1}, {"1", "2", "3", "4", "5"});
  for (const auto* each : {"2", "4", "1"}) {
    note_error(each);
    advance(10ms);
  }
  BOOST_TEST(chosen() == "235", "the rest of 2 is the first to end");
  for (const auto* each : {"3", "5"}) {
    note_error(each);
    advance(10ms);
  }
  BOOST_TEST(chosen() == "124");
  advance(1s);
  BOOST_TEST(chosen() == "12345");
}

BOOST_AUTO_TEST_CASE(the_only_one_never_rests) {
  watch({.errors_until_rest = 1}, {"1"});
  note_error("1");
  BOOST_TEST(chosen() == "1");
}

BOOST_AUTO_TEST_CASE(the_choice_goes_on_among_those_seen_last) {
  watch({}, {"1", "2"});
  advance(children_view_options().interval);
  fire(backend::change::children, "/s/b");
  for (int i = 0; i < 3; ++i) {
    CHECK_PENDING("children /s/b");
    fail(errc::no_auth);
    BOOST_TEST(chosen() == "12");
    advance(1s);
  }
}

// The instance was removed and registered again between two reads, so no read has shown that it was missing. Its errors
// are forgotten all the same.
BOOST_AUTO_TEST_CASE(who_comes_again_begins_anew) {
  born["1"] = 5;
  watch({.errors_until_rest = 1}, {"1", "2"});
  advance(children_view_options().interval);
  note_error("1");
  BOOST_TEST(chosen() == "2");
  born["1"] = 6;
  fire(backend::change::deleted, "/s/b/1");
  CHECK_PENDING("get /s/b/1");
  show_nodes();
  BOOST_TEST(chosen() == "12");
}

BOOST_AUTO_TEST_CASE(who_only_describes_itself_anew_rests_on) {
  born["1"] = 5;
  watch({.errors_until_rest = 1}, {"1", "2"});
  advance(children_view_options().interval);
  BOOST_TEST(chosen() == "12");
  note_error("1");
  fire(backend::change::data, "/s/b/1");
  CHECK_PENDING("get /s/b/1");
  backend::reply changed;
  auto again = instance("1");
  again.port = 81;
  changed.data = *to_json(again);
  changed.stat.czxid = 5;
  changed.stat.mzxid = 7;
  answer(changed);
  BOOST_TEST(chosen() == "2");
}

BOOST_AUTO_TEST_SUITE_END()
