// A shard whose owners have died, at its next owner: it is put in quarantine, and stays there.
#include "shards/shard_holding.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "career/term_state.hpp"
#include "election/term_record.hpp"
#include "ensemble/hold_point.hpp"
#include "line/own_node.hpp"
#include "notes/consumer_notes.hpp"
#include "shards/group_frame.hpp"
#include "unit/fake_session.hpp"

namespace zkrecipes::test {

// A member of a shard group whose node is there, in the fake world.

struct sharding : fake_session {
  explicit sharding(session_options with = usual())
      : fake_session(std::move(with)), group(std::make_shared<detail::group_frame>(zk.get_core())) {
    group->where.root = "/g";
    group->options.id = "me";
    group->options.shards = 8;
    connect();
    member = std::make_shared<detail::own_node>(zk.get_core(), group->where.line(), "");
    auto joined = record<detail::line_reading>();
    detail::handler_for<void(error_code, detail::line_reading)> told(joined.token());
    detail::launch(*zk.get_core()->get_scheduler(), std::move(told), owning(member, &detail::own_node::create));
    settle();
    backend::reply made;
    made.path = last().pending.front().first.path + "0000000007";
    made.stat.ephemeral_owner = 0x77;
    made.stat.czxid = 100;
    answer(made);
    list({made.path.substr(group->where.members().size() + 1)});
    answer();  // the member looks at its own node
    BOOST_TEST_REQUIRE(succeeded(joined));
    CHECK_PENDING();
  }

  detail::group_frame_ptr group;
  detail::own_node_ptr member;
};

}  // namespace zkrecipes::test

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct waiting_career : leader_career {
  asio::awaitable<void> inaugurate(term) override { co_return; }
  asio::awaitable<void> execute(term at) override { co_await at.async_ending(asio::use_awaitable); }
  asio::awaitable<void> hand_over(term, term_end) override { co_return; }
};

/// A call asks for a hold-off when the record already says that the term hands over.
struct held_off_career : waiting_career {
  asio::awaitable<void> hand_over(term at, term_end) override {
    const auto& state = at.get_state();
    state->notes().set_limit_arrival(state->session()->now() + 3s);
    co_return;
  }
};

struct quarantine_log {
  session_options telling() {
    auto options = fake_session::usual();
    options.log = [this](const log_event& each) {
      if (each.operation == "quarantine") told.push_back(std::string(to_string(each.severity)) + ' ' + to_string(each));
    };
    return options;
  }

  strings told;
};

/// Two owners have died of shard 3, and the present one is gone: with it they are as many as put it in quarantine.
struct deadly_shard : quarantine_log, sharding {
  deadly_shard() : sharding(telling()), ended(zk.get_core()->get_scheduler()) {
    detail::term_record before;
    before.epoch = 5;
    before.phase = term_phase::executing;
    before.leader_id = "b";
    before.leader_node = "gone#1";
    before.deaths = 2;
    before.struck.by = {"a"};
    data = detail::serialize(before);
    auto gone = std::make_shared<std::set<std::string, std::less<>>>(std::set<std::string, std::less<>>{"gone"});
    held = std::make_shared<detail::shard_holding>(group, member, 3, make, std::move(gone), ended);
  }
  ~deadly_shard() {
    held->give_up(true);
    pass(1s);
  }

