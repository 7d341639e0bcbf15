// The suppression of a producer's repeats in a consumer, on a server that the test makes.
#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <zkrecipes/delay_queue.hpp>
#include <zkrecipes/priority_queue.hpp>

#include "unit/delivering.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(delivery_repeats, repeating)

BOOST_AUTO_TEST_CASE(a_repeat_is_acknowledged_and_not_processed) {
  consume_freely(repeats_in_order());
  put_each({"a1", "b7", "a2", "a1", "b7", "a2", "a4"});
  CHECK_LIST(results, "a1", "b7", "a2", "a4");
  CHECK_LIST(consumer->begun, "a1", "b7", "a2", "a4");
  BOOST_TEST(left().empty());
  check_status(4, 3);
  BOOST_TEST(data_of(marks_path) == record(R"("7 b","1-2,4 a")"));
}

BOOST_AUTO_TEST_CASE(messages_without_a_number_are_always_processed) {
  for (const auto& options : {repeats_in_order(), repeats_by_producer()}) {
    repeating world;
    world.consume_freely(options);
    world.put({"-x"});
    world.put({"-x"});
    CHECK_LIST(world.results, "-x", "-x");
    world.check_status(2, 0);
    BOOST_TEST(!world.has(marks_path));
  }
}

BOOST_AUTO_TEST_CASE(in_strict_order_a_repeat_travels_in_the_commit_of_the_first) {
  consume(repeats_in_order());
  put({"a1", "a2", "a1", "a2"});
  let_go("a1");
  BOOST_TEST(commits.size() == 1u);
  CHECK_LIST(left(), "a2", "a1", "a2");
  let_go("a2");
  CHECK_LIST(consumer->begun, "a1", "a2");
  CHECK_LIST(results, "a1", "a2");
  BOOST_TEST(left().empty());
  check_status(2, 2);
}

BOOST_AUTO_TEST_CASE(a_repeat_waits_for_the_next_attempt_at_the_first) {
  for (const auto& options : {repeats_in_order(), repeats_by_producer()}) {
    repeating world;
    world.consume(options);
    world.put({"a1", "a1"});
    world.let_go("a1", message_outcome::again("not yet"));
    CHECK_LIST(world.left(), "a1", "a1");
    world.pass(10ms);
    CHECK_LIST(world.consumer->begun, "a1", "a1");
    CHECK_LIST(world.left(), "a1", "a1");
    world.let_go("a1");
    CHECK_LIST(world.results, "a1");
    BOOST_TEST(world.left().empty());
    world.check_status(1, 1);
  }
}

BOOST_AUTO_TEST_CASE(a_repeat_that_was_judged_behind_refused_effects_is_judged_again) {
  int refusals = 1;
  refusal = [&](const operation& what) {
    const bool is_refused = what.path == "/result" && what.data == "a1" && refusals > 0;
    if (is_refused) --refusals;
    return is_refused ? make_error_code(errc::no_node) : error_code();
  };
  consume_freely(repeats_in_order());
  put({"a1", "a1"});
  BOOST_TEST(results.empty());
  CHECK_LIST(left(), "a1", "a1");
  BOOST_TEST(!has(marks_path));
  pass(10ms);
  CHECK_LIST(results, "a1");
  BOOST_TEST(left().empty());
  check_status(1, 1);
}

BOOST_AUTO_TEST_CASE(the_next_term_knows_what_was_processed) {
  consume_freely(repeats_in_order());
  put_each({"a1", "a2"});
  change_term();
  put_each({"a2", "a3", "a1"});
  CHECK_LIST(results, "a1", "a2", "a3");
  check_status(3, 2);
}

BOOST_AUTO_TEST_CASE(what_a_term_has_not_committed_is_no_repeat_in_the_next) {
  consume(repeats_in_order());
  put({"a1"});
  coordinator->resign();
  let_go("a1", message_outcome::again("later"));
  BOOST_TEST_REQUIRE(coordinator->status().epoch == 2);
  CHECK_LIST(consumer->begun, "a1", "a1");
  let_go("a1");
  put({"a1"});
  CHECK_LIST(results, "a1");
  check_status(1, 1);
}

