// `zkadmin queue` against real servers.
#include "cluster/letters.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <boost/json/parse.hpp>

#include <zkrecipes/delay_queue.hpp>
#include <zkrecipes/priority_queue.hpp>
#include <zkrecipes/queue.hpp>

#include <testcluster/op_code.hpp>

#include "change/letter_change.hpp"
#include "live/admin_fixture.hpp"
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

BOOST_AUTO_TEST_CASE(a_letter_is_revived_at_the_end) {
  removes("/q");
  queue jobs(zk(), "/q");
  bury(jobs, "old");
  BOOST_TEST(!std::get<0>(run(jobs.async_put("new", tuple))));
  const auto letter = first_letter("/q");
  const auto requests = "delete " + at("/q/_dead/") + letter + " version=0\ncreate " + at("/q/qn-N") + " data=old\n";
  const auto shown = zkadmin({"queue", "revive", at("/q"), letter});
  BOOST_TEST(shown.code == 1);
  BOOST_TEST(shown.out == requests);
  BOOST_TEST(shown.err == "zkadmin: nothing was sent; add --rw to send this\n");
  BOOST_TEST(items("/q") == (std::vector<std::string>{"new"}));

  const auto done = zkadmin({"queue", "revive", at("/q"), letter, "--rw"}, {{"ZKADMIN_AUDIT_PATH", at("/log")}});
  leaves("/log");
  BOOST_TEST(done.code == 0, done.err);
  BOOST_TEST(done.err == requests + "audit node " + at("/log") + "\n");
  BOOST_TEST(done.out == "revived " + letter + " of " + at("/q") + "\n");
  BOOST_TEST(items("/q") == (std::vector<std::string>{"new", "old"}));
  BOOST_TEST(listed({at("/q")}).at("letters").as_array().empty());
  const auto log = json::parse(zkadmin({"audit", "-o", "json"}, {{"ZKADMIN_AUDIT_PATH", at("/log")}}).out);
  BOOST_TEST(log.at("interventions").at(0).at("state") == "done");
  BOOST_TEST(log.at("interventions").at(0).at("requests").as_string() == requests);
  const auto again = zkadmin({"queue", "revive", at("/q"), letter, "--rw"});
  BOOST_TEST(again.code == 1);
  BOOST_TEST(again.err == "zkadmin: there is no letter " + letter + " in " + at("/q/_dead") + "\n");
}

BOOST_AUTO_TEST_CASE(items_keep_their_priority_or_their_time) {
  for (const char* each : {"/p", "/p-side", "/d"}) removes(each);
  priority_queue urgent(zk(), "/p");
  bury(urgent, "mail", 7);
  BOOST_TEST(zkadmin({"queue", "revive", at("/p"), first_letter("/p")}).out.find("create " + at("/p/entry-007-N")) !=
             std::string::npos);
  BOOST_TEST(zkadmin({"queue", "revive", at("/p"), first_letter("/p"), "--rw"}).code == 0);
  BOOST_TEST(std::get<1>(run(urgent.async_pop(tuple))).data == "mail");
  delay_queue later(zk(), "/d");
  bury(later, "bill", std::chrono::milliseconds(0));
  const auto item = std::string(listed({at("/d")}).at("letters").at(0).at("item").as_string());
  BOOST_TEST(zkadmin({"queue", "revive", at("/d"), "--all", "--rw"}).code == 0);
  const auto put = std::get<1>(run(later.async_pop(tuple)));
  BOOST_TEST(put.data == "bill");
  BOOST_TEST(put.name.substr(0, put.name.rfind('-')) == item.substr(0, item.rfind('-')));
}