  void begin() {
    held->start(io().get_executor());
    settle();
  }
  bool quarantine_is_next() {
    if (last().pending.empty()) return false;
    const auto& all = last().pending.front().first.operations;
    return std::ranges::any_of(all, [this](const operation& each) { return each.path == quarantine_path; });
  }
  void serve_until_quarantine() {
    while (!last().pending.empty() && !quarantine_is_next()) serve();
    BOOST_TEST_REQUIRE(quarantine_is_next());
  }
  void serve() {
    const auto asked = last().pending.front().first;
    backend::reply reply;
    if (asked.op == backend::opcode::multi) {
      reply = refuses_end && tells_the_end(asked.operations) ? refusal() : execute(asked.operations);
    } else if (asked.op == backend::opcode::set && asked.path == record_path) {
      data = asked.data;
      reply.stat.version = ++version;
    } else if (asked.path == record_path) {
      reply.data = data;
      reply.stat.version = version;
    } else if (asked.path == quarantine_path) {
      ++looks;
      if (!is_in_quarantine) reply.error = errc::no_node;
    } else if (asked.op == backend::opcode::create) {
      reply.error = errc::node_exists;
    }
    answer(std::move(reply));
  }
  static bool tells_the_end(const std::vector<operation>& all) {
    const auto record = detail::parse_record(all.front().data);
    return record && record->phase == term_phase::retired;
  }
  static backend::reply refusal() {
    backend::reply refused;
    refused.error = errc::no_auth;
    return refused;
  }
  backend::reply execute(const std::vector<operation>& all) {
    backend::reply done;
    done.results.resize(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].type == operation::kind::create) is_in_quarantine = all[i].path == quarantine_path;
      if (all[i].type != operation::kind::set) continue;
      data = all[i].data;
      done.results[i].stat.version = ++version;
    }
    return done;
  }
  void pass(std::chrono::milliseconds time) {
    for (const auto until = now() + time; now() < until; advance(100ms)) {
      while (!last().pending.empty()) serve();
    }
  }
  detail::term_record record_of_shard() { return *detail::parse_record(data); }
  /// It is put in quarantine by a term that ends with its beginning; the member begins another one only after the
  /// release.
  void check_that_it_waits_for_the_release() {
    pass(60s);
    BOOST_TEST(looks > 1, "it waits for the release");
    BOOST_TEST(record_of_shard().epoch == 6);
    BOOST_TEST((record_of_shard().phase == term_phase::retired));
    is_in_quarantine = false;
    pass(60s);
    BOOST_TEST(record_of_shard().epoch == 7);
    BOOST_TEST((record_of_shard().phase == term_phase::executing));
    BOOST_TEST(record_of_shard().deaths == 0);
  }

  const std::string record_path = "/g/shard/0003";
  const std::string quarantine_path = "/g/quarantine/0003";
  std::string data;  // the shard's record
  std::int32_t version = 4;
  bool is_in_quarantine = false;
  bool refuses_end = false;  // if the term itself writes it
  int looks = 0;             // at the quarantine
  detail::career_factory make = [](const shard&) { return std::make_unique<waiting_career>(); };
  detail::condition ended;
  detail::shard_holding_ptr held;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(shard_holdings, deadly_shard)

BOOST_AUTO_TEST_CASE(a_shard_that_was_put_in_quarantine_is_not_begun_before_its_release) {
  begin();
  serve_until_quarantine();
  BOOST_TEST(told.empty());
  serve();
  BOOST_TEST(is_in_quarantine);
  const strings expected{
      "warning operation_failed quarantine /g/quarantine/0003 (quarantined: 3 terms in a row ended by a death, a stall "
      "or an exception; the last owner: b)"};
  BOOST_TEST((told == expected), told.size());
  check_that_it_waits_for_the_release();
}

BOOST_AUTO_TEST_CASE(nor_is_one_for_which_the_reply_was_lost) {
  begin();
  serve_until_quarantine();
  execute(last().pending.front().first.operations);
  BOOST_TEST(is_in_quarantine);
  BOOST_TEST(told.empty());
  reconnect();
  BOOST_TEST_REQUIRE(told.size() == 1u);
  BOOST_TEST(told[0].find("(quarantined, but not confirmed, because the reply was lost: 3 terms in a row") !=
                 std::string::npos,
             told[0]);
  check_that_it_waits_for_the_release();
}