BOOST_AUTO_TEST_CASE(a_dead_letter_that_comes_back_is_processed_once) {
  for (const bool changes_term : {false, true}) {
    for (const auto& options : {repeats_in_order(), repeats_by_producer()}) {
      repeating world;
      world.consume(options);
      world.put({"a1"});
      world.let_go("a1", message_outcome::park("not this one"));
      world.consumer->is_held = false;
      world.put({"a2"});
      BOOST_TEST(world.data_of(marks_path) == record(R"("2 a")"));
      if (changes_term) world.change_term();
      world.put({"a1"});  // as a revival does
      world.put({"a1"});
      CHECK_LIST(world.results, "a2", "a1");
      world.check_status(2, 1, 1);
      BOOST_TEST(world.data_of(marks_path) == record(R"("1-2 a")"));
    }
  }
}

BOOST_AUTO_TEST_CASE(what_follows_a_parked_message_of_a_parked_key_comes_back_too) {
  auto options = repeats_by_producer();
  options.spent = spent_message::park_key;
  consume(options);
  put({"a1"});
  let_go("a1", message_outcome::park("not this one"));
  put({"a2", "a3"});
  CHECK_LIST(consumer->begun, "a1");
  BOOST_TEST(!has(marks_path));
  check_status(0, 0, 3);
}

BOOST_AUTO_TEST_CASE(the_options_of_a_consumer_can_be_used_again) {
  consume_freely(repeats_by_producer());
  BOOST_TEST(!consumer->options().key);
  BOOST_TEST(problem_of<queue>(consumer->options()) == "");
}

BOOST_AUTO_TEST_CASE(a_producer_that_can_not_be_told_makes_a_dead_letter) {
  consume_freely(repeats_in_order());
  put({"a", std::string(256, 'p') + "1", "7"});
  put({"a1"});
  CHECK_LIST(results, "a1");
  BOOST_TEST(left().empty());
  check_status(1, 0, 3);
}

BOOST_AUTO_TEST_CASE(by_key_the_producers_go_on_beside_each_other) {
  consume(repeats_by_producer());
  put({"a1", "b1", "a1", "a2", "b1"});
  CHECK_LIST(consumer->begun, "a1", "b1");
  let_go("b1");
  CHECK_LIST(left(), "a1", "a1", "a2");
  let_go("a1");
  CHECK_LIST(consumer->begun, "a1", "b1", "a2");
  let_go("a2");
  CHECK_LIST(results, "b1", "a1", "a2");
  check_status(3, 2);
}

BOOST_AUTO_TEST_CASE(a_term_reads_the_marks_once_and_a_commit_writes_them_once) {
  struct counts {
    int requests = 0, reads = 0, writes = 0, checks = 0;
  };
  const auto count = [](const queue_consumer_options& options) {
    repeating world;
    counts all;
    world.on_serve = [&](const backend::request& what) {
      ++all.requests;
      if (what.path == marks_path) ++all.reads;
      for (const auto& each : what.operations) {
        if (each.path == marks_path) ++(each.type == operation::kind::check ? all.checks : all.writes);
      }
    };
    world.consume_freely(options);
    world.put({"a1", "b1"});
    world.put_each({"a1", "a2"});
    BOOST_TEST(world.left().empty());
    world.on_serve = nullptr;
    return all;
  };
  auto options = repeats_in_order();
  const auto with = count(options);
  options.repeats.reset();
  const auto without = count(options);
  BOOST_TEST(with.reads == 1);
  BOOST_TEST(with.writes == 2);
  BOOST_TEST(with.checks == 1);
  BOOST_TEST(with.requests == without.requests + 1);
  BOOST_TEST(without.reads + without.writes == 0);
}

BOOST_AUTO_TEST_CASE(foreign_data_ends_the_run_and_stays) {
  write(marks_path, "somebody else's");
  consume_freely(repeats_in_order());
  put({"a1"});
  BOOST_TEST(results.empty());
  BOOST_TEST((running->error() == errc::career_failed));
  BOOST_TEST(data_of(marks_path) == "somebody else's");
}

BOOST_AUTO_TEST_CASE(marks_that_somebody_else_has_moved_are_read_again_before_anything_is_committed) {
  consume(repeats_in_order());
  put({"a1", "a2"});
  write(marks_path, record(R"("1 a")"));
  let_go("a1");
  CHECK_LIST(results, );
  let_go("a2");
  CHECK_LIST(results, "a2");
  BOOST_TEST(left().empty());
  check_status(1, 1);
  BOOST_TEST(data_of(marks_path) == record(R"("1-2 a")"));
}

BOOST_AUTO_TEST_CASE(the_producer_that_has_been_silent_for_longest_is_forgotten) {
  auto options = repeats_in_order();
  options.repeats->most_producers = 2;
  consume_freely(options);
  put({"a1"});
  put({"b1"});
  put({"c1"});
  put({"b1"});
  put({"a1"});
  CHECK_LIST(results, "a1", "b1", "c1", "a1");
  check_status(4, 1);
  BOOST_TEST(consumer->status().forgotten == 2u);
}

