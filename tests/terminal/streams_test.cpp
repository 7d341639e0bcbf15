// Brokers: secure connections to them, and their streams.
#include <algorithm>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <zkrecipes/tls_options.hpp>

#include "brokers/broker_reader.hpp"
#include "change/letter_change.hpp"
#include "cluster/recipe_status.hpp"
#include "cluster/stream.hpp"
#include "problems/rules.hpp"
#include "report/message_report.hpp"
#include "samples.hpp"
#include "settings_place.hpp"

namespace json = boost::json;

// The options of secure connections to a broker, and what is told of a broker that can not be used.

namespace {

using zkrecipes::session_event;
using zkrecipes::tls_errc;

struct broker_place_case : settings_place {
  static std::optional<broker_place> place(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), {"streams", "/s"});
    return place_of(parse_command_line(arguments, std::cout).value().broker, 4s);
  }
  static std::string refusal(std::vector<const char*> arguments) {
    try {
      place(std::move(arguments));
    } catch (const failure& error) {
      BOOST_TEST((error.code() == exit_code::usage));
      return error.what();
    }
    return "not refused";
  }
};

struct broker_log_case {
  void tell(session_event event, const std::string& server, const std::string& detail) {
    zkrecipes::log_event told;
    told.event = event;
    told.server = server;
    told.error = zkrecipes::errc::connection_loss;
    told.detail = detail;
    log.record(told);
  }
  void tell(const std::string& server, tls_errc why) {
    tell(session_event::connect_failed, server, make_error_code(why).message());
  }