BOOST_AUTO_TEST_CASE(an_owner_that_is_known_to_have_died_counts_as_a_death_at_once) {
  data = detail::record_of_death(data).value();
  begin();
  serve_until_quarantine();  // no time passes
  const auto written = detail::parse_record(last().pending.front().first.operations.front().data);
  BOOST_TEST_REQUIRE(written.has_value());
  BOOST_TEST(written->epoch == 6);
  BOOST_TEST((written->phase == term_phase::retired));
  serve();
  BOOST_TEST(is_in_quarantine);
}

BOOST_AUTO_TEST_CASE(the_heir_of_an_owner_that_has_died_does_not_wait_and_counts_the_death) {
  auto before = record_of_shard();
  before.deaths = 0;
  before.hand_over_deadline = 5s;
  before.leader_node = "there#1";  // its node can stand for a moment longer than the record says that it lives
  data = detail::record_of_death(detail::serialize(before)).value();
  begin();
  while (!last().pending.empty() && record_of_shard().epoch == 5) serve();
  BOOST_TEST(record_of_shard().epoch == 6);
  BOOST_TEST((record_of_shard().how == takeover::died));
  BOOST_TEST(record_of_shard().deaths == 1);
}

BOOST_AUTO_TEST_CASE(an_end_that_is_written_behind_the_term_tells_the_level_that_the_term_left) {
  data.clear();
  version = 0;
  make = [](const shard&) { return std::make_unique<held_off_career>(); };
  begin();
  pass(1s);
  BOOST_TEST((record_of_shard().phase == term_phase::executing));
  refuses_end = true;
  held->give_up(false);
  pass(1s);
  BOOST_TEST((record_of_shard().phase == term_phase::retired));
  BOOST_TEST((detail::read_notes(record_of_shard().notes).limit_level ==
              2900ms));  // the term has ended 100 ms after the hand-over
}

BOOST_AUTO_TEST_SUITE_END()

// Behind an outage: a shard that tries for all and is bad itself does not keep the others waiting.
namespace {

/// A member with four shards that need a database. The last shard fails always.
struct probing : sharding {
  static constexpr std::uint32_t bad = 3;

  struct needy_career : leader_career {
    needy_career(probing& in, std::uint32_t which) : in_(in), which_(which) {}
    asio::awaitable<void> inaugurate(term) override { co_return; }
    asio::awaitable<void> execute(term) override {
      in_.tries.push_back(which_);
      const auto hold = std::make_shared<hold_point>(in_.io().get_executor());
      if (in_.is_away || which_ == bad) throw std::runtime_error("the database is away");
      in_.executing[which_] = hold;
      co_await hold->pass();
      if (in_.is_away) throw std::runtime_error("the database is away");
    }
    asio::awaitable<void> hand_over(term, term_end) override { co_return; }

   private:
    probing& in_;
    const std::uint32_t which_;
  };

  probing() : ended(zk.get_core()->get_scheduler()) {
    for (std::uint32_t each = 0; each < 4; ++each) {
      auto gone = std::make_shared<std::set<std::string, std::less<>>>();
      held.push_back(std::make_shared<detail::shard_holding>(group, member, each, make, std::move(gone), ended));
      held.back()->start(io().get_executor());
    }
    settle();
  }
  ~probing() {
    for (const auto& each : held) each->give_up(true);
    for (const auto& [which, hold] : executing) hold->open();
    pass(2s);
  }

