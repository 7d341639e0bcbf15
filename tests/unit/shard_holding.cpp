// A shard whose owners have died, at its next owner: it is put in quarantine, and stays there.
#include "shards/shard_holding.hpp"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include <boost/test/unit_test.hpp>

#include "notes/consumer_notes.hpp"
#include "unit/sharding.hpp"

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
  BOOST_TEST(told[0].find("(quarantined, unless this was not done: 3 terms in a row") != std::string::npos, told[0]);
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