BOOST_AUTO_TEST_CASE(all_letters_are_revived_in_order) {
  removes("/q");
  bury_many(120);
  const auto shown = zkadmin({"queue", "revive", at("/q"), "--all"});
  BOOST_TEST(shown.code == 1);
  BOOST_TEST(shown.out.starts_with("transaction 1 of 3\ndelete " + at("/q/_dead/letter-1000000000")), shown.out);
  BOOST_TEST(shown.out.ends_with(" data=119\n120 letters\n"), shown.out);
  BOOST_TEST(children("/q/_dead").size() == 120u);
  const auto done = zkadmin({"queue", "revive", at("/q"), "--all", "--rw"});
  BOOST_TEST(done.code == 0, done.err);
  BOOST_TEST(done.err.ends_with("... and 1 more transaction\n120 letters\n"), done.err);
  BOOST_TEST(done.out == "revived 120 of 120 letters of " + at("/q") + "\n");
  BOOST_TEST(items("/q") == numbers(0, 119));
  BOOST_TEST(children("/q/_dead").empty());
  BOOST_TEST(zkadmin({"queue", "revive", at("/q"), "--all", "--rw"}).err ==
             "zkadmin: there are no dead letters in " + at("/q/_dead") + ": nothing was sent\n");
}

BOOST_AUTO_TEST_CASE(all_letters_are_discarded_if_the_path_is_confirmed) {
  removes("/q");
  bury_many(3);
  const auto discard = [this](std::vector<std::string> more) {
    more.insert(more.begin(), {"queue", "discard", at("/q"), "--all", "--rw"});
    return zkadmin(std::move(more));
  };
  const auto unconfirmed = discard({});
  BOOST_TEST(unconfirmed.code == 1);
  BOOST_TEST(unconfirmed.err.ends_with("without a terminal to ask at, confirm with --yes " + at("/q") + "\n"),
             unconfirmed.err);
  BOOST_TEST(discard({"--yes", "/other"}).code == 2);
  BOOST_TEST(children("/q/_dead").size() == 3u);
  const auto done = discard({"--yes", at("/q")});
  BOOST_TEST(done.code == 0, done.err);
  BOOST_TEST(done.err.starts_with("delete " + at("/q/_dead/letter-1000000000") + " version=0\n"), done.err);
  BOOST_TEST(done.out == "discarded 3 of 3 letters of " + at("/q") + "\n");
  BOOST_TEST(children("/q/_dead").empty());
  BOOST_TEST(items("/q").empty());
}

BOOST_AUTO_TEST_CASE(letters_that_change_while_the_user_types_are_left_alone) {
  removes("/q");
  bury_many(3);
  pseudo_terminal terminal(io(), 200, 20);
  terminal.start({ZKADMIN_PROGRAM, "queue", "discard", at("/q"), "--all", "--rw"},
                 {{"ZKADMIN_HOSTS", hosts}, {"ZKADMIN_TIMEOUT", "20s"}});
  BOOST_TEST(terminal.shows("Type the path to discard 3 letters:"));
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
  const auto plan = zkadmin::plan_letters(read, zkadmin::letter_fate::revive);
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
  auto discard = zkadmin::plan_letters(read, zkadmin::letter_fate::discard);
  remove("/q/_dead/letter-1000000070");
  write_letter("/q/_dead/letter-1000000070", "qn-1000000070", "another");
  const auto revived = run(sent(zk(), zkadmin::plan_letters(read, zkadmin::letter_fate::revive)));
  BOOST_TEST((revived.is_changed && revived.done == 50u));
  BOOST_TEST(items("/q") == numbers(0, 49));
  discard.steps.erase(discard.steps.begin());
  const auto discarded = run(sent(zk(), discard));
  BOOST_TEST((discarded.is_changed && discarded.done == 0u));
  BOOST_TEST(children("/q/_dead").size() == 70u);
  BOOST_TEST(get("/q/_dead/letter-1000000070").data.ends_with("another"));
}