  void begin_outage() {
    is_away = true;
    for (const auto& [which, hold] : std::exchange(executing, {})) hold->open();
  }
  /// Until all but the bad one execute. Says for how long.
  std::chrono::milliseconds recover() {
    is_away = false;
    const auto began = now();
    while (executing.size() < 3 && now() < began + 2min) pass(100ms);
    return std::chrono::duration_cast<std::chrono::milliseconds>(now() - began);
  }
  void pass(std::chrono::milliseconds time) {
    for (const auto until = now() + time; now() < until; advance(100ms)) {
      while (!last().pending.empty()) serve();
    }
  }
  void serve() {
    const auto asked = last().pending.front().first;
    auto& node = nodes[asked.path];
    backend::reply reply;
    if (asked.op == backend::opcode::multi) {
      reply.results.resize(asked.operations.size());
      for (std::size_t i = 0; i < asked.operations.size(); ++i) {
        const auto& each = asked.operations[i];
        if (each.type == operation::kind::set) reply.results[i].stat.version = nodes[each.path].write(each.data);
      }
    } else if (asked.op == backend::opcode::set) {
      reply.stat.version = node.write(asked.data);
    } else if (asked.op == backend::opcode::get) {
      reply.data = node.data;
      reply.stat.version = node.version;
    } else if (asked.op == backend::opcode::create) {
      reply.error = errc::node_exists;
    }
    answer(std::move(reply));
  }

  struct stored {
    std::string data{};
    std::int32_t version = 0;

    std::int32_t write(const std::string& next) {
      data = next;
      return ++version;
    }
  };
  std::map<std::string, stored> nodes;
  bool is_away = false;
  std::map<std::uint32_t, std::shared_ptr<hold_point>> executing;
  std::vector<std::uint32_t> tries;
  detail::career_factory make = [this](const shard& which) {
    return std::make_unique<needy_career>(*this, which.number);
  };
  detail::condition ended;
  std::vector<detail::shard_holding_ptr> held;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(shard_probes, probing)

BOOST_AUTO_TEST_CASE(work_goes_on_within_seconds_whichever_shard_tries_for_all) {
  BOOST_TEST((recover() <= 5s));
  for (int outage = 0; outage < 12; ++outage) {
    pass(20s);
    begin_outage();
    tries.clear();
    pass(40s + outage * 700ms);
    BOOST_TEST(group->health.is_troubled());
    BOOST_TEST(tries.size() < 60u);  // one tries for all
    const auto took = recover();
    BOOST_TEST((took <= 5s), "after " << took.count() << " ms, outage " << outage);
  }
}

BOOST_AUTO_TEST_CASE(a_shard_in_quarantine_does_not_try_for_all) {
  detail::term_record deadly;
  deadly.epoch = 3;
  deadly.phase = term_phase::retired;
  deadly.leader_node = "gone";
  deadly.deaths = 100;
  nodes[group->where.record(bad)].data = serialize(deadly);
  pass(20s);
  BOOST_TEST(held[bad]->status().last_failure == "the shard was put in quarantine");
  begin_outage();
  for (int i = 0; i < 600; ++i) {
    pass(100ms);
    BOOST_TEST_REQUIRE(!group->health.probe().pass_on(bad), "it has the turn " << i);
  }
  BOOST_TEST(group->health.is_troubled());
  BOOST_TEST(std::ranges::count(tries, bad) == 0);
  BOOST_TEST((recover() <= 5s));
}

BOOST_AUTO_TEST_SUITE_END()

// What a term writes into its record about those before it that have died: a commit is progress only while it executes.

namespace {

/// A term of a shard. Two owners have died of the shard, and the process of the term before has died.
struct after_deaths : sharding {
  after_deaths() { lead({}); }

