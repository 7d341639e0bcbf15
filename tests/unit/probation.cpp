// Which messages are named, and for how long messages are taken one at a time.
#include "delivery/probation.hpp"

#include <future>
#include <set>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/test/unit_test.hpp>

#include "delivery/message_source.hpp"

using namespace zkrecipes;
using namespace zkrecipes::detail;

namespace {

consumer_notes notes_of(std::int32_t crashes, std::vector<std::string> in_hand = {}) {
  consumer_notes notes;
  notes.crashes = crashes;
  notes.in_hand = std::move(in_hand);
  return notes;
}

std::size_t length_of(std::int32_t crashes, std::size_t window) {
  probation watch(notes_of(crashes), window);
  std::size_t settled = 0;
  for (; watch.is_on(); ++settled) watch.settled("any");
  return settled;
}

/// A source of which messages are taken, and that may be able to read them again.
class source_of_suspects final : public message_source {
 public:
  explicit source_of_suspects(bool can_read) : can_read_(can_read) {}

  std::set<std::string> gone;

  std::string name() const override { return "source"; }
  awaitable<error_code> open() override { co_return error_code(); }
  awaitable<outcome<std::vector<message>>> receive(std::size_t) override {
    co_return outcome<std::vector<message>>(error_code(), {});
  }
  awaitable<outcome<std::vector<std::optional<message>>>> read_again(std::vector<std::string> names) override {
    BOOST_TEST(can_read_);
    std::vector<std::optional<message>> found(names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!gone.contains(names[i])) found[i].emplace().name = names[i];
    }
    co_return outcome<std::vector<std::optional<message>>>(error_code(), std::move(found));
  }
  bool can_read_again() const noexcept override { return can_read_; }
  bool can_come(const std::string& name) const override { return can_read_ || !gone.contains(name); }
  awaitable<outcome<std::set<std::string>>> parked_keys() override {
    co_return outcome<std::set<std::string>>(error_code(), {});
  }
  awaitable<outcome<std::vector<key_state>>> look_at_keys(std::vector<std::string>) override {
    co_return outcome<std::vector<key_state>>(error_code(), {});
  }
  void put_back(const std::vector<std::string>&) override {}
  awaitable<error_code> prepare(settlement::kind, bool) override { co_return error_code(); }
  transaction settling(const settlement&) const override { return {}; }
  transaction moving_on(const std::vector<settlement>&) override { return {}; }
  awaitable<void> settled(std::vector<settlement>) override { co_return; }
  awaitable<void> close() override { co_return; }

 private:
  bool can_read_;
};

void prepare(probation& watch, message_source& from) {
  asio::io_context io;
  auto done = asio::co_spawn(io, watch.prepare(from), asio::use_future);
  io.run();
  BOOST_TEST(!done.get());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(probations)

BOOST_AUTO_TEST_CASE(each_further_crash_makes_it_twice_as_long_up_to_a_bound) {
  BOOST_TEST(length_of(1, 2) == 0u);
  BOOST_TEST(length_of(2, 2) == 2u);
  BOOST_TEST(length_of(3, 2) == 4u);
  BOOST_TEST(length_of(5, 3) == 24u);
  BOOST_TEST(length_of(1'000'000, 2) == 10'000u);
}

BOOST_AUTO_TEST_CASE(a_message_that_is_not_begun_after_all_is_not_named_any_more) {
  probation watch(notes_of(2), 2);
  watch.announce("a");
  BOOST_TEST(watch.wants_write());
  watch.written(watch.notes_with({}));
  BOOST_TEST(watch.is_named("a"));
  watch.retract();
  BOOST_TEST(watch.wants_write());
  BOOST_TEST(watch.notes_with({}).in_hand.empty());
}

BOOST_AUTO_TEST_CASE(the_commit_that_settles_a_named_message_takes_its_name_away) {
  probation watch(notes_of(0, {"a"}), 2);
  BOOST_TEST(!watch.wants_write());
  BOOST_TEST(watch.is_written(watch.notes_with({"b"})));
  BOOST_TEST(!watch.is_written(watch.notes_with({"a"})));
}

BOOST_AUTO_TEST_CASE(what_was_named_and_begun_is_in_hand_until_it_is_settled_or_put_back) {
  probation watch(notes_of(2), 2);
  for (const auto* each : {"a", "b"}) {
    watch.announce(each);
    watch.written(watch.notes_with({}));
    watch.begun(each);
  }
  BOOST_TEST(watch.in_hand() == std::vector<std::string>({"a", "b"}), boost::test_tools::per_element());
  watch.put_back("a");
  watch.settled("b");
  BOOST_TEST(watch.in_hand().empty());
}

BOOST_AUTO_TEST_CASE(a_suspect_that_has_gone_is_forgotten) {
  probation watch(notes_of(2, {"a", "b"}), 2);
  source_of_suspects source(true);
  source.gone.insert("a");
  prepare(watch, source);
  BOOST_TEST(watch.suspects() == std::vector<std::string>({"b"}), boost::test_tools::per_element());
  BOOST_TEST(watch.wants_write());
}

// Else its name would stay in the record of the terms for ever.
BOOST_AUTO_TEST_CASE(a_suspect_that_can_not_be_read_again_is_forgotten_as_soon_as_it_is_known_to_have_gone) {
  probation watch(notes_of(2, {"a", "b"}), 2);
  source_of_suspects source(false);
  prepare(watch, source);
  BOOST_TEST(watch.suspects().size() == 2u);
  source.gone.insert("b");
  prepare(watch, source);
  BOOST_TEST(watch.suspects() == std::vector<std::string>({"a"}), boost::test_tools::per_element());
  BOOST_TEST(watch.is_suspect("a"));
  source.gone.insert("a");
  prepare(watch, source);
  BOOST_TEST(watch.suspects().empty());
  BOOST_TEST(watch.notes_with({}).in_hand.empty());
}

// Each term dies with another message in hand, which never comes again. The names are in no order.
BOOST_AUTO_TEST_CASE(of_too_many_suspects_those_are_forgotten_that_were_named_first) {
  const auto most = probation::most_suspects;
  std::vector<std::string> named;
  consumer_notes left = notes_of(2);
  for (std::size_t i = 0; i < most + 5; ++i) {
    probation watch(left, 2);
    named.push_back(std::to_string(i * 7919 % 10'007));
    watch.announce(named.back());
    left = watch.notes_with({});
  }
  BOOST_TEST(left.in_hand.size() == most + 1);
  probation watch(left, 2);
  BOOST_TEST(watch.wants_write());
  const std::vector<std::string> last(named.end() - static_cast<std::ptrdiff_t>(most), named.end());
  BOOST_TEST(watch.suspects() == last, boost::test_tools::per_element());
  BOOST_TEST(!watch.is_suspect(named[4]));
  BOOST_TEST(watch.is_suspect(named[5]));
}

BOOST_AUTO_TEST_SUITE_END()