  broker_log log;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(broker_tls, broker_place_case)

BOOST_AUTO_TEST_CASE(each_of_the_options_asks_for_it) {
  BOOST_TEST(!place({"--broker", "a"})->tls.has_value());
  BOOST_TEST(place({"--broker", "a", "--broker-tls"})->tls.has_value());
  const auto named = place({"--broker", "a", "--broker-tls-server-name", "redis.example"});
  BOOST_TEST_REQUIRE(named->tls.has_value());
  BOOST_TEST(named->tls->server_name == "redis.example");
  BOOST_TEST(named->tls->authorities.empty());
  const auto folder = dir.string();
  const auto trusting = place({"--broker", "a", "--broker-tls-authorities", folder.c_str()});
  BOOST_TEST_REQUIRE(trusting->tls.has_value());
  BOOST_TEST(trusting->tls->authorities == folder);
}

BOOST_AUTO_TEST_CASE(an_empty_value_does_not_turn_it_off) {
  const auto found = place({"--broker", "a", "--broker-tls-authorities", ""});
  BOOST_TEST_REQUIRE(found->tls.has_value());
  BOOST_TEST(found->tls->authorities.empty());
}

BOOST_AUTO_TEST_CASE(check_knows_them_too) {
  const auto asked = parse_command_line(std::vector{"check", "--broker", "a", "--broker-tls"}, std::cout).value();
  BOOST_TEST(asked.broker.tls.is_wanted);
}

BOOST_AUTO_TEST_CASE(what_is_missing_is_named) {
  BOOST_TEST(refusal({"--broker-tls"}) == "--broker-tls needs --broker");
  BOOST_TEST(refusal({"--broker-tls-authorities", "ca.pem"}) == "--broker-tls needs --broker");
  BOOST_TEST(refusal({"--broker", "a", "--broker-tls-certificate", "c.pem"}) ==
             "--broker-tls-certificate needs --broker-tls-key, the file with its key");
  BOOST_TEST(refusal({"--broker", "a", "--broker-tls-key", "c.key"}) ==
             "--broker-tls-key needs --broker-tls-certificate, the file with its certificate");
}

BOOST_AUTO_TEST_CASE(a_file_that_is_of_no_use_is_named_with_its_option) {
  const auto missing = (dir / "missing.pem").string(), empty = write_private("empty.pem", "");
  BOOST_TEST(refusal({"--broker", "a", "--broker-tls-authorities", missing.c_str()}) ==
             "--broker-tls-authorities: " + missing + ": No such file or directory");
  const auto bad =
      refusal({"--broker", "a", "--broker-tls-certificate", empty.c_str(), "--broker-tls-key", empty.c_str()});
  BOOST_TEST(bad.starts_with("--broker-tls-certificate: " + empty + ": "), bad);
  const auto name = refusal({"--broker", "a", "--broker-tls-server-name", "*.example"});
  BOOST_TEST(name.starts_with("--broker-tls-server-name: it is neither a host name nor an address"), name);
}

BOOST_AUTO_TEST_CASE(a_key_that_everybody_may_read_is_refused) {
  const auto key = write("key.pem", "");
  fs::permissions(key, fs::perms::owner_read | fs::perms::others_read);
  const auto said =
      refusal({"--broker", "a", "--broker-tls-certificate", key.c_str(), "--broker-tls-key", key.c_str()});
  BOOST_TEST(said.starts_with("--broker-tls-key: everybody may read the key in " + key), said);
}

BOOST_AUTO_TEST_CASE(each_address_has_a_share_of_the_time) {
  BOOST_TEST((place({"--broker", "a"})->share == 1s));
  BOOST_TEST((place({"--broker", "a:1,b:2,c:3"})->share == 500ms));
  const broker_request asked{"a", ""};
  BOOST_TEST((place_of(asked, 20ms)->share == 10ms));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(broker_reasons, broker_log_case)

BOOST_AUTO_TEST_CASE(the_last_reason_of_each_address) {
  BOOST_TEST(log.reasons().empty());
  tell(session_event::connect_failed, "redis 10.0.0.2:6379", "Connection refused");
  tell(session_event::connect_failed, "redis 10.0.0.1:6379", "No route to host");
  tell(session_event::connection_lost, "redis 10.0.0.1:6379", "");
  const auto lost = make_error_code(zkrecipes::errc::connection_loss).message();
  BOOST_TEST(log.reasons() == "redis 10.0.0.1:6379: " + lost + "; redis 10.0.0.2:6379: Connection refused");
  tell(session_event::connected, "redis 10.0.0.1:6379", "");
  BOOST_TEST(log.reasons() == "redis 10.0.0.2:6379: Connection refused");
  log.forget();
  BOOST_TEST(log.reasons().empty());
}

BOOST_AUTO_TEST_CASE(what_the_log_says_of_servers_is_left_out) {
  tell(session_event::connect_failed, "10.0.0.1:2181", "Connection refused");
  tell(session_event::connected, "rabbitmq 10.0.0.1:5672", "");
  tell(session_event::operation_failed, "rabbitmq 10.0.0.1:5672", "NOT_FOUND");
  BOOST_TEST(log.reasons().empty());
}

BOOST_AUTO_TEST_CASE(the_option_that_helps) {
  tell("rabbitmq a:5671", tls_errc::unknown_authority);
  BOOST_TEST(log.reasons().ends_with(" (see --broker-tls-authorities)"), log.reasons());
  tell("rabbitmq a:5671", tls_errc::wrong_name);
  BOOST_TEST(log.reasons().ends_with(" (see --broker-tls-server-name)"), log.reasons());
  tell("rabbitmq a:5671", tls_errc::certificate_required);
  BOOST_TEST(log.reasons().ends_with(" (see --broker-tls-certificate and --broker-tls-key)"), log.reasons());
  tell(session_event::connect_failed, "rabbitmq a:5671", "Connection reset by peer");
  BOOST_TEST(log.reasons().ends_with(" (see --broker-tls-certificate and --broker-tls-key)"), log.reasons());
  tell("rabbitmq b:5671", tls_errc::expired);
  BOOST_TEST(log.reasons().ends_with("; rabbitmq b:5671: " + make_error_code(tls_errc::expired).message()));
}

BOOST_AUTO_TEST_SUITE_END()

// Sources of messages outside of ZooKeeper: what is read of them, their problems, and the output of `streams`.

BOOST_AUTO_TEST_SUITE(streams)

BOOST_AUTO_TEST_CASE(a_position_in_a_log) {
  const auto redis = read_memory(R"({"zkrecipes":"stream_position","last":"17-3","ahead":["18-0 19-2","21-0"],)"
                                 R"("failed":["20-0 2 1700000000000"],"seek":"x"})");
  BOOST_TEST(!redis.is_damaged);
  BOOST_TEST(redis.last == "17-3");
  BOOST_TEST(redis.ahead == (std::vector<std::string>{"18-0 19-2", "21-0"}));
  BOOST_TEST(redis.failed == 1u);
  BOOST_TEST(settled_text(redis) == "17-3, ranges ahead: 2");
  const auto own = read_memory(R"({"zkrecipes":"external_position","last":"page 7"})");
  BOOST_TEST(settled_text(own) == "page 7");
}

BOOST_AUTO_TEST_CASE(a_memory_of_deliveries) {
  const auto seen = read_memory(R"({"zkrecipes":"delivery_memory","settled":33,"runs":["1-29,57 8589934601 shop 2"],)"
                                R"("names":["a","b"],"failed":["c 1 1700000000000"]})");
  BOOST_TEST(!seen.is_damaged);
  BOOST_TEST_REQUIRE(seen.runs.size() == 1u);
  BOOST_TEST((seen.runs[0] == settled_run_status{"shop 2", "8589934601", "1-29,57"}));
  BOOST_TEST(seen.names == 2u);
  BOOST_TEST(seen.failed == 1u);
  BOOST_TEST(settled_text(seen) == "shop 2 1-29,57 (epoch 8589934601), names: 2");
}

BOOST_AUTO_TEST_CASE(a_memory_of_a_queue_that_loses_messages) {
  const auto seen = read_memory(R"({"zkrecipes":"delivery_memory","settled":33,"missing":["14-150 7 shop:0"],)"
                                R"("broker":"4.0.5"})");
  BOOST_TEST_REQUIRE(seen.missing.size() == 1u);
  BOOST_TEST((seen.missing[0] == settled_run_status{"shop:0", "7", "14-150"}));
  BOOST_TEST(seen.may_drop);
  BOOST_TEST(read_memory(R"({"zkrecipes":"delivery_memory","settled":33,"broker":"10.1"})").may_drop);
  for (const char* safe : {R"("broker":"4.0.5","delivery_limit":"1000000000")", R"("broker":"3.10.8")", R"("x":1)"}) {
    const auto record = R"({"zkrecipes":"delivery_memory","settled":33,)" + std::string(safe) + '}';
    BOOST_TEST(!read_memory(record).may_drop, record);
  }
  stream_status of;
  of.path = "/jobs";
  of.groups.push_back({"consumers", {seen}, 0});
  const auto found = problems_of(of);
  BOOST_TEST_REQUIRE(found.size() == 2u);
  BOOST_TEST(found[0].name == "missing-messages");
  BOOST_TEST((found[0].how_bad == severity::critical));
  BOOST_TEST(found[0].text ==
             "messages that have not come although later ones have: shard 0: 14-150 (epoch 7) of shop:0");
  BOOST_TEST(found[1].name == "low-delivery-limit");
}

BOOST_AUTO_TEST_CASE(damaged_records) {
  for (const char* bad : {"", "x", "[]", R"({"last":"1-1"})", R"({"zkrecipes":"stream_position"})",
                          R"({"zkrecipes":"stream_position","last":"1-1","ahead":[1]})",
                          R"({"zkrecipes":"stream_position","last":"1-1","failed":["x"]})",
                          R"({"zkrecipes":"external_position","last":1})", R"({"zkrecipes":"delivery_memory"})",
                          R"({"zkrecipes":"delivery_memory","settled":1,"runs":["x 1 p"]})",
                          R"({"zkrecipes":"delivery_memory","settled":1,"names":[""]})"}) {
    const auto seen = read_memory(bad);
    BOOST_TEST(seen.is_damaged, bad);
    BOOST_TEST(settled_text(seen) == "damaged");
  }
  const auto later = read_memory(R"({"zkrecipes":"kept_otherwise","x":1})");
  BOOST_TEST(!later.is_damaged);
  BOOST_TEST(settled_text(later) == R"({"zkrecipes":"kept_otherwise","x":1})");
}

BOOST_AUTO_TEST_CASE(what_waits_is_summed_up) {
  const auto broker = samples::log_of_orders().broker.value();
  const auto billing = depth_of(broker, "billing");
  BOOST_TEST(waiting_text(billing) == "10017+");
  BOOST_TEST((billing.oldest == 400s));
  BOOST_TEST(depth_of(broker, "nobody").messages == 0u);
  const auto jobs = depth_of(samples::queues_of_jobs().broker.value(), "consumers");
  BOOST_TEST(jobs.messages == 12u);
  BOOST_TEST(jobs.consumers.value() == 1u);
}

BOOST_AUTO_TEST_CASE(problems_of_streams) {
  const auto names = [](const stream_status& of) {
    std::string all;
    for (const auto& each : problems_of(of)) all += (all.empty() ? "" : " ") + each.name;
    return all;
  };
  BOOST_TEST(names(samples::log_of_orders()) == "dead-letters damaged-position old-messages");
  BOOST_TEST(names(samples::queues_of_jobs()) == "missing-queue queue-without-consumers");
  BOOST_TEST(names(samples::without_broker()) == "broker-away");
  BOOST_TEST(is_critical(problems_of(samples::without_broker())));
  auto unasked = samples::log_of_orders();
  unasked.broker.reset();
  BOOST_TEST(names(unasked) == "dead-letters damaged-position");
  auto fresh = samples::queues_of_jobs();
  fresh.groups.clear();
  BOOST_TEST(names(fresh) == "queue-without-consumers", "a queue that nobody has consumed may be missing");
  BOOST_TEST((problems_of(recipe_status_of(samples::log_of_orders())) == problems_of(samples::log_of_orders())));
}

BOOST_AUTO_TEST_CASE(as_a_recipe) {
  const auto seen = recipe_status_of(samples::log_of_orders());
  BOOST_TEST(kind_text(seen) == "stream");
  BOOST_TEST(seen.participants.at(0).id == "audit");
  BOOST_TEST(seen.participants.at(0).detail == "1 shard begun, dead letters: 2, damaged: 1");
}

BOOST_AUTO_TEST_CASE(json_of_streams) {
  stream_survey all;
  all.found = {samples::log_of_orders(), samples::queues_of_jobs()};
  const auto text = to_json(known_streams(all));
  BOOST_TEST(text.find('\n') == text.size() - 1);
  const auto document = json::parse(text);
  BOOST_TEST(document.at("complete").as_bool());
  const auto& orders = document.at("streams").at(0);
  BOOST_TEST(orders.at("path") == "/orders");
  BOOST_TEST(orders.at("source") == "redis_streams");
  BOOST_TEST(orders.at("groups").at(0).at("shards").at(0).at("damaged").as_bool());
  const auto& billing = orders.at("groups").at(1);
  BOOST_TEST(json::serialize(billing.at("shards").at(0)) ==
             R"({"shard":0,"damaged":false,"last":"17-3","ahead":["18-0 19-2"],"runs":[],"names":0,"to_try_again":1,)"
             R"("record":null})");
  BOOST_TEST(json::serialize(orders.at("broker").at("depths").at(0)) ==
             R"({"shard":0,"group":"billing","messages":10000,"more":true,"oldest_ms":400000,"consumers":null,)"
             R"("missing":false})");
  const auto& jobs = document.at("streams").at(1);
  BOOST_TEST(json::serialize(jobs.at("groups").at(0).at("shards").at(0).at("runs")) ==
             R"([{"producer":"shop","epoch":"8589934601","ranges":"1-29"}])");
  BOOST_TEST(to_json(known_streams()) == R"({"schema":1,"complete":false,"streams":null,"notes":[]})"
                                         "\n");
}

BOOST_AUTO_TEST_CASE(tables_of_streams) {
  BOOST_TEST(to_table(known_streams()) == "Streams: not known.\n");
  BOOST_TEST(to_table(known_streams(stream_survey())) == "No streams.\n");
  const auto orders = to_table(samples::log_of_orders());
  BOOST_TEST(orders.starts_with("/orders: redis_streams orders, 4 shards, 1 producer\n\nGROUP "), orders);
  BOOST_TEST(has(orders, "10017+"));
  BOOST_TEST(has(orders, "damaged"));
  BOOST_TEST(has(orders, "17-3, ranges ahead: 1"));
  const auto jobs = to_table(samples::queues_of_jobs());
  BOOST_TEST(has(jobs, "shop 1-29 (epoch 8589934601)"));
  BOOST_TEST(has(jobs, "missing"));
  BOOST_TEST(has(to_table(samples::without_broker()), "\nThe broker: it does not answer\n"));
}

BOOST_AUTO_TEST_CASE(lines_of_streams) {
  stream_survey all;
  all.found = {samples::queues_of_jobs()};
  BOOST_TEST(to_tsv(known_streams(all)) ==
             "streams\tcomplete\t1\n"
             "stream\t/jobs\trabbit_queues\tjobs\t3\t0\t1\n"
             "group\t/jobs\tconsumers\t2\t0\t0\t0\n"
             "shard\t/jobs\tconsumers\t0\treadable\t0\tshop 1-29 (epoch 8589934601)\n"
             "shard\t/jobs\tconsumers\t1\treadable\t0\tnames: 2\n"
             "broker\t/jobs\ttold\t\n"
             "depth\t/jobs\t0\t\t12\tno\t\t0\tthere\n"
             "depth\t/jobs\t1\t\t0\tno\t\t\tmissing\n"
             "depth\t/jobs\t2\t\t0\tno\t\t1\tthere\n");
}

BOOST_AUTO_TEST_CASE(letters_of_a_source_are_not_put_back) {
  letter_list list{"/orders", "billing", 4};
  list.is_outside = true;
  list.folder = "/orders/_dead/billing";
  list.letters.push_back({});
  list.letters.back().letter.name = "letter-0000000000";
  BOOST_CHECK_THROW(plan_letters(list, letter_fate::revive), failure);
  BOOST_TEST(plan_letters(list, letter_fate::discard).letters == 1u);
}

BOOST_AUTO_TEST_CASE(letters_of_any_length_are_bounded) {
  letter_list list{"/orders"};
  list.letters.push_back({});
  auto& letter = list.letters.back().letter;
  letter.item = letter.reason = letter.key = letter.data = std::string(100'000, 'x');
  BOOST_TEST(letter_bytes(letter) == 400'000u, "all of it counts against the 32 MiB");
  for (const auto format : {output_format::table, output_format::json, output_format::tsv})
    BOOST_TEST(formatted_letters(list, format, {}).size() < 6'000u);
}

BOOST_FIXTURE_TEST_CASE(the_broker_of_a_command_line, settings_place) {
  const auto asked = parse_command_line(std::vector{"streams", "/orders", "--broker", "a:1,b:2/5"}, std::cout).value();
  BOOST_TEST((asked.command == command::streams));
  BOOST_TEST(asked.path == "/orders");
  const auto place = place_of(asked.broker, 4s).value();
  BOOST_TEST(place.hosts == "a:1,b:2");
  BOOST_TEST(place.space == "5");
  BOOST_TEST(!place.user.has_value());
  BOOST_TEST((place.limit == 2s));
  BOOST_TEST(!place_of({}, 4s).has_value());

  const auto file = write_private("broker", "app:top:secret\n");
  const auto known = place_of({"a", file}, 4s).value();
  BOOST_TEST(known.user.value() == "app");
  BOOST_TEST(known.password == "top:secret");
  const auto nameless = write_private("nameless", ":topsecret");
  BOOST_TEST(place_of({"a", nameless}, 4s).value().user.value() == "");
}

BOOST_FIXTURE_TEST_CASE(a_broker_that_is_refused, settings_place) {
  const auto refusal_of = [](const broker_request& asked) {
    try {
      place_of(asked, 4s);
    } catch (const failure& error) {
      BOOST_TEST((error.code() == exit_code::usage));
      return std::string(error.what());
    }
    return std::string("not refused");
  };
  BOOST_TEST(refusal_of({"", "file"}) == "--broker-credentials needs --broker");
  BOOST_TEST(refusal_of({"/5", ""}) == "--broker: expected HOST:PORT");
  const auto open = write("open", "app:topsecret");
  fs::permissions(open, fs::perms::others_read, fs::perm_options::add);
  BOOST_TEST(has(refusal_of({"a", open}), "--broker-credentials: everybody may read the credentials in " + open));
  for (const char* text : {"", "topsecret", "app:", "app:topsecret\nand more"}) {
    const auto said = refusal_of({"a", write_private("bad", text)});
    BOOST_TEST(has(said, "--broker-credentials: expected one line user:password"));
    BOOST_TEST(!has(said, "topsecret"));
  }
  BOOST_TEST(has(refusal_of({"a", (dir / "missing").string()}), "cannot read"));
}

BOOST_AUTO_TEST_SUITE_END()