BOOST_AUTO_TEST_CASE(a_lost_answer_tells_what_is_seen_afterwards) {
  removes("/q");
  bury_many(2);
  const std::string letter = "letter-1000000000", node = "/q/_dead/" + letter;
  const auto revive = [this](const std::string& which) {
    return zkadmin({"queue", "revive", at("/q"), which, "--rw", "--hosts", own().address()});
  };
  own().drop_request(testcluster::op::multi);
  const auto before = revive(letter);
  BOOST_TEST(fails(before, 1, "sending the request: "));
  BOOST_TEST(before.err.ends_with(at(node) + " is as it was\n"), before.err);
  BOOST_TEST((contains(node) && items("/q").empty()));
  own().drop_reply(testcluster::op::multi);
  const auto behind = revive(letter);
  BOOST_TEST(behind.code == 1);
  BOOST_TEST(behind.err.ends_with(at(node) + " has gone since\n"), behind.err);
  BOOST_TEST((!contains(node) && items("/q") == std::vector<std::string>{"0"}));
  const auto again = revive(letter);  // what is done is not done twice
  BOOST_TEST(again.code == 1);
  BOOST_TEST(again.err == "zkadmin: there is no letter " + letter + " in " + at("/q/_dead") + "\n");
  BOOST_TEST(items("/q") == (std::vector<std::string>{"0"}));
}

BOOST_AUTO_TEST_CASE(a_lost_answer_ends_the_transactions_of_all_letters) {
  removes("/q");
  bury_many(120);
  own().drop_reply(testcluster::op::multi, 2);
  BOOST_TEST(fails(zkadmin({"queue", "revive", at("/q"), "--all", "--rw", "--hosts", own().address()}), 1,
                   "revived 50 of 120 letters of " + at("/q") + " for certain: "));
  BOOST_TEST(items("/q") == numbers(0, 99));
  BOOST_TEST(children("/q/_dead").size() == 20u);
  const auto rest = zkadmin({"queue", "revive", at("/q"), "--all", "--rw"});
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
  const auto refused = zkadmin({"queue", "revive", at("/q"), letter, "--rw"});
  BOOST_TEST(refused.code == 1);
  BOOST_TEST(refused.err ==
             "zkadmin: the key is parked, so its letters are put back together or not at all: nothing "
             "was sent\n");
  const auto done = zkadmin({"queue", "revive", at("/q"), "--all", "--rw"});
  BOOST_TEST(done.code == 0, done.err);
  BOOST_TEST(done.err.ends_with("left out: 1 letter of parked keys\n1 letter\n"), done.err);
  BOOST_TEST(children("/q/_dead") == (std::vector<std::string>{letter}));
  BOOST_TEST(zkadmin({"queue", "letters", at("/q")}).out.find("k (parked)") != std::string::npos);
  remove(std::string("/q/_parked/") + parked_mark);  // then it is a letter like any other
  BOOST_TEST(zkadmin({"queue", "revive", at("/q"), letter, "--rw"}).code == 0);
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
  const auto done = zkadmin({"queue", "revive", at("/t"), "letter-0000000005", "--group", "mail", "--rw"});
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
  BOOST_TEST(zkadmin({"queue", "discard", at("/q"), "letter-2000000000", "--rw"}).err ==
             "zkadmin: letter-2000000000 holds no dead letter: nothing was sent\n");
  write_letter("/q/_dead/letter-2000000001", "entry-007-0000000001", "of a priority queue");
  BOOST_TEST(zkadmin({"queue", "revive", at("/q"), "letter-2000000001", "--rw"}).err ==
             "zkadmin: it is not of an item that this queue could have had: nothing was sent\n");
  BOOST_TEST(zkadmin({"queue", "discard", at("/q"), "--all", "--rw", "--yes", at("/q")}).out ==
             "discarded 2 of 2 letters of " + at("/q") + "\n");
  BOOST_TEST(children("/q/_dead") == (std::vector<std::string>{"letter-2000000000"}));

  create("/e", R"({"zkrecipes":"term","epoch":1})");
  BOOST_TEST(zkadmin({"queue", "letters", at("/e")}).err ==
             "zkadmin: " + at("/e") + " is no queue: it holds data of another recipe (election)\n");
  BOOST_TEST(zkadmin({"queue", "letters", at("/none")}).err == "zkadmin: there is no queue at " + at("/none") + "\n");
  removes("/folder");
  create("/folder");
  BOOST_TEST(listed({at("/folder")}).at("letters").as_array().empty(), "it may be a queue that is drained");
  create("/folder/lock");
  create("/folder/_c_x-lock-0000000001");
  const auto folder = zkadmin({"queue", "letters", at("/folder")});
  BOOST_TEST(folder.code == 1);
  BOOST_TEST(folder.out == "");
  BOOST_TEST(folder.err == "zkadmin: " + at("/folder") + " is no queue: no items and no letters are there\n");
  const auto asked = zkadmin({"recipes", at("/folder"), "--kind", "queue", "-o", "json"});
  BOOST_TEST(asked.out.find("\"state\":\"nothing of a queue is there\"") != std::string::npos, asked.out);
  BOOST_TEST(zkadmin({"queue", "letters", at("/q"), "--group", "g"}).code == 2);
  BOOST_TEST(zkadmin({"queue", "revive", at("/q")}).code == 2);
  BOOST_TEST(zkadmin({"queue", "discard", at("/q"), "x", "--yes", at("/q")}).code == 2);
  BOOST_TEST(zkadmin({"queue", "discard", at("/q"), "x", "--all"}).code == 2);
}

