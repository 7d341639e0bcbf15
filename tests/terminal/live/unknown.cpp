// A tree in which something is wrong, and what can not be known.
#include <cstdlib>
#include <deque>

#include <boost/json/parse.hpp>

#include <zkrecipes/lock.hpp>
#include <zkrecipes/transaction.hpp>

#include "cluster/recognize.hpp"
#include "live/admin_fixture.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;
namespace json = boost::json;

// `zkadmin recipes` and `check` on a tree in which something is wrong everywhere: each anomaly is named, and the rest
// is right.

namespace {

const std::string member = "_c_6c254eae-e9d0-2e7f-e2b1-3aea3aa596e6-";

class damaged_fixture : public recipe_fixture {
 public:
  /// A node, and what is removed with it at the end.
  void make(const std::string& path, const std::string& data = "", create_mode mode = create_mode::persistent) {
    if (path.rfind('/') == 0) removes(path);
    create(path, data, mode);
  }

  /// A lock that is as it should be.
  void make_good() {
    make("/good");
    make("/good/" + member + "lock-0000000001", R"({"zkrecipes":"member","id":"a","revocable":true})",
         create_mode::ephemeral);
  }

  void put_items(const std::string& path, int count) {
    constexpr int together = 1'000;
    for (int put = 0; put < count; put += together) {
      transaction all;
      for (int i = 0; i < together; ++i) all.create(path + "/qn-", "x", create_mode::persistent_sequential);
      const auto result = run(zk().async_commit(std::move(all), tuple));
      BOOST_TEST_REQUIRE(!std::get<0>(result), std::get<0>(result).message());
    }
  }

