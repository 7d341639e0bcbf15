// `zkadmin queue` against real servers.
#include "cluster/letters.hpp"

#include <algorithm>

#include <boost/json/parse.hpp>

#include <zkrecipes/delay_queue.hpp>
#include <zkrecipes/priority_queue.hpp>
#include <zkrecipes/queue.hpp>

#include <testcluster/op_code.hpp>

#include "change/letter_change.hpp"
#include "live/recipe_fixture.hpp"
#include "pseudo_terminal.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;
namespace json = boost::json;

namespace {

constexpr const char* parked_mark = "01234567-89ab-5cde-8123-456789abcdef";

boost::asio::awaitable<zkadmin::letter_result> sent(session over, zkadmin::letter_plan plan) {
  zkadmin::letter_result result;
  co_await zkadmin::send_letters(std::move(over), std::move(plan), result);
  co_return result;
}

struct letter_fixture : recipe_fixture {
  std::string at(const std::string& path) const { return root() + path; }

  /// Puts an item, and makes a dead letter of it.
  template <class Queue, class... Rank>
  void bury(Queue& queue, const std::string& data, Rank... rank) {
    BOOST_TEST_REQUIRE(!std::get<0>(run(queue.async_put(data, rank..., tuple))));
    auto taken = run(queue.async_take(tuple));
    BOOST_TEST_REQUIRE(!std::get<0>(taken));
    BOOST_TEST_REQUIRE(!std::get<0>(run(queue.async_reject(std::get<1>(taken), "too " + data, tuple))));
  }
  /// A letter as a consumer writes it.
  void write_letter(const std::string& path, const std::string& item, const std::string& data,
                    const std::string& key = "") {
    create(path, R"({"zkrecipes":"dead_letter","item":")" + item + R"(","attempts":3,"reason":"no luck")" +
                     (key.empty() ? "" : R"(,"key":")" + key + "\"") + "}\n" + data);
  }
  void bury_many(int count) {
    create("/q");
    create("/q/_dead");
    for (int i = 0; i < count; ++i) {
      const auto number = std::to_string(1'000'000'000 + i);
      write_letter("/q/_dead/letter-" + number, "qn-" + number, std::to_string(i));
    }
  }
  json::object listed(std::vector<std::string> arguments, int code = 0) {
    arguments.insert(arguments.begin(), {"queue", "letters", "-o", "json"});
    const auto result = zkadmin(std::move(arguments));
    BOOST_TEST(result.code == code, result.err);
    return json::parse(result.out).as_object();
  }
  std::string first_letter(const std::string& path) {
    return std::string(listed({at(path)}).at("letters").at(0).at("letter").as_string());
  }
  /// The data of the items, in order.
  std::vector<std::string> items(const std::string& path) {
    std::vector<std::string> all;
    auto names = children(path);
    std::sort(names.begin(), names.end());
    for (const auto& each : names)
      if (each.front() != '_') all.push_back(get(path + "/" + each).data);
    return all;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(letters_suite, letter_fixture)

BOOST_AUTO_TEST_CASE(letters_are_listed) {
  removes("/q");
  queue jobs(zk(), "/q");
  bury(jobs, "old");
  bury(jobs, "big\x1b[2J" + std::string(1000, 'x'));
  const auto found = listed({at("/q")});
  BOOST_TEST(found.at("path").as_string() == at("/q"));
  BOOST_TEST(found.at("complete").as_bool());
  const auto& letters = found.at("letters").as_array();
  BOOST_TEST_REQUIRE(letters.size() == 2u);
  BOOST_TEST(letters[0].at("letter") == "letter-0000000000");
  BOOST_TEST(std::string(letters[0].at("item").as_string()).starts_with("qn-"));
  BOOST_TEST(letters[0].at("reason") == "too old");
  BOOST_TEST(letters[0].at("data") == "old");
  BOOST_TEST(letters[0].at("attempts").as_int64() == 1);
  BOOST_TEST(letters[0].at("key").is_null());
  BOOST_TEST(!letters[0].at("parked").as_bool());
  BOOST_TEST(letters[1].at("data_length").as_int64() == 1007);
  BOOST_TEST(letters[1].at("data").as_string().size() < 600u);
  const auto table = zkadmin({"queue", "letters", at("/q")});
  BOOST_TEST(table.out.starts_with(at("/q") + ": 2 dead letters\n\nLETTER "), table.out);
  BOOST_TEST(table.out.find('\x1b') == std::string::npos);
  BOOST_TEST(table.out.find("too old") != std::string::npos, table.out);
  const auto lines = zkadmin({"queue", "letters", at("/q"), "-o", "tsv"}).out;
  BOOST_TEST(lines.starts_with("letters\t" + at("/q") + "\t\tcomplete\t2\t0\t0\nletter\tletter-0000000000\tqn-"),
             lines);
}

BOOST_AUTO_TEST_CASE(a_letter_is_requeued_at_the_end) {
  removes("/q");
  queue jobs(zk(), "/q");
  bury(jobs, "old");
  BOOST_TEST(!std::get<0>(run(jobs.async_put("new", tuple))));
  const auto letter = first_letter("/q");
  const auto requests = "delete " + at("/q/_dead/") + letter + " version=0\ncreate " + at("/q/qn-N") + " data=old\n";
  const auto shown = zkadmin({"queue", "requeue", at("/q"), letter});
  BOOST_TEST(shown.code == 1);
  BOOST_TEST(shown.out == requests);
  BOOST_TEST(shown.err == "zkadmin: nothing was sent; add --rw to send this\n");
  BOOST_TEST(items("/q") == (std::vector<std::string>{"new"}));

  const auto done = zkadmin({"queue", "requeue", at("/q"), letter, "--rw"}, {{"ZKADMIN_AUDIT_PATH", at("/log")}});
  leaves("/log");
  BOOST_TEST(done.code == 0, done.err);
  BOOST_TEST(done.err == requests + "audit node " + at("/log") + "\n");
  BOOST_TEST(done.out == "requeued " + letter + " of " + at("/q") + "\n");
  BOOST_TEST(items("/q") == (std::vector<std::string>{"new", "old"}));
  BOOST_TEST(listed({at("/q")}).at("letters").as_array().empty());
  const auto log = json::parse(zkadmin({"audit", "-o", "json"}, {{"ZKADMIN_AUDIT_PATH", at("/log")}}).out);
  BOOST_TEST(log.at("interventions").at(0).at("state") == "done");
  BOOST_TEST(log.at("interventions").at(0).at("requests").as_string() == requests);
  const auto again = zkadmin({"queue", "requeue", at("/q"), letter, "--rw"});
  BOOST_TEST(again.code == 1);
  BOOST_TEST(again.err == "zkadmin: there is no letter " + letter + " in " + at("/q/_dead") + "\n");
}

BOOST_AUTO_TEST_CASE(items_keep_their_priority_or_their_time) {
  for (const char* each : {"/p", "/p-side", "/d"}) removes(each);
  priority_queue urgent(zk(), "/p");
  bury(urgent, "mail", 7);
  BOOST_TEST(zkadmin({"queue", "requeue", at("/p"), first_letter("/p")}).out.find("create " + at("/p/entry-007-N")) !=
             std::string::npos);
  BOOST_TEST(zkadmin({"queue", "requeue", at("/p"), first_letter("/p"), "--rw"}).code == 0);
  BOOST_TEST(std::get<1>(run(urgent.async_pop(tuple))).data == "mail");
  delay_queue later(zk(), "/d");
  bury(later, "bill", std::chrono::milliseconds(0));
  const auto item = std::string(listed({at("/d")}).at("letters").at(0).at("item").as_string());
  BOOST_TEST(zkadmin({"queue", "requeue", at("/d"), "--all", "--rw"}).code == 0);
  const auto put = std::get<1>(run(later.async_pop(tuple)));
  BOOST_TEST(put.data == "bill");
  BOOST_TEST(put.name.substr(0, put.name.rfind('-')) == item.substr(0, item.rfind('-')));
}

BOOST_AUTO_TEST_CASE(all_letters_are_requeued_in_order) {
  removes("/q");
  bury_many(120);
  const auto shown = zkadmin({"queue", "requeue", at("/q"), "--all"});
  BOOST_TEST(shown.code == 1);
  BOOST_TEST(shown.out.starts_with("transaction 1 of 3\ndelete " + at("/q/_dead/letter-1000000000")), shown.out);
  BOOST_TEST(shown.out.ends_with(" data=119\n120 letters\n"), shown.out);
  BOOST_TEST(children("/q/_dead").size() == 120u);
  const auto done = zkadmin({"queue", "requeue", at("/q"), "--all", "--rw"});
  BOOST_TEST(done.code == 0, done.err);
  BOOST_TEST(done.err.ends_with("... and 1 more transaction\n120 letters\n"), done.err);
  BOOST_TEST(done.out == "requeued 120 of 120 letters of " + at("/q") + "\n");
  BOOST_TEST(items("/q") == numbers(0, 119));
  BOOST_TEST(children("/q/_dead").empty());
  BOOST_TEST(zkadmin({"queue", "requeue", at("/q"), "--all", "--rw"}).err ==
             "zkadmin: there are no dead letters in " + at("/q/_dead") + ": nothing was sent\n");
}

BOOST_AUTO_TEST_CASE(all_letters_are_dropped_if_the_path_is_confirmed) {
  removes("/q");
  bury_many(3);
  const auto drop = [this](std::vector<std::string> more) {
    more.insert(more.begin(), {"queue", "drop", at("/q"), "--all", "--rw"});
    return zkadmin(std::move(more));
  };
  const auto unconfirmed = drop({});
  BOOST_TEST(unconfirmed.code == 1);
  BOOST_TEST(unconfirmed.err.ends_with("without a terminal to ask at, confirm with --yes " + at("/q") + "\n"),
             unconfirmed.err);
  BOOST_TEST(drop({"--yes", "/other"}).code == 2);
  BOOST_TEST(children("/q/_dead").size() == 3u);
  const auto done = drop({"--yes", at("/q")});
  BOOST_TEST(done.code == 0, done.err);
  BOOST_TEST(done.err.starts_with("delete " + at("/q/_dead/letter-1000000000") + " version=0\n"), done.err);
  BOOST_TEST(done.out == "dropped 3 of 3 letters of " + at("/q") + "\n");
  BOOST_TEST(children("/q/_dead").empty());
  BOOST_TEST(items("/q").empty());
}

BOOST_AUTO_TEST_CASE(letters_that_change_while_the_user_types_are_left_alone) {
  removes("/q");
  bury_many(3);
  pseudo_terminal terminal(io(), 200, 20);
  terminal.start({ZKADMIN_PROGRAM, "queue", "drop", at("/q"), "--all", "--rw"},
                 {{"ZKADMIN_HOSTS", hosts}, {"ZKADMIN_TIMEOUT", "20s"}});
  BOOST_TEST(terminal.shows("Type the path to drop 3 letters:"));
  remove("/q/_dead/letter-1000000001");
  terminal.type(at("/q") + "\n");
  BOOST_TEST(terminal.shows("the letters have changed since they were shown: nothing was sent, try again"));
  BOOST_TEST(terminal.exit_code() == 1);
  BOOST_TEST(children("/q/_dead").size() == 2u);
}

BOOST_AUTO_TEST_CASE(it_ends_at_a_letter_that_another_has_taken) {
  removes("/q");
  bury_many(120);
  const auto read = run(zkadmin::read_dead_letters(zk(), {"/q"}, zkadmin::deadline::max()));
  const auto plan = zkadmin::plan_letters(read, zkadmin::letter_fate::requeue);
  remove("/q/_dead/letter-1000000070");
  const auto result = run(sent(zk(), plan));
  BOOST_TEST(result.is_changed);
  BOOST_TEST(result.done == 50u);
  BOOST_TEST(items("/q") == numbers(0, 49));
  BOOST_TEST(children("/q/_dead").size() == 69u);
}

// It has the name and the version of the one that was shown.
BOOST_AUTO_TEST_CASE(it_ends_at_a_letter_that_is_made_anew) {
  removes("/q");
  bury_many(120);
  const auto read = run(zkadmin::read_dead_letters(zk(), {"/q"}, zkadmin::deadline::max()));
  auto drop = zkadmin::plan_letters(read, zkadmin::letter_fate::drop);
  remove("/q/_dead/letter-1000000070");
  write_letter("/q/_dead/letter-1000000070", "qn-1000000070", "another");
  const auto requeued = run(sent(zk(), zkadmin::plan_letters(read, zkadmin::letter_fate::requeue)));
  BOOST_TEST((requeued.is_changed && requeued.done == 50u));
  BOOST_TEST(items("/q") == numbers(0, 49));
  drop.steps.erase(drop.steps.begin());
  const auto dropped = run(sent(zk(), drop));
  BOOST_TEST((dropped.is_changed && dropped.done == 0u));
  BOOST_TEST(children("/q/_dead").size() == 70u);
  BOOST_TEST(get("/q/_dead/letter-1000000070").data.ends_with("another"));
}

BOOST_AUTO_TEST_CASE(a_lost_answer_tells_what_is_seen_afterwards) {
  removes("/q");
  bury_many(2);
  const std::string letter = "letter-1000000000", node = "/q/_dead/" + letter;
  const auto requeue = [this](const std::string& which) {
    return zkadmin({"queue", "requeue", at("/q"), which, "--rw", "--hosts", own().address()});
  };
  own().drop_request(testcluster::op::multi);
  const auto before = requeue(letter);
  BOOST_TEST(before.code == 1);
  BOOST_TEST(before.err.find("sending the request: ") != std::string::npos, before.err);
  BOOST_TEST(before.err.ends_with(at(node) + " is as it was\n"), before.err);
  BOOST_TEST((contains(node) && items("/q").empty()));
  own().drop_reply(testcluster::op::multi);
  const auto behind = requeue(letter);
  BOOST_TEST(behind.code == 1);
  BOOST_TEST(behind.err.ends_with(at(node) + " has gone since\n"), behind.err);
  BOOST_TEST((!contains(node) && items("/q") == std::vector<std::string>{"0"}));
  const auto again = requeue(letter);  // what is done is not done twice
  BOOST_TEST(again.code == 1);
  BOOST_TEST(again.err == "zkadmin: there is no letter " + letter + " in " + at("/q/_dead") + "\n");
  BOOST_TEST(items("/q") == (std::vector<std::string>{"0"}));
}

BOOST_AUTO_TEST_CASE(a_lost_answer_ends_the_transactions_of_all_letters) {
  removes("/q");
  bury_many(120);
  own().drop_reply(testcluster::op::multi, 2);
  const auto result = zkadmin({"queue", "requeue", at("/q"), "--all", "--rw", "--hosts", own().address()});
  BOOST_TEST(result.code == 1);
  BOOST_TEST(result.err.find("requeued 50 of 120 letters of " + at("/q") + " for certain: ") != std::string::npos,
             result.err);
  BOOST_TEST(items("/q") == numbers(0, 99));
  BOOST_TEST(children("/q/_dead").size() == 20u);
  const auto rest = zkadmin({"queue", "requeue", at("/q"), "--all", "--rw"});
  BOOST_TEST(rest.code == 0, rest.err);
  BOOST_TEST(items("/q") == numbers(0, 119));
}

BOOST_AUTO_TEST_CASE(letters_of_a_parked_key_stay_together) {
  removes("/q");
  bury_many(1);
  const auto letter = std::string(parked_mark) + "-letter-0000000007";
  write_letter("/q/_dead/" + letter, "qn-0000000003", "parked", "k");
  create("/q/_parked");
  create(std::string("/q/_parked/") + parked_mark, R"({"zkrecipes":"parked_key","key":"k"})");
  const auto refused = zkadmin({"queue", "requeue", at("/q"), letter, "--rw"});
  BOOST_TEST(refused.code == 1);
  BOOST_TEST(refused.err ==
             "zkadmin: the key is parked, so its letters are put back together or not at all: nothing "
             "was sent\n");
  const auto done = zkadmin({"queue", "requeue", at("/q"), "--all", "--rw"});
  BOOST_TEST(done.code == 0, done.err);
  BOOST_TEST(done.err.ends_with("left out: 1 letter of parked keys\n1 letter\n"), done.err);
  BOOST_TEST(children("/q/_dead") == (std::vector<std::string>{letter}));
  BOOST_TEST(zkadmin({"queue", "letters", at("/q")}).out.find("k (parked)") != std::string::npos);
  remove(std::string("/q/_parked/") + parked_mark);  // then it is a letter like any other
  BOOST_TEST(zkadmin({"queue", "requeue", at("/q"), letter, "--rw"}).code == 0);
  BOOST_TEST(items("/q") == (std::vector<std::string>{"0", "parked"}));
}

BOOST_AUTO_TEST_CASE(what_a_letter_does_not_have_is_told) {
  removes("/q");
  bury_many(0);
  create("/q/_dead/letter-0000000001",
         "{\"zkrecipes\":\"dead_letter\",\"item\":\"i\",\"attempts\":1,\"reason\":\"r\",\"missing_bytes\":77}\nhello");
  BOOST_TEST(listed({at("/q")}).at("letters").at(0).at("missing_bytes").as_int64() == 77);
  BOOST_TEST(zkadmin({"queue", "letters", at("/q")}).out.find("hello (77 bytes missing)") != std::string::npos);
  BOOST_TEST(zkadmin({"queue", "letters", at("/q"), "-o", "tsv"}).out.ends_with("\thello\t5\t77\n"));
}

BOOST_AUTO_TEST_CASE(letters_of_a_topic) {
  removes("/t");
  create("/t", R"({"zkrecipes":"topic","count":4,"hash":"crc32"})");
  for (const char* each : {"/t/0003", "/t/_dead", "/t/_dead/mail"}) create(each);
  write_letter("/t/_dead/mail/letter-0000000005", "0003/17.2", "hello", "k");
  BOOST_TEST(zkadmin({"queue", "letters", at("/t")}).code == 2);
  BOOST_TEST(listed({at("/t"), "--group", "mail"}).at("letters").at(0).at("key") == "k");
  BOOST_TEST(listed({at("/t"), "--group", "none"}).at("letters").as_array().empty());
  const auto requests = "delete " + at("/t/_dead/mail/letter-0000000005") + " version=0\ncreate " +
                        at("/t/0003/b-1-N") + " data=17:zkrecipes:batch:1,1:k,5:hello,\n";
  const auto done = zkadmin({"queue", "requeue", at("/t"), "letter-0000000005", "--group", "mail", "--rw"});
  BOOST_TEST(done.code == 0, done.err);
  BOOST_TEST(done.err == requests);
  BOOST_TEST(children("/t/0003") == (std::vector<std::string>{"b-1-0000000000"}));
  BOOST_TEST(children("/t/_dead/mail").empty());
}

BOOST_AUTO_TEST_CASE(what_is_no_letter_is_left_alone) {
  for (const char* each : {"/q", "/e"}) removes(each);
  bury_many(1);
  create("/q/_dead/letter-2000000000", "not ours");
  BOOST_TEST(listed({at("/q")}).at("foreign_nodes").as_int64() == 1);
  BOOST_TEST(zkadmin({"queue", "drop", at("/q"), "letter-2000000000", "--rw"}).err ==
             "zkadmin: letter-2000000000 holds no dead letter: nothing was sent\n");
  write_letter("/q/_dead/letter-2000000001", "entry-007-0000000001", "of a priority queue");
  BOOST_TEST(zkadmin({"queue", "requeue", at("/q"), "letter-2000000001", "--rw"}).err ==
             "zkadmin: it is not of an item that this queue could have had: nothing was sent\n");
  BOOST_TEST(zkadmin({"queue", "drop", at("/q"), "--all", "--rw", "--yes", at("/q")}).out ==
             "dropped 2 of 2 letters of " + at("/q") + "\n");
  BOOST_TEST(children("/q/_dead") == (std::vector<std::string>{"letter-2000000000"}));

  create("/e", R"({"zkrecipes":"term","epoch":1})");
  BOOST_TEST(zkadmin({"queue", "letters", at("/e")}).err ==
             "zkadmin: " + at("/e") + " is no queue: it holds data of another recipe (election)\n");
  BOOST_TEST(zkadmin({"queue", "letters", at("/none")}).err == "zkadmin: there is no queue at " + at("/none") + "\n");
  BOOST_TEST(zkadmin({"queue", "letters", at("/q"), "--group", "g"}).code == 2);
  BOOST_TEST(zkadmin({"queue", "requeue", at("/q")}).code == 2);
  BOOST_TEST(zkadmin({"queue", "drop", at("/q"), "x", "--yes", at("/q")}).code == 2);
  BOOST_TEST(zkadmin({"queue", "drop", at("/q"), "x", "--all"}).code == 2);
}

BOOST_AUTO_TEST_SUITE_END()
