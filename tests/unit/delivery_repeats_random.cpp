// A consumer that suppresses repeats does as a model of ten lines, at random: repeats, failures, letters that come
// back, copies that are deleted, refusals, writes by somebody else, and hand-overs.
#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "unit/delivering.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

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