BOOST_AUTO_TEST_SUITE_END()

// The ACL of what `zkadmin queue revive` puts back, against real servers.

namespace {

/// A queue that is its owner's to write, and everybody's to read, to fill and to empty.
struct letters_access_fixture : recipe_fixture {
  const std::map<std::string, std::string> credentials{{"ZKADMIN_DIGEST", "admin:topsecret"}};
  const std::string path = root() + "/q";

  session connect_owner() {
    auto mine = options();
    mine.digest.push_back({"admin", "topsecret"});
    mine.default_acl = {{perm_all, "auth", ""}, {perm_read | perm_create | perm_delete, "world", "anyone"}};
    return connect(mine);
  }
  void bury_one(queue& from, const std::string& data) {
    BOOST_TEST_REQUIRE(!std::get<0>(run(from.async_put(data, tuple))));
    auto taken = run(from.async_take(tuple));
    BOOST_TEST_REQUIRE(!std::get<0>(taken));
    BOOST_TEST_REQUIRE(!std::get<0>(run(from.async_reject(std::get<1>(taken), "no luck", tuple))));
  }
  std::vector<std::string> sorted_children(const std::string& node) {
    auto names = children(node);
    std::erase_if(names, [](const std::string& each) { return each.starts_with('_'); });
    std::ranges::sort(names);
    return names;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(letters_access_suite, letters_access_fixture)

BOOST_AUTO_TEST_CASE(an_item_that_is_put_back_has_the_acl_of_its_queue) {
  removes("/q");
  auto owner = connect_owner();
  queue jobs(owner, "/q");
  for (const auto* each : {"old", "older"}) bury_one(jobs, each);
  const auto acl_of = [&](const std::string& node) { return std::get<1>(run(owner.async_get_acl(node, tuple))); };

  const auto refused = zkadmin({"queue", "revive", path, "--all", "--rw"});
  BOOST_TEST(refused.code == 5, refused.err);
  BOOST_TEST(refused.err.find("the ACL of " + path + " is hidden from these credentials") != std::string::npos,
             refused.err);
  BOOST_TEST(sorted_children("/q").empty());
  const auto letters = sorted_children("/q/_dead");
  BOOST_TEST_REQUIRE(letters.size() == 2u);
  const auto one = zkadmin({"queue", "revive", path, letters[0], "--rw"}, credentials);
  BOOST_TEST(one.code == 0, one.err);
  BOOST_TEST(one.err == "delete " + path + "/_dead/" + letters[0] + " version=0\ncreate " + path +
                            "/qn-N acl=digest:admin:cdrwa,world:anyone:cdr data=old\n");
  const auto rest = zkadmin({"queue", "revive", path, "--all", "--rw"}, credentials);
  BOOST_TEST(rest.code == 0, rest.err);
  const auto items = sorted_children("/q");
  BOOST_TEST_REQUIRE(items.size() == 2u);
  for (const auto& each : items) {
    const auto node = "/q/" + each;
    BOOST_TEST((acl_of(node) == acl_of("/q")), node);
    BOOST_TEST(std::get<0>(run(zk().async_set(node, "other", any_version, tuple))) == errc::no_auth, node);
  }
  BOOST_TEST(get("/q/" + items[0]).data == "old");
}

BOOST_AUTO_TEST_SUITE_END()

// `zkadmin queue revive-key` against real servers.

namespace {

constexpr const char* mark_of_k = "01234567-89ab-5cde-8123-456789abcdef";
constexpr const char* mark_of_j = "11234567-89ab-5cde-8123-456789abcdef";

struct revive_key_fixture : recipe_fixture {
  revive_key_fixture() {
    removes("/q");
    create("/q");
    make_folders("/q");
  }

  std::string at(const std::string& path) const { return root() + path; }
  std::string mark() const { return at("/q/_parked/") + mark_of_k; }

  void make_folders(const std::string& side) {
    create(side + "/_dead");
    create(side + "/_parked");
  }

  /// A parked key with letters of these items, as a consumer leaves it.
  void park(const std::string& side, const std::string& mark, const std::string& key,
            const std::vector<std::string>& items) {
    create(side + "/_parked/" + mark, R"({"zkrecipes":"parked_key","key":")" + key + "\"}");
    create(side + "/_parked/" + mark + "/p-1");
    for (std::size_t i = 0; i < items.size(); ++i) {
      create(side + "/_dead/" + mark + "-letter-000000000" + std::to_string(i),
             R"({"zkrecipes":"dead_letter","item":")" + items[i] + R"(","attempts":3,"reason":"no luck","key":")" +
                 key + "\"}\n" + items[i]);
    }
  }

  program_result revive_key(const std::string& key, std::vector<std::string> more = {},
                            const std::map<std::string, std::string>& environment = {}) {
    more.insert(more.begin(), {"queue", "revive-key", at("/q"), key});
    return zkadmin(std::move(more), environment);
  }

  std::vector<std::string> items(const std::string& path) {
    auto names = children(path);
    std::erase_if(names, [](const std::string& each) { return each.starts_with("_"); });
    std::sort(names.begin(), names.end());
    return names;
  }
};

using name_list = std::vector<std::string>;

}  // namespace

BOOST_FIXTURE_TEST_SUITE(revive_key_suite, revive_key_fixture)

BOOST_AUTO_TEST_CASE(the_letters_of_a_key_get_their_old_places) {
  park("/q", mark_of_k, "k", {"qn-0000000001", "qn-0000000002"});
  park("/q", mark_of_j, "j", {"qn-0000000003"});
  const auto shown = revive_key("k");
  BOOST_TEST(shown.code == 1);
  BOOST_TEST(shown.out == "# then puts 2 messages back in order, and removes the mark\ncheck " + mark() + "/p-1\nset " +
                              mark() + R"( version=0 data={"zkrecipes":"parked_key","key":"k"})" + "\n");
  BOOST_TEST(shown.err == "zkadmin: nothing was sent; add --rw to send this\n");
  BOOST_TEST(items("/q") == name_list());
  BOOST_TEST(get(std::string("/q/_parked/") + mark_of_k).stat.version == 0);

  const auto done = revive_key("k", {"--rw"});
  BOOST_TEST(done.code == 0, done.err);
  BOOST_TEST(done.out == "holds the key, with 2 messages\nrevived: 2 messages back in " + at("/q") + "\n");
  BOOST_TEST(items("/q") == (name_list{"qn-0000000001", "qn-0000000002"}));
  BOOST_TEST(get("/q/qn-0000000002").data == "qn-0000000002");
  BOOST_TEST(children("/q/_parked") == name_list{mark_of_j});
  BOOST_TEST(children("/q/_dead") == name_list{std::string(mark_of_j) + "-letter-0000000000"});

  const auto by_mark = revive_key(mark_of_j, {"--rw"});
  BOOST_TEST(by_mark.code == 0, by_mark.err);
  BOOST_TEST(items("/q").size() == 3u);
  const auto again = revive_key("k", {"--rw"});
  BOOST_TEST(again.code == 1);
  BOOST_TEST(again.err == "zkadmin: no key k of " + at("/q") + " is parked; those that are: -: nothing was sent\n");
}

BOOST_AUTO_TEST_CASE(what_was_interrupted_is_completed) {
  park("/q", mark_of_k, "k", {"qn-0000000001", "qn-0000000002"});
  remove(std::string("/q/_dead/") + mark_of_k + "-letter-0000000000");
  create("/q/qn-0000000001", "qn-0000000001");
  const auto held = run(zk().async_set(std::string("/q/_parked/") + mark_of_k, "", any_version, tuple));
  BOOST_TEST_REQUIRE(!std::get<0>(held));
  const auto done = revive_key(mark_of_k, {"--rw"});
  BOOST_TEST(done.code == 0, done.err);
  BOOST_TEST(items("/q") == (name_list{"qn-0000000001", "qn-0000000002"}));
  BOOST_TEST(children("/q/_parked") == name_list());
}

BOOST_AUTO_TEST_CASE(queues_of_other_kinds) {
  removes("/q-side");
  create("/q-side");
  make_folders("/q-side");
  park("/q-side", mark_of_k, "k", {"entry-009-0000000001"});
  const auto priority = revive_key("k");
  BOOST_TEST(priority.out.find("set " + at("/q-side/_parked/") + mark_of_k) != std::string::npos, priority.out);
  park("/q", mark_of_j, "j", {"at-0000000000000007-0000000001"});
  const auto delayed = revive_key("j", {"--rw"});
  BOOST_TEST(delayed.code == 0, delayed.err);
  BOOST_TEST(items("/q") == name_list{"at-0000000000000007-0000000001"});
}

// The queue was removed and made again since: another item may get a name of old.
BOOST_AUTO_TEST_CASE(places_that_may_be_taken_are_not_given_back) {
  removes("/q-side");
  create("/q-side");
  make_folders("/q-side");
  park("/q-side", mark_of_k, "k", {"entry-009-0000000001"});
  for (const char* each : {"/q/_dead", "/q/_parked", "/q"}) remove(each);
  create("/q");
  BOOST_TEST(fails(revive_key("k", {"--rw"}), 1, "was removed since the key was parked"));
  BOOST_TEST(get(std::string("/q-side/_parked/") + mark_of_k).stat.version == 0);
}

BOOST_AUTO_TEST_CASE(items_have_the_acl_of_the_queue) {
  park("/q", mark_of_k, "k", {"qn-0000000001"});
  auto mine = options();
  mine.digest.push_back({"admin", "topsecret"});
  auto owner = connect(mine);
  const acl closed{{perm_all, "auth", ""}, {perm_read | perm_create | perm_delete, "world", "anyone"}};
  BOOST_TEST_REQUIRE(!std::get<0>(run(owner.async_set_acl("/q", closed, any_version, tuple))));
  settle(zk());
  const auto refused = revive_key("k", {"--rw"});
  BOOST_TEST(refused.code == 5, refused.err);
  BOOST_TEST(get(std::string("/q/_parked/") + mark_of_k).stat.version == 0);
  const auto done = revive_key("k", {"--rw"}, {{"ZKADMIN_DIGEST", "admin:topsecret"}});
  BOOST_TEST(done.code == 0, done.err);
  settle(owner);
  const auto acl_of = [&](const std::string& node) { return std::get<1>(run(owner.async_get_acl(node, tuple))); };
  BOOST_TEST((acl_of("/q/qn-0000000001") == acl_of("/q")));
}

BOOST_AUTO_TEST_SUITE_END()