BOOST_AUTO_TEST_CASE(options_that_can_not_work_are_refused) {
  BOOST_TEST(problem_of<queue>(repeats_in_order()) == "");
  BOOST_TEST(problem_of<queue>(repeats_by_producer()) == "");
  const auto refused = [&](auto&& change) {
    auto options = repeats_by_producer();
    change(options);
    return problem_of<queue>(options);
  };
  const auto names = [](const std::string& option) {
    return [option](const std::string& problem) { return problem.find("options::" + option + ":") != problem.npos; };
  };
  using options_type = queue_consumer_options;
  const auto check = [&](const char* option, auto&& change) {
    const auto problem = refused(change);
    BOOST_TEST(names(option)(problem), option << " is not named in: " << problem);
  };
  check("repeats.origin", [](options_type& of) { of.repeats->origin = nullptr; });
  check("repeats.most_producers", [](options_type& of) { of.repeats->most_producers = 0; });
  check("repeats.most_producers", [](options_type& of) { of.repeats->most_producers = 1'001; });
  check("repeats", [](options_type& of) { of.order = message_order::none; });
  check("key", [](options_type& of) { of.key = [](const message& item) { return item.data; }; });
  check("repeats", [](options_type& of) { of.duplicates = message_duplicates{}; });
  check("repeats", [](options_type& of) { of.delivery = delivery_guarantee::at_most_once; });
  BOOST_TEST(names("repeats")(problem_of<priority_queue>(repeats_in_order())));
  BOOST_TEST(names("repeats")(problem_of<delay_queue>(repeats_in_order())));
}

BOOST_AUTO_TEST_SUITE_END()

// What a consumer that suppresses repeats must not take for a repeat, and what it does with messages it can not judge.
BOOST_FIXTURE_TEST_SUITE(delivery_repeats_trouble, repeating)

BOOST_AUTO_TEST_CASE(a_number_that_was_skipped_is_processed_when_it_comes) {
  for (const auto& options : {repeats_in_order(), repeats_by_producer()}) {
    repeating world;
    world.consume_freely(options);
    world.put_each({"a3", "a6", "a4", "a1", "a4", "a1"});
    CHECK_LIST(world.results, "a3", "a6", "a4", "a1");
    world.check_status(4, 2);
  }
}

BOOST_AUTO_TEST_CASE(a_copy_of_a_message_that_somebody_has_deleted_is_processed) {
  consume(repeats_in_order());
  put({"a1", "a1"});
  const auto first = "/q/qn-0000000001";
  BOOST_TEST_REQUIRE(data_of(first) == "a1");
  remove_node(first);
  let_go("a1");
  CHECK_LIST(consumer->begun, "a1", "a1");
  BOOST_TEST(results.empty());
  let_go("a1");
  CHECK_LIST(results, "a1");
  BOOST_TEST(left().empty());
  check_status(1, 0);
}

BOOST_AUTO_TEST_CASE(a_message_whose_producer_can_not_be_told_is_parked_without_its_key) {
  auto options = repeats_by_producer();
  options.spent = spent_message::park_key;
  consume_freely(options);
  put({"a", std::string(256, 'p') + "1", "7"});
  BOOST_TEST(letters().size() == 3u);
  put_each({"-x", "a1"});
  CHECK_LIST(results, "-x", "a1");
  check_status(2, 0, 3);
}

BOOST_AUTO_TEST_CASE(a_message_that_has_changed_its_producer_while_it_waited_is_parked) {
  consume(repeats_by_producer());
  put({"b2"});
  let_go("b2");
  put({"a1", "a2"});
  let_go("a1", message_outcome::again("not yet"));  // the data of what is behind it is dropped
  write("/q/" + names["a2"], "b2");
  consumer->is_held = false;
  pass(10ms);
  CHECK_LIST(results, "b2", "a1");
  check_status(2, 0, 1);
  BOOST_TEST(letters().size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_commit_of_repeats_alone_checks_the_marks) {
  consume_freely(repeats_in_order());
  put({"a1"});
  remove_node(marks_path);
  put({"a1"});
  CHECK_LIST(results, "a1", "a1");
  BOOST_TEST(left().empty());
  check_status(2, 0);
  BOOST_TEST(data_of(marks_path) == record(R"("1 a")"));
}

BOOST_AUTO_TEST_CASE(a_repeat_that_can_not_be_removed_rests_without_an_attempt) {
  for (auto options : {repeats_in_order(), repeats_by_producer()}) {
    options.spent = spent_message::park;
    options.retry.attempts = 2;
    repeating world;
    bool is_refused = false;
    world.refusal = [&](const operation& what) {
      return is_refused && what.path.starts_with("/q/qn-") ? make_error_code(errc::not_empty) : error_code();
    };
    world.consume_freely(options);
    world.put({"a1"});
    is_refused = true;
    world.put({"a1"});
    for (int i = 0; i < 5; ++i) world.pass(1s);
    BOOST_TEST(world.letters().empty());
    CHECK_LIST(world.left(), "a1");
    BOOST_TEST(world.consumer->status().refused > 2u);
    BOOST_TEST(world.consumer->status().again == 0u);
    is_refused = false;
    world.pass(1s);
    BOOST_TEST(world.left().empty());
    CHECK_LIST(world.results, "a1");
    world.check_status(1, 1);
  }
}

/// The process of the last two terms has died, and all that is there at first are repeats.
struct repeating_in_probation : repeating {
  repeating_in_probation() {
    write(marks_path, record(R"("1-9 a")"));
    write_record(R"({"zkrecipes":"term","epoch":7,"phase":"executing","how":"clean","hand_over_deadline_ms":0,)"
                 R"("leader":{"id":"a","node":"n","token":5},"consumer":{"epoch":7,"crashes":1}})");
    consume(repeats_in_order(1));
    put({"a1", "a2", "a3"});
    pass(2s);
    check_status(0, 3);
  }
};

BOOST_FIXTURE_TEST_CASE(repeats_are_no_progress, repeating_in_probation) {
  change_term();
  BOOST_TEST(record_of_term().find(R"("crashes":2)") != std::string::npos, record_of_term());
  put({"a10"});
  let_go("a10");
  change_term();
  BOOST_TEST(record_of_term().find(R"("crashes":0)") != std::string::npos, record_of_term());
}

BOOST_FIXTURE_TEST_CASE(repeats_do_not_use_up_the_search_for_a_message_that_kills, repeating_in_probation) {
  put({"a10"});
  CHECK_LIST(consumer->begun, "a10");
  BOOST_TEST(record_of_term().find(names["a10"]) != std::string::npos, record_of_term());
}

BOOST_AUTO_TEST_SUITE_END()

// A consumer that suppresses repeats does as a model of ten lines, at random: repeats, failures, letters that come
// back, copies that are deleted, refusals, writes by somebody else, and hand-overs.
namespace {

constexpr const char* path_of_marks = "/q/_repeats";

std::optional<message_origin> origin_of_random(const message& item) {
  return message_origin{item.data.substr(0, 1), std::stoull(item.data.substr(1))};
}

/// Each message has its effect once, or is a dead letter that comes back.
struct repeats_model {
  strings put{};     // each once
  strings parked{};  // not yet put back
  std::set<std::string> done{};

  void have_effect(const std::string& which) {
    BOOST_TEST_REQUIRE(std::ranges::count(put, which) == 1);
    BOOST_TEST_REQUIRE(done.insert(which).second, which << " has its effect twice");
  }
  bool is_done() const { return parked.empty() && done.size() == put.size(); }
};

class random_delivery : public delivering {
 public:
  random_delivery(std::uint64_t seed, queue_consumer_options options) : random_(seed) {
    options.window = 1 + random_() % 6;
    options.parallel = options.order == message_order::strict ? 1 : options.window;
    options.retry = {.first = 10ms, .longest = 10ms, .jitter = 0, .attempts = 3, .outage = 10ms};
    options.repeats = message_repeats{.origin = &origin_of_random};
    refusal = [this](const operation& what) { return refuse(what); };
    consume(std::move(options));
  }

  void run() {
    for (int step = 0; step < 60; ++step) {
      act();
      check();
    }
    fails_ = false;
    for (int rounds = 0; rounds < 400 && !is_quiet(); ++rounds) {
      revive();
      end_call(message_outcome::again("cut"), 0);
      pass(10ms);
      check();
    }
    BOOST_TEST(left().empty());
    BOOST_TEST(all_.is_done());
    const auto status = consumer->status();
    BOOST_TEST(status.done == all_.put.size());
    BOOST_TEST(status.done + status.parked + status.repeated == copies_);
    repeated = status.repeated;
    parked = status.parked;
  }
  std::uint64_t repeated = 0;
  std::uint64_t parked = 0;
  std::uint64_t conflicts = 0;
  std::uint64_t deleted = 0;

 private:
  bool is_quiet() const { return left().empty() && all_.is_done(); }
  std::size_t draw(std::size_t below) { return random_() % below; }

  void act() {
    switch (draw(9)) {
      case 0:
      case 1: return put_new();
      case 2: return repeat();
      case 3: return revive();
      case 4: return draw(4) == 0 ? resign() : pass(10ms);
      case 5: return delete_copy();
      default: return end_call(draw(2) == 0 ? message_outcome::park("no") : message_outcome::again("later"), 3);
    }
  }
  void send(const std::string& which) {
    ++copies_;
    put({which});
  }
  void put_new() {
    const auto producer = std::string(1, static_cast<char>('a' + draw(3)));
    auto& last = last_[producer];
    last += 1 + draw(2);
    all_.put.push_back(producer + std::to_string(last));
    send(all_.put.back());
  }
  void repeat() {
    if (!all_.put.empty()) send(all_.put[draw(all_.put.size())]);
  }
  /// A letter goes, and its message comes to the end of the queue.
  void revive() {
    if (all_.parked.empty()) return;
    const auto which = all_.parked.back();
    all_.parked.pop_back();
    send(which);
  }
  /// Somebody removes a message from the queue whose number is done, or comes again: the first copy that is there.
  void delete_copy() {
    const auto all = left();
    if (all.empty()) return;
    const auto which = all[draw(all.size())];
    if (std::ranges::count(all, which) < 2 && !all_.done.contains(which)) return;
    for (std::uint64_t number = 1;; ++number) {
      const auto digits = std::to_string(number);
      const auto path = "/q/qn-" + std::string(10 - digits.size(), '0') + digits;
      if (!has(path) || data_of(path) != which) continue;
      --copies_;
      ++deleted;
      return remove_node(path);
    }
  }
  void resign() {
    coordinator->resign();
    serve_all();
  }
  /// One of the calls that run; fails one time of `one_in` (0: never).
  void end_call(const message_outcome& failure, std::size_t one_in) {
    for (; seen_ < consumer->begun.size(); ++seen_) open_.push_back(consumer->begun[seen_]);
    if (open_.empty()) return;
    const auto which = open_.begin() + static_cast<std::ptrdiff_t>(draw(open_.size()));
    const auto data = *which;
    open_.erase(which);
    const bool fails = one_in > 0 && draw(one_in) == 0;
    let_go(data, fails ? std::optional(failure) : std::nullopt);
  }
  error_code refuse(const operation& what) {
    if (!fails_) return {};
    if (what.path == "/result" && draw(10) == 0) return errc::no_auth;
    if (what.path != path_of_marks || draw(10) != 0) return {};
    ++conflicts;
    return errc::bad_version;
  }
  void check() {
    for (; judged_ < results.size(); ++judged_) all_.have_effect(results[judged_]);
    for (; letters_ < consumer->status().parked; ++letters_) record_letter();
  }
  /// The letters that are there; the test removes them when it puts their message back.
  void record_letter() {
    for (const auto& each : letters()) {
      if (!known_.insert(each).second) continue;
      const auto text = data_of(each);
      all_.parked.push_back(text.substr(text.find('\n') + 1));
      return;
    }
    BOOST_FAIL("a message was parked without a letter");
  }

  std::mt19937_64 random_;
  repeats_model all_;
  std::map<std::string, std::uint64_t> last_;
  std::set<std::string> known_;
  std::vector<std::string> open_;
  std::size_t seen_ = 0;
  std::size_t judged_ = 0;
  std::uint64_t letters_ = 0;
  std::uint64_t copies_ = 0;
  bool fails_ = true;
};

void try_all_repeats(message_order order) {
  std::uint64_t repeated = 0;
  std::uint64_t parked = 0;
  std::uint64_t conflicts = 0;
  std::uint64_t deleted = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      queue_consumer_options options;
      options.order = order;
      random_delivery one(seed, options);
      one.run();
      repeated += one.repeated;
      parked += one.parked;
      conflicts += one.conflicts;
      deleted += one.deleted;
    }
  }
  BOOST_TEST(repeated > 500u);
  BOOST_TEST(parked > 100u);
  BOOST_TEST(conflicts > 50u);
  BOOST_TEST(deleted > 100u);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(delivery_repeats_random)

BOOST_AUTO_TEST_CASE(in_strict_order_each_number_has_its_effect_once) { try_all_repeats(message_order::strict); }

BOOST_AUTO_TEST_CASE(by_key_each_number_has_its_effect_once) { try_all_repeats(message_order::by_key); }

BOOST_AUTO_TEST_SUITE_END()