  /// A term with the names of these messages in its record.
  void lead(strings in_hand) {
    const auto gone = std::make_shared<std::set<std::string, std::less<>>>();
    detail::term_record begun;
    begun.epoch = 7;
    begun.phase = term_phase::inaugurating;
    begun.how = takeover::forced;
    begun.deaths = 2;
    detail::consumer_notes notes;
    notes.crashes = 1;
    notes.in_hand = std::move(in_hand);
    begun.notes = detail::to_json(notes);
    state = std::make_shared<detail::term_state>(std::make_shared<detail::shard_seat>(group, member, 3, gone),
                                                 std::move(begun), version);
  }
  /// The transaction that was sent. It is executed.
  std::vector<operation> execute() {
    BOOST_TEST_REQUIRE(pending() == strings{"multi /"}, boost::test_tools::per_element());
    auto sent = last().pending.front().first.operations;
    BOOST_TEST_REQUIRE(sent.front().path == "/g/shard/0003");
    BOOST_TEST(sent.front().version == version);
    if (sent.front().type == operation::kind::set) ++version;
    backend::reply done;
    done.results.resize(sent.size());
    done.results.front().stat.version = version;
    answer(std::move(done));
    return sent;
  }
  /// The term enters this phase: the record that it writes.
  detail::term_record enter(term_phase phase) {
    detail::launch_detached(zk.get_core()->strand(), write(state, phase));
    settle();
    const auto written = detail::parse_record(execute().front().data);
    BOOST_TEST_REQUIRE(written.has_value());
    return *written;
  }
  std::int32_t crashes_behind(term_phase phase) { return detail::read_notes(enter(phase).notes).crashes; }
  /// The career commits something: the operation in front of it.
  operation commit() {
    auto committed = term(state).async_commit(transaction().remove("/item"), begun());
    const auto sent = execute();
    BOOST_TEST_REQUIRE(sent.size() == 2u);
    BOOST_TEST(sent[1].path == "/item");
    BOOST_TEST_REQUIRE(succeeded(committed));
    return sent[0];
  }
  static detail::awaitable<void> write(detail::term_ptr state, term_phase phase) {
    co_await state->publish(phase, false, detail::never);
  }

  std::int32_t version = 4;  // of the record
  detail::term_ptr state;
};

bool is_check(const operation& what) { return what.type == operation::kind::check; }

}  // namespace

BOOST_FIXTURE_TEST_SUITE(term_progress, after_deaths)

BOOST_AUTO_TEST_CASE(the_first_commit_of_a_term_that_executes_ends_the_count_of_deaths) {
  BOOST_TEST(enter(term_phase::executing).deaths == 2);
  const auto first = commit();
  BOOST_TEST_REQUIRE(!is_check(first));
  const auto written = detail::parse_record(first.data);
  BOOST_TEST_REQUIRE(written.has_value());
  BOOST_TEST(written->deaths == 0);
  BOOST_TEST((written->phase == term_phase::executing));
  BOOST_TEST(!state->has_deaths());
  BOOST_TEST(is_check(commit()), "it is written once");
  BOOST_TEST(enter(term_phase::handing_over).deaths == 0);
}

BOOST_AUTO_TEST_CASE(what_is_committed_before_and_behind_the_work_does_not_end_the_count_of_deaths) {
  BOOST_TEST(is_check(commit()));
  enter(term_phase::executing);
  BOOST_TEST(enter(term_phase::handing_over).deaths == 2);
  BOOST_TEST(is_check(commit()));
  BOOST_TEST(state->has_deaths());
}

BOOST_AUTO_TEST_CASE(a_commit_of_a_term_that_executes_ends_the_count_of_crashes) {
  enter(term_phase::executing);
  commit();
  BOOST_TEST(crashes_behind(term_phase::handing_over) == 0);
}

BOOST_AUTO_TEST_CASE(what_inaugurate_commits_does_not_end_the_count_of_crashes) {
  commit();
  enter(term_phase::executing);
  BOOST_TEST(crashes_behind(term_phase::handing_over) == 1);
}

BOOST_AUTO_TEST_CASE(what_hand_over_commits_does_not_end_the_count_of_crashes) {
  enter(term_phase::executing);
  BOOST_TEST(crashes_behind(term_phase::handing_over) == 1);
  commit();
  BOOST_TEST(crashes_behind(term_phase::retired) == 1);
}

// A queue consumer judges those.
BOOST_AUTO_TEST_CASE(a_commit_does_not_end_the_count_of_crashes_while_the_record_names_messages) {
  lead({"qn-0000000001"});
  enter(term_phase::executing);
  commit();
  BOOST_TEST(crashes_behind(term_phase::handing_over) == 1);
}

BOOST_AUTO_TEST_SUITE_END()