  /// Removing many nodes one by one takes longer than one operation may.
  void remove_items(const std::string& path) {
    const auto names = children(path);
    for (std::size_t begin = 0; begin < names.size(); begin += 1'000) {
      transaction all;
      for (auto i = begin; i < std::min(names.size(), begin + 1'000); ++i) all.remove(path + "/" + names[i]);
      BOOST_TEST_REQUIRE(!std::get<0>(run(zk().async_commit(std::move(all), tuple))));
    }
  }

  static std::string problems_of(const json::object& recipe) {
    std::string text;
    for (const auto& each : recipe.at("problems").as_array())
      text += (text.empty() ? "" : " ") + std::string(each.at("name").as_string());
    return text;
  }

  /// 20 000, or as many as the environment says.
  static int many_items() {
    const char* const wanted = std::getenv("ZKADMIN_TEST_ITEMS");
    return wanted ? std::atoi(wanted) : 20'000;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(damaged_suite, damaged_fixture)

BOOST_AUTO_TEST_CASE(orphans_are_named_and_critical_only_where_they_are_in_the_way) {
  make_good();
  make("/first");
  make("/first/" + member + "lock-0000000001", "copied");
  make("/first/" + member + "lock-0000000002", "b", create_mode::ephemeral);
  make("/second");
  make("/second/" + member + "__READ__0000000001", "a", create_mode::ephemeral);
  make("/second/" + member + "__READ__0000000002", "copied");
  BOOST_TEST(problems_of(recipe_at("/first")) == "orphan-member");
  BOOST_TEST(problems_of(recipe_at("/second")) == "orphan-member");
  BOOST_TEST(recipe_at("/first").at("problems").at(0).at("severity") == "critical");
  BOOST_TEST(recipe_at("/second").at("problems").at(0).at("severity") == "warning");
  BOOST_TEST(recipe_at("/good").at("holder") == "a");
  BOOST_TEST(problems_of(recipe_at("/good")) == "");
  const auto checked = zkadmin({"check"});
  BOOST_TEST(checked.code == 2);
  BOOST_TEST(
      checked.out.find("critical orphan-member " + root() + "/first: without a session: copied;") != std::string::npos,
      checked.out);
  BOOST_TEST(zkadmin({"check", "--only", root() + "/good"}).code == 0);
  BOOST_TEST(zkadmin({"check", "--only", "recipes"}).code == 2);
}

BOOST_AUTO_TEST_CASE(foreign_nodes_and_garbage) {
  make_good();
  make("/line");
  make("/line/" + member + "lock-0000000001", R"({"zkrecipes":"member","id":"a"})", create_mode::ephemeral);
  make("/line/qn-0000000007");
  make("/line/settings");  // means nothing to any recipe
  make("/permits", R"({"zkrecipes":"semaphore","size":"many"})");
  make("/round", R"({"zkrecipes":"double_barrier","round":-1})");
  make("/round/" + member + "3-member-0000000001", "x", create_mode::ephemeral);
  make("/e", std::string("{\"zkrecipes\":\"term\",\"epoch\":\"x\"}"));
  make("/noise", std::string("\x00\xff{\x1b[2J", 7));
  make("/noise/" + member + "lock-0000000001", std::string("{\"id\":\x01\xfe", 9), create_mode::ephemeral);
  BOOST_TEST(problems_of(recipe_at("/line")) == "foreign-nodes");
  BOOST_TEST(recipe_at("/line").at("foreign_nodes").at("names").at(0) == "qn-0000000007");
  for (const char* each : {"/permits", "/round", "/e"}) {
    BOOST_TEST(recipe_at(each).at("access") == "foreign_data", each);
    BOOST_TEST(problems_of(recipe_at(each)) == "foreign-data", each);
  }
  BOOST_TEST(recipe_at("/noise").at("state") == "held");
  BOOST_TEST(problems_of(recipe_at("/good")) == "");
  for (const auto& result : {zkadmin({"recipes"}), zkadmin({"recipes", root() + "/noise"})}) {
    BOOST_TEST(result.code == 0, result.err);
    for (const unsigned char c : result.out) BOOST_TEST((c == '\n' || (c >= 0x20 && c != 0x7f)));
  }
}

BOOST_AUTO_TEST_CASE(what_may_not_be_read_is_named_and_the_rest_is_right) {
  make_good();
  auto mine = options();
  mine.digest.push_back({"admin", "topsecret"});
  auto owner = connect(mine);
  run(owner.async_create("/closed", "", create_mode::persistent, creator_acl(), tuple));
  make("/half");
  run(owner.async_create("/half/" + member + "lock-0000000001", "a", create_mode::ephemeral, creator_acl(), tuple));
  const auto listed = zkadmin({"recipes", "--recipes", "lock:" + root() + "/closed", "-o", "json"});
  BOOST_TEST(listed.code == 5);
  BOOST_TEST(
      listed.err.find("note: " + root() + "/closed: may not be read with these credentials") != std::string::npos,
      listed.err);
  const auto all = json::parse(listed.out);
  BOOST_TEST(!all.at("complete").as_bool());
  BOOST_TEST(all.at("recipes").at(0).at("access") == "no_access");
  BOOST_TEST(recipe_at("/good", {}, 5).at("holder") == "a");
  const auto half = recipe_at("/half", {}, 5);
  BOOST_TEST(half.at("holder").as_string() == member + "lock-0000000001", "its id may not be read");
  BOOST_TEST(!half.at("participants").at(0).at("readable").as_bool());
  BOOST_TEST(half.at("session").as_string() == session_text(owner));
  const auto allowed = run_zkadmin(io(), {"recipes", "-o", "json"},
                                   {{"ZKADMIN_HOSTS", hosts},
                                    {"ZKADMIN_ROOT", root()},
                                    {"ZKADMIN_TIMEOUT", "20s"},
                                    {"ZKADMIN_DIGEST", "admin:topsecret"}});
  BOOST_TEST(allowed.code == 0, allowed.err);
  run(owner.async_remove("/closed", any_version, tuple));
  run(owner.async_close(tuple));
}

// Names may hold anything but control characters: quotes, spaces, marks of direction, combining marks.
BOOST_AUTO_TEST_CASE(names_of_odd_bytes) {
  const std::string odd = "/\xc3\xbc \"\\|\xe2\x80\xae\xcc\x81\xe7\x95\x8c";
  make(odd);
  make(odd + "/" + member + "lock-0000000001", "a\xe2\x80\xae\n\t\x1b]0;x\x07", create_mode::ephemeral);
  BOOST_TEST(recipe_at(odd).at("state") == "held");
  for (const auto& result : {zkadmin({"recipes"}), zkadmin({"recipes", root() + odd}), zkadmin({"check"})}) {
    BOOST_TEST(result.code == 0, result.err);
    BOOST_TEST(result.out.find("\xe2\x80\xae") == std::string::npos);
    for (const unsigned char c : result.out) BOOST_TEST((c == '\n' || (c >= 0x20 && c != 0x7f)));
  }
  const auto lines = zkadmin({"recipes", "-o", "tsv"}).out;
  BOOST_TEST(lines.find("\\x1b]0;x\\x07") != std::string::npos, lines);
}

BOOST_AUTO_TEST_CASE(a_backlog_hides_nothing_and_costs_little) {
  make_good();
  make("/jobs");
  put_items("/jobs", many_items());
  make("/jobs/" + member + "lock-0000000001", "lost", create_mode::ephemeral);  // of another recipe
  const auto jobs = recipe_at("/jobs");
  BOOST_TEST(jobs.at("kind") == "queue");
  BOOST_TEST(jobs.at("waiting").as_int64() == many_items());
  BOOST_TEST(recipe_at("/good").at("holder") == "a");
  const auto document = json::parse(zkadmin({"recipes", "-o", "json"}).out);
  BOOST_TEST(document.at("complete").as_bool(), "no item was visited");
  remove_items("/jobs");
}

BOOST_AUTO_TEST_CASE(a_line_of_many_is_counted_and_the_first_ones_are_read) {
  make("/line");
  transaction all;
  for (int i = 0; i < 100; ++i)
    all.create("/line/" + member + "lock-", "w" + std::to_string(i), create_mode::ephemeral_sequential);
  BOOST_TEST_REQUIRE(!std::get<0>(run(zk().async_commit(std::move(all), tuple))));
  const auto listed = recipe_at("/line");
  BOOST_TEST(listed.at("waiting").as_int64() == 99);
  BOOST_TEST(listed.at("participants").as_array().size() == 20u);
  BOOST_TEST(listed.at("not_read").as_int64() == 80);
  const auto one = json::parse(zkadmin({"recipes", root() + "/line", "-o", "json"}).out).at("recipes").at(0);
  BOOST_TEST(one.at("participants").as_array().size() == 100u);
  BOOST_TEST(one.at("not_read").as_int64() == 0);
}

// As their clients lay them out.
BOOST_AUTO_TEST_CASE(recipes_of_curator_and_kazoo) {
  const std::string hex = "6c254eaee9d02e7fe2b13aea3aa596e6";
  make("/curator");
  make("/curator/locks");
  make("/curator/locks/" + member + "lock-0000000002", "10.0.0.2", create_mode::ephemeral);
  make("/curator/leases");
  make("/curator/leases/" + member + "lease-0000000001", "10.0.0.1", create_mode::ephemeral);
  make("/kazoo", "2");
  make("/kazoo/" + hex, "w1", create_mode::ephemeral);
  make("/kazoo-__lock__");
  make("/kazoo-__lock__/" + hex + "__lock__0000000001", "w2", create_mode::ephemeral);
  make("/kazoos");
  make("/kazoos/" + hex + "__lock__0000000001", "w3", create_mode::ephemeral);
  make("/locking");
  make("/locking/entries");
  make("/locking/entries/entry-100-0000000001", "x");
  make("/locking/taken");
  make("/locking/taken/entry-100-0000000001", "w4", create_mode::ephemeral);

  const auto curators = recipe_at("/curator");
  BOOST_TEST(curators.at("kind") == "semaphore");
  BOOST_TEST(curators.at("client") == "Curator");
  BOOST_TEST(curators.at("size").is_null());
  BOOST_TEST(roles_of(curators) == "holder or waiter 10.0.0.1, waiter 10.0.0.2");
  const auto kazoos = recipe_at("/kazoo");
  BOOST_TEST(kazoos.at("kind") == "semaphore");
  BOOST_TEST((kazoos.at("size").as_int64() == 2 && kazoos.at("taken").as_int64() == 1));
  BOOST_TEST(roles_of(kazoos) == "holder w1, waiter w2");
  BOOST_TEST(json::value(recipe_at("/kazoos").at("kinds")) == (json::array{"lock", "read_write_lock", "election"}));
  const auto locking = recipe_at("/locking/entries");
  BOOST_TEST(locking.at("kind") == "queue");
  BOOST_TEST(locking.at("facts").at("claimed").as_int64() == 1);
  BOOST_TEST(list().as_array().size() == 4u, "no part of a recipe is listed as another one");
}

BOOST_AUTO_TEST_SUITE_END()

// Unknown is not none: each kind of thing that zkadmin shows, for each reason why it can not be known.

namespace {

/// How the data of the node that a kind goes by is treated.
struct kind_row {
  const char* kind;
  const char* node;     ///< Behind the path: the node whose data tells the kind.
  const char* foreign;  ///< Data of the kind that this version can not read; empty: the kind keeps no record.
  const char* later;    ///< Data of a later version that it can read: a field more; empty: there is no such data.
};

constexpr const char* term_and_more =
    R"({"zkrecipes":"term","epoch":3,"phase":"retired","how":"clean","hand_over_deadline_ms":1,"later":[1],)"
    R"("leader":{"id":"a","node":"n","token":1,"later":2}})";

const kind_row kinds[] = {
    {"election", "", R"({"zkrecipes":"term","epoch":"x"})", term_and_more},
    {"shard_group", "", R"({"zkrecipes":"shards","count":4,"hash":"later"})",
     R"({"zkrecipes":"shards","count":4,"hash":"crc32","later":1})"},
    {"topic", "", R"({"zkrecipes":"topic","count":"x","hash":"crc32"})",
     R"({"zkrecipes":"topic","count":2,"hash":"crc32","later":1})"},
    {"two_phase_commit", "", R"({"zkrecipes":"two_phase_commit","layout":99})",
     R"({"zkrecipes":"two_phase_commit","layout":2,"later":1})"},
    {"lock", "", "", ""},
    {"read_write_lock", "", "", ""},
    {"semaphore", "", R"({"zkrecipes":"semaphore","size":0})", R"({"zkrecipes":"semaphore","size":3,"later":1})"},
    {"barrier", "", R"({"zkrecipes":"barrier_2"})", R"({"zkrecipes":"barrier","later":1})"},
    {"double_barrier", "", R"({"zkrecipes":"double_barrier","round":"x"})",
     R"({"zkrecipes":"double_barrier","round":1,"members":[],"later":1})"},
    {"queue", "", "", ""},
    {"membership", "", "", ""},
    {"service", "", "", ""},
    {"persistent_node", "", "", ""},
    {"shared_gate", "", R"({"zkrecipes":"shared_gate","buckets":"x"})",
     R"({"zkrecipes":"shared_gate","buckets":8,"later":1})"},
    {"once_per_period", "", R"({"zkrecipes":"once_per","per_ms":"x"})",
     R"({"zkrecipes":"once_per","per_ms":60000,"later":1})"},
    {"shared_balance", "/limit", R"({"zkrecipes":"shared_balance","range":0})",
     R"({"zkrecipes":"shared_balance","range":10,"limit":20,"later":1})"},
    {"stream", "", R"({"zkrecipes":"redis_streams","count":"x","hash":"crc32","stream":"s"})",
     R"({"zkrecipes":"redis_streams","count":2,"hash":"crc32","stream":"s","later":1})"},
    {"shared_limiter", "", R"({"zkrecipes":"shards","count":4,"hash":"later"})",
     R"({"zkrecipes":"shards","count":4,"hash":"crc32","later":1})"},
};

/// The commands that tell what is known of a cluster, with the field of their JSON that has it.
struct command_row {
  std::vector<std::string> words;
  const char* field;   ///< Null if nothing is known; empty: the command prints nothing then.
  bool needs_session;  ///< False: servers tell it as well.
};

const command_row commands[] = {
    {{"status"}, "elections", true}, {{"groups"}, "groups", true},   {{"topics"}, "topics", true},
    {{"recipes"}, "recipes", true},  {{"streams"}, "streams", true}, {{"sessions"}, "sessions", true},
    {{"tree", "/"}, "", true},       {{"history", "/e"}, "", true},  {{"audit"}, "", true},
};

class unknown_fixture : public recipe_fixture {
 public:
  /// "lock:/root/of-lock,...", of all rows.
  std::string declared(bool with_records_only) {
    std::string text;
    for (const auto& each : kinds) {
      if (with_records_only && !*each.foreign) continue;
      text += (text.empty() ? "" : ",") + std::string(each.kind) + ":" + root() + place_of(each);
    }
    return text;
  }
  static std::string place_of(const kind_row& row) { return std::string("/of-") + row.kind; }

  /// Makes the node that tells the kind, with its parent if that is another one.
  void make(session& by, const kind_row& row, const std::string& data, const acl& rights) {
    const auto place = place_of(row);
    removes(place);
    if (*row.node) create(place);
    const auto made = run(by.async_create(place + row.node, data, create_mode::persistent, rights, tuple));
    BOOST_TEST_REQUIRE(!std::get<0>(made), std::get<0>(made).message());
  }

  session connect_as_owner() {
    auto mine = options();
    mine.digest.push_back({"admin", "topsecret"});
    return connect(std::move(mine));
  }

  /// What `recipes` prints of the declared ones.
  program_result list_declared(bool with_records_only) {
    return zkadmin({"recipes", "-o", "json", "--recipes", declared(with_records_only)});
  }

  json::object found(const json::value& document, const kind_row& row) {
    for (const auto& each : document.at("recipes").as_array())
      if (each.at("path").as_string() == root() + place_of(row)) return each.as_object();
    BOOST_FAIL("not listed: " << row.kind);
    return {};
  }

  bool is_noted(const json::value& document, const std::string& path) {
    for (const auto& each : document.at("notes").as_array())
      if (each.at("path").as_string() == root() + path) return true;
    return false;
  }

  static std::vector<std::string> as_json(std::vector<std::string> words) {
    words.insert(words.end(), {"-o", "json"});
    return words;
  }

  /// Nothing of what is known is said to be none.
  static void require_unknown(const command_row& row, const program_result& result) {
    const auto& name = row.words.front();
    if (!*row.field) {
      BOOST_TEST(result.out.empty(), name << ": " << result.out);
      return;
    }
    const auto document = json::parse(result.out);
    BOOST_TEST(document.at(row.field).is_null(), name);
    BOOST_TEST(!document.at("complete").as_bool(), name);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(unknown_suite, unknown_fixture)

BOOST_AUTO_TEST_CASE(the_table_has_every_kind) {
  zk();
  std::string all, in_table;
  for (const auto each : zkadmin::all_recipes()) {
    const auto name = zkadmin::identifier_of(each);
    const auto is_it = [&name](const kind_row& row) { return row.kind == name; };
    BOOST_TEST(std::any_of(std::begin(kinds), std::end(kinds), is_it), name);
  }
}

BOOST_AUTO_TEST_CASE(a_recipe_that_may_not_be_read) {
  auto owner = connect_as_owner();
  for (const auto& each : kinds) make(owner, each, each.later, creator_acl());
  const auto listed = list_declared(false);
  BOOST_TEST(listed.code == 5, listed.err);
  const auto document = json::parse(listed.out);
  BOOST_TEST(!document.at("complete").as_bool());
  for (const auto& each : kinds) {
    const auto seen = found(document, each);
    BOOST_TEST(seen.at("access") == "no_access", each.kind << " is " << seen.at("access").as_string());
    BOOST_TEST((seen.at("waiting").is_null() && seen.at("holder").is_null()), each.kind);
    BOOST_TEST(is_noted(document, place_of(each)), each.kind);
  }
  const auto checked = zkadmin({"check", "--recipes", declared(false)});
  BOOST_TEST(checked.code == 3, checked.out);
  for (const char* command : {"status", "groups", "topics", "streams"}) {
    const auto seen = zkadmin({command, "-o", "json"});
    BOOST_TEST(seen.code == 5, command << ": " << seen.err);
    BOOST_TEST(!json::parse(seen.out).at("complete").as_bool(), command);
  }
  BOOST_TEST(zkadmin({"history", root() + "/of-election"}).code == 5);
  const auto all = std::map<std::string, std::string>{{"ZKADMIN_DIGEST", "admin:topsecret"}};
  const auto allowed = zkadmin({"recipes", "-o", "json", "--recipes", declared(false)}, all);
  BOOST_TEST(json::parse(allowed.out).at("complete").as_bool(), allowed.err);
  run(owner.async_close(tuple));
}

BOOST_AUTO_TEST_CASE(a_recipe_with_foreign_data) {
  for (const auto& each : kinds)
    if (*each.foreign) make(zk(), each, each.foreign, open_acl());
  const auto listed = list_declared(true);
  BOOST_TEST(listed.code == 0, listed.err);
  const auto document = json::parse(listed.out);
  for (const auto& each : kinds) {
    if (!*each.foreign) continue;
    const auto seen = found(document, each);
    BOOST_TEST(seen.at("access") == "foreign_data", each.kind << " is " << seen.at("access").as_string());
    BOOST_TEST((seen.at("waiting").is_null() && seen.at("participants").as_array().empty()), each.kind);
    BOOST_TEST(seen.at("problems").at(0).at("name") == "foreign-data", each.kind);
  }
  for (const auto& [command, path] :
       {std::pair("groups", "/of-shard_group"), {"topics", "/of-topic"}, {"streams", "/of-stream"}}) {
    const auto seen = zkadmin({command, "-o", "json"});
    BOOST_TEST(seen.code == 1, command << ": " << seen.err);
    const auto found = json::parse(seen.out);
    BOOST_TEST(!found.at("complete").as_bool(), command);
    BOOST_TEST(is_noted(found, path), command << ": " << seen.out);
  }
  BOOST_TEST(zkadmin({"history", root() + "/of-election"}).code == 1);
}

BOOST_AUTO_TEST_CASE(a_recipe_of_a_later_version_with_more_fields) {
  for (const auto& each : kinds)
    if (*each.later) make(zk(), each, each.later, open_acl());
  const auto listed = list_declared(true);
  BOOST_TEST(listed.code == 0, listed.err);
  const auto document = json::parse(listed.out);
  BOOST_TEST(document.at("complete").as_bool());
  for (const auto& each : kinds) {
    if (!*each.later) continue;
    const auto seen = found(document, each);
    BOOST_TEST(seen.at("access") == "readable", each.kind << " is " << seen.at("access").as_string());
    BOOST_TEST(seen.at("kind") == each.kind);
  }
  BOOST_TEST(zkadmin({"groups"}).code == 0);
  BOOST_TEST(zkadmin({"topics"}).code == 0);
  BOOST_TEST(zkadmin({"streams"}).code == 0);
  BOOST_TEST(zkadmin({"history", root() + "/of-election"}).code == 0);
}

BOOST_AUTO_TEST_CASE(one_participant_that_may_not_be_read) {
  auto owner = connect_as_owner();
  const std::string member = "_c_6c254eae-e9d0-2e7f-e2b1-3aea3aa596e6-lock-0000000001";
  create("/half");
  removes("/half");
  const auto made = run(owner.async_create("/half/" + member, "a", create_mode::ephemeral, creator_acl(), tuple));
  BOOST_TEST_REQUIRE(!std::get<0>(made), std::get<0>(made).message());
  const auto listed = zkadmin({"recipes", "-o", "json", "--recipes", "lock:" + root() + "/half"});
  BOOST_TEST(listed.code == 5, listed.err);
  const auto document = json::parse(listed.out);
  BOOST_TEST(!document.at("complete").as_bool());
  BOOST_TEST(is_noted(document, "/half"));
  BOOST_TEST(document.at("recipes").at(0).at("state") == "held", "its metadata may be read");
  BOOST_TEST(document.at("recipes").at(0).at("participants").at(0).at("id").is_null());
  run(owner.async_close(tuple));
}

BOOST_AUTO_TEST_CASE(the_log_of_interventions) {
  auto owner = connect_as_owner();
  const auto path = root() + "/log";
  const auto audit = [&] { return zkadmin({"audit", "-o", "json", "--audit-path", path}); };
  removes("/log");
  create("/log", R"({"zkrecipes":"audit","entries":[{"id":"a","at_ms":1,"state":"done"},{"id":"b","state":"later"}]})");
  const auto later = audit();
  BOOST_TEST(fails(later, 1, "1 entries of a later version are not shown"));
  BOOST_TEST(!json::parse(later.out).at("complete").as_bool());
  BOOST_TEST(json::parse(later.out).at("interventions").as_array().size() == 1u);
  remove("/log");
  create("/log", "foreign");
  BOOST_TEST((audit().code == 1 && audit().out.empty()));
  remove("/log");
  run(owner.async_create("/log", "", create_mode::persistent, creator_acl(), tuple));
  BOOST_TEST((audit().code == 5 && audit().out.empty()));
  run(owner.async_close(tuple));
}

BOOST_AUTO_TEST_CASE(no_server_answers) {
  zk();
  for (const auto& each : commands) {
    const auto result =
        zkadmin(as_json(each.words),
                {{"ZKADMIN_HOSTS", "127.0.0.1:1,127.0.0.1:2"}, {"ZKADMIN_AUDIT_PATH", "/log"}, {"ZKADMIN_ROOT", "/"}});
    BOOST_TEST(result.code == 3, each.words.front() << ": " << result.err);
    require_unknown(each, result);
  }
}

BOOST_AUTO_TEST_CASE(no_server_serves) {
  zk();
  const outage without(outage::quorum());
  for (const auto& each : commands) {
    const auto result = zkadmin(as_json(each.words), {{"ZKADMIN_TIMEOUT", "3s"}, {"ZKADMIN_AUDIT_PATH", "/log"}});
    BOOST_TEST(result.code == 1, each.words.front() << ": " << result.err);
    require_unknown(each, result);
  }
}

// A chain of nodes takes more round trips, one after the other, than the time allows.
BOOST_AUTO_TEST_CASE(a_search_that_is_cut_off_half_way) {
  constexpr int levels = 60;
  std::string path = "/chain";
  removes(path);
  create(path);
  for (int i = 0; i < levels; ++i) create(path += "/n");
  own().set_delay(std::chrono::milliseconds(50));
  for (const auto& each : commands) {
    const std::string name = each.words.front();
    if (name == "history" || name == "audit" || name == "sessions") continue;  // they search nothing
    auto words = as_json(each.words);
    if (name == "tree") words[1] = root();
    const auto result = zkadmin(std::move(words), {{"ZKADMIN_HOSTS", own().address()}, {"ZKADMIN_TIMEOUT", "3s"}});
    BOOST_TEST((result.code == 1 || result.code == 3), name << ": " << result.err);
    if (!result.out.empty()) BOOST_TEST(!json::parse(result.out).at("complete").as_bool(), name);
    BOOST_TEST(!result.err.empty(), name);
  }
  own().set_delay(std::chrono::milliseconds(0));
}

BOOST_AUTO_TEST_SUITE_END()
