// The choice of an instance: strategies, weights, the mark of one that drains, and the rest after errors.
#include <map>
#include <optional>
#include <set>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/service_discovery.hpp>
#include <zkrecipes/service_provider.hpp>

#include "discovery/service_instance.hpp"
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
      answer_with({.data = *to_json(instance(id)), .stat = {.czxid = born[id], .mzxid = born[id]}});
    }
  }
  std::string pick() {
    auto picked = from->async_pick(begun());
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

// The JSON of Curator's x-discovery. Curator's own serializer wrote the texts in the cases.
BOOST_AUTO_TEST_SUITE(service_instances)

BOOST_AUTO_TEST_CASE(what_curator_writes_is_read) {
  const auto plain = parse_service_instance(
      R"({"name":"billing","id":"i-1","address":"10.0.0.7","port":8080,"sslPort":null,"payload":null,)"
      R"("registrationTimeUTC":1795246817624,"serviceType":"DYNAMIC","uriSpec":null})");
  BOOST_TEST_REQUIRE(plain.has_value());
  const service_instance expected{
      .name = "billing", .id = "i-1", .address = "10.0.0.7", .port = 8080, .registration_time = 1795246817624};
  BOOST_TEST((*plain == expected));
  const auto rich = parse_service_instance(
      R"({"name":"billing","id":"q","address":"hé","port":1,"sslPort":2,"payload":{"@class":"P$Pay","weight":3},)"
      R"("registrationTimeUTC":1,"serviceType":"STATIC","uriSpec":{"parts":[{"value":"scheme","variable":true}]},)"
      R"("enabled":false,"unknown":1})");
  BOOST_TEST_REQUIRE(rich.has_value());
  BOOST_TEST((rich->ssl_port == 2));
  BOOST_TEST(rich->payload == R"({"@class":"P$Pay","weight":3})");
  BOOST_TEST((rich->type == service_type::static_node));
  BOOST_TEST(rich->uri_spec == R"({"parts":[{"value":"scheme","variable":true}]})");
  BOOST_TEST(!rich->enabled);
}

BOOST_AUTO_TEST_CASE(a_payload_keeps_its_numbers) {
  const std::string payload = R"({"w":0.1000000000000000055511,"n":[12345678901234567890123,-0,2.50,1e999]})";
  const auto read = parse_service_instance(R"({"name":"n","id":"i","address":"a","payload":)" + payload + "}");
  BOOST_TEST_REQUIRE(read.has_value());
  BOOST_TEST(read->payload == payload);
  const auto text = to_json(*read);
  BOOST_TEST_REQUIRE(text.has_value());
  BOOST_TEST(text->find(payload) != text->npos, *text);
  BOOST_TEST((parse_service_instance(*text) == read));
}

BOOST_AUTO_TEST_CASE(what_is_written_is_read_again) {
  for (auto type :
       {service_type::dynamic, service_type::static_node, service_type::permanent, service_type::dynamic_sequential}) {
    const service_instance before{.name = "n",
                                  .id = "i",
                                  .address = "a\"\n",
                                  .port = -1,
                                  .ssl_port = 65535,
                                  .payload = R"(["x",null])",
                                  .registration_time = 5,
                                  .type = type,
                                  .uri_spec = "{}",
                                  .enabled = false};
    const auto text = to_json(before);
    BOOST_TEST_REQUIRE(text.has_value());
    const auto after = parse_service_instance(*text);
    BOOST_TEST_REQUIRE(after.has_value());
    BOOST_TEST((*after == before));
  }
}

BOOST_AUTO_TEST_CASE(missing_fields_have_defaults) {
  const auto bare = parse_service_instance(R"({"name":"n","id":"i"})");
  BOOST_TEST_REQUIRE(bare.has_value());
  BOOST_TEST((*bare == service_instance{.name = "n", .id = "i"}));
}

BOOST_AUTO_TEST_CASE(what_is_no_instance_is_refused) {
  for (const auto* text :
       {"", "not JSON", "[]", "null", "{}", R"({"name":"n"})", R"({"id":"i"})", R"({"name":"n","id":1})",
        R"({"name":"n","id":"i","port":"80"})", R"({"name":"n","id":"i","port":80.5})",
        R"({"name":"n","id":"i","port":4294967296})", R"({"name":"n","id":"i","enabled":"yes"})",
        R"({"name":"n","id":"i","serviceType":"NEW"})", R"({"name":"n","id":"i","registrationTimeUTC":"now"})",
        R"({"name":"n","id":"i"} and more)", "{\"name\":\"n\",\"id\":\"\xff\"}"}) {
    BOOST_TEST(!parse_service_instance(text).has_value(), text);
  }
}

BOOST_AUTO_TEST_CASE(what_no_json_can_hold_is_not_written) {
  BOOST_TEST(!to_json({.name = "n", .id = "i", .address = "\xff"}).has_value());
  BOOST_TEST(!to_json({.name = "n", .id = "i", .address = "a", .payload = "{"}).has_value());
  BOOST_TEST(!to_json({.name = "n", .id = "i", .address = "a", .uri_spec = "1 2"}).has_value());
}

BOOST_AUTO_TEST_SUITE_END()

// A process that registers again while the node of its former life still stands, and one that describes itself anew.
namespace {

struct registering : fake_session {
  registering() : services(zk, "/s"), registered(record<service_registration>()) {
    connect();
    services.async_register(instance(80), registered.token());
    settle();
  }
  static service_instance instance(std::int32_t port) {
    return {.name = "b", .id = "1", .address = "here", .port = port};
  }
  /// The node that is to be made stands already: an instance at this port, of another session.
  void meet(std::int32_t port) {
    CHECK_PENDING("create /s/b/1", "get /s/b/1");
    fail(errc::node_exists);
    answer_with({.data = *to_json(instance(port)), .stat = {.ephemeral_owner = 0x66}});
  }
  void live(std::chrono::nanoseconds span) {
    for (const auto until = now() + span; now() < until;) {
      advance(1s);
      while (!pending().empty() && pending().front() == "exists /") answer();
    }
  }

  service_discovery services;
  recorder<service_registration> registered;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(registrations, registering)

BOOST_AUTO_TEST_CASE(who_comes_again_waits_for_the_end_of_its_former_session) {
  meet(80);
  live(19s);
  BOOST_TEST(!registered.done());
  fire(backend::change::deleted, "/s/b/1");
  CHECK_PENDING("create /s/b/1", "get /s/b/1");
  backend::reply made;
  made.stat.czxid = 5;
  answer(made);
  made.stat.ephemeral_owner = 0x77;
  answer(made);
  BOOST_TEST_REQUIRE(succeeded(registered));
}

BOOST_AUTO_TEST_CASE(but_not_for_ever) {
  meet(80);
  live(19s);
  BOOST_TEST(!registered.done());
  live(1s);
  BOOST_TEST_REQUIRE(ended_with(registered, errc::busy));
}

BOOST_AUTO_TEST_CASE(nor_for_a_namesake_at_another_address) {
  meet(81);
  BOOST_TEST_REQUIRE(ended_with(registered, errc::busy));
}

BOOST_AUTO_TEST_CASE(nor_for_one_that_has_come_meanwhile) {
  meet(80);
  fire(backend::change::deleted, "/s/b/1");
  meet(81);
  BOOST_TEST_REQUIRE(ended_with(registered, errc::busy));
}

BOOST_AUTO_TEST_CASE(an_update_keeps_the_id_and_the_time_of_registration) {
  CHECK_PENDING("create /s/b/1", "get /s/b/1");
  backend::reply made;
  made.stat.czxid = 5;
  const auto first = parse_service_instance(answer(made).data);
  made.stat.ephemeral_owner = 0x77;
  made.data = *to_json(*first);
  answer(made);
  BOOST_TEST_REQUIRE(registered.done());
  BOOST_TEST(first->registration_time > 0);
  auto updated = registered.result<0>().async_update({.name = "b", .address = "here", .port = 81}, begun());
  CHECK_PENDING("multi /", "get /s/b/1");
  answer();
  answer(made);
  CHECK_PENDING("set /s/b/1");
  auto expected = *first;
  expected.port = 81;
  BOOST_TEST((parse_service_instance(answer(made).data) == expected));
  BOOST_TEST_REQUIRE(succeeded(updated));
}

BOOST_AUTO_TEST_CASE(a_refusal_names_the_field) {
  const auto why_not = [this](service_instance what) {
    auto refused = services.async_register(std::move(what), begun());
    BOOST_TEST_REQUIRE(ended_with(refused, errc::bad_arguments));
    return refused.error().message();
  };
  BOOST_TEST(why_not({.name = "b", .id = "../x"}) == "service_instance::id can not be a node's name");
  BOOST_TEST(why_not({.name = "a/b", .id = "1"}) == "service_instance::name can not be a node's name");
  BOOST_TEST(why_not({.name = "b", .id = "1", .type = service_type::permanent}) ==
             "service_instance::type is neither dynamic nor static_node");
  BOOST_TEST(why_not({.name = "b", .id = "1", .payload = "{"}) ==
             "service_instance: a text is not UTF-8, or payload or uri_spec not JSON");
}

BOOST_AUTO_TEST_SUITE_END()

// The mark of an operator in the description of an instance.

using namespace zkrecipes::detail;

namespace {

std::string described(const std::string& more) { return R"({"name":"n","id":"i","address":"a")" + more + "}"; }

}  // namespace

BOOST_AUTO_TEST_SUITE(drain_marks)

BOOST_AUTO_TEST_CASE(the_other_fields_stay) {
  const auto before = described(R"(,"payload":{"@class":"x","w":1},"other":[1],"enabled":true)");
  const auto marked = with_drain_mark(before).value();
  BOOST_TEST(marked == described(R"(,"payload":{"@class":"x","w":1},"other":[1],"enabled":false,"ownerEnabled":true)"));
  BOOST_TEST((is_drained(marked) && !is_drained(before)));
  BOOST_TEST(!parse_service_instance(marked)->enabled);
  BOOST_TEST(without_drain_mark(marked).value() == before);
}

BOOST_AUTO_TEST_CASE(the_numbers_of_other_fields_stay) {
  const auto before =
      described(R"(,"payload":0.1000000000000000055511,"other":[12345678901234567890123],"enabled":true)");
  BOOST_TEST(without_drain_mark(with_drain_mark(before).value()).value() == before);
}

BOOST_AUTO_TEST_CASE(what_the_owner_says_is_kept) {
  const auto marked = with_drain_mark(described(R"(,"enabled":false)")).value();
  BOOST_TEST(marked == described(R"(,"enabled":false,"ownerEnabled":false)"));
  BOOST_TEST(without_drain_mark(marked).value() == described(R"(,"enabled":false)"));
  // Curator leaves the field out by default.
  BOOST_TEST(with_drain_mark(described("")).value() == described(R"(,"enabled":false,"ownerEnabled":true)"));
}

BOOST_AUTO_TEST_CASE(twice_is_once) {
  const auto plain = described(R"(,"enabled":true)"), marked = with_drain_mark(plain).value();
  BOOST_TEST(with_drain_mark(marked).value() == marked);
  BOOST_TEST(without_drain_mark(plain).value() == plain);
}

BOOST_AUTO_TEST_CASE(the_owner_keeps_the_mark) {
  const auto marked = with_drain_mark(described(R"(,"enabled":true)")).value();
  BOOST_TEST(keep_drain_mark(marked, described(R"(,"port":1,"enabled":true)")) ==
             described(R"(,"port":1,"enabled":false,"ownerEnabled":true)"));
  BOOST_TEST(keep_drain_mark(marked, described(R"(,"enabled":false)")) ==
             described(R"(,"enabled":false,"ownerEnabled":false)"));
  const auto wanted = described(R"(,  "enabled":true)");
  for (const std::string there : {"", "no instance", "{}", R"({"name":"n","id":"i","ownerEnabled":"yes"})"})
    BOOST_TEST(keep_drain_mark(there, wanted) == wanted, "not written anew without need: " << there);
}

BOOST_AUTO_TEST_CASE(what_is_no_instance) {
  for (const std::string text : {"", "any", "[]", "{}", R"({"id":"i"})"}) {
    BOOST_TEST((!with_drain_mark(text) && !without_drain_mark(text) && !is_drained(text)));
  }
}

BOOST_AUTO_TEST_SUITE_END()
