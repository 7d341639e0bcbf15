// A kept node: the pauses between its tries, the owner of a persistent one, and what happens when the session ends.
#include <memory>
#include <optional>

#include <zkrecipes/persistent_node.hpp>
#include <zkrecipes/service_discovery.hpp>

#include "unit/fake_session.hpp"
#include "unit/poor_world.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct keeping : connected_session {
  void keep(create_mode mode) {
    node.emplace(zk, "/a", "one", persistent_node_options{.mode = mode});
    settle();
    const auto owner = mode == create_mode::ephemeral ? 0x77 : 0;
    CHECK_PENDING("create /a", "get /a");
    answer(found("one", owner));
    answer(found("one", owner));
    BOOST_TEST_REQUIRE(node->status().present);
  }
  /// The answer to a read when somebody else's node of the same name has taken the place of ours.
  static backend::reply another() {
    auto reply = found("theirs", 0x99);
    reply.stat.czxid = reply.stat.mzxid = 6;
    return reply;
  }
  recorder<> close() {
    auto closed = node->async_close(begun());
    CHECK_PENDING("multi /", "exists /a");
    answer();
    return closed;
  }
  recorder<> set(std::string data) {
    auto written = node->async_set_data(std::move(data), begun());
    CHECK_PENDING("multi /", "exists /a");
    answer();
    return written;
  }
  static backend::reply found(std::string data, std::int64_t owner) {
    backend::reply reply;
    reply.data = std::move(data);
    reply.stat.czxid = reply.stat.mzxid = 5;
    reply.stat.ephemeral_owner = owner;
    return reply;
  }
  error_code close_behind_the_session() {
    zk.async_close([](error_code) {});
    settle();
    lose(errc::closed);
    auto closed = node->async_close(begun());
    BOOST_TEST_REQUIRE(closed.done());
    return closed.error();
  }
  /// The user drops the node and the session. Returns the session's core, which may outlive them.
  std::weak_ptr<detail::core> drop_all() {
    std::weak_ptr<detail::core> alive = zk.get_core()->shared_from_this();
    node.reset();
    { session gone(std::move(zk)); }
    settle();
    return alive;
  }
  /// The pauses between failing tries, in milliseconds.
  std::vector<std::int64_t> pauses(int so_many) {
    node.emplace(zk, "/a", "one", persistent_node_options{.first_pause = 100ms, .max_pause = 1s});
    std::vector<std::int64_t> all;
    for (int i = 0; i <= so_many; ++i) {
      const auto before = now();
      settle();
      while (pending().empty()) advance(1ms);
      if (i > 0) all.push_back((now() - before) / 1ms);
      while (!pending().empty()) fail(errc::no_auth);
    }
    return all;
  }

  std::optional<persistent_node> node;
};

struct registering : keeping {
  registering() : services(zk, "/s") {}

  static service_instance fixed(std::string address) {
    return {.name = "b", .id = "1", .address = std::move(address), .port = 80, .type = service_type::static_node};
  }
  recorder<service_registration> enlist(service_instance what) {
    auto made = services.async_register(std::move(what), begun());
    CHECK_PENDING("create /s/b/1", "get /s/b/1");
    return made;
  }
  service_discovery services;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(kept_nodes, keeping)

BOOST_AUTO_TEST_CASE(a_persistent_one_that_outlives_the_session_is_not_said_to_be_gone) {
  keep(create_mode::persistent);
  BOOST_TEST((close_behind_the_session() == errc::closed));
}

BOOST_AUTO_TEST_CASE(an_ephemeral_one_has_gone_with_the_session) {
  keep(create_mode::ephemeral);
  BOOST_TEST(!close_behind_the_session());
}

BOOST_AUTO_TEST_CASE(a_persistent_one_that_is_dropped_without_a_connection_goes_with_the_next) {
  keep(create_mode::persistent);
  lose();
  auto alive = drop_all();
  BOOST_TEST_REQUIRE(!alive.expired());
  accept(0x77);
  BOOST_TEST_REQUIRE(pending().size() == 3u);
  answer();  // the catch-up, the first request on each connection that takes a session up again
  CHECK_PENDING("multi /", "exists /a");
  answer();
  answer(found("one", 0));
  CHECK_PENDING("remove /a");
  answer();
  BOOST_TEST(last().closing, "and then the session ends");
}

BOOST_AUTO_TEST_CASE(it_keeps_the_session_open_only_for_so_long) {
  keep(create_mode::persistent);
  lose();
  auto alive = drop_all();
  advance(session_options().timeout - 1ms);
  BOOST_TEST(!alive.expired());
  advance(1ms);
  BOOST_TEST(alive.expired());
  BOOST_TEST(state().timers.empty(), "the context has no more work");
}

BOOST_AUTO_TEST_CASE(an_ephemeral_one_keeps_no_session_open) {
  keep(create_mode::ephemeral);
  lose();
  BOOST_TEST(drop_all().expired());
}

// There is none for the pause before the next try. The program is told by `run()`.
BOOST_AUTO_TEST_CASE(who_closes_one_that_had_no_memory_does_not_wait) {
  fake_bench bench;
  poor_world* world = nullptr;
  const auto make_world = [&](asio::any_io_executor strand) {
    auto made = std::make_unique<poor_world>(bench.worlds()(std::move(strand)));
    world = made.get();
    return made;
  };
  session over(detail::make_core(bench.io().get_executor(), usual(), make_world));
  bench.settle();
  bench.accept(0x77);
  bench.answer();
  persistent_node poor(over, "/a", "one", {.first_pause = 1h, .max_pause = 1h});
  bench.settle();
  world->last_timer = bench.now() + 5min;
  const auto refuse = [&] { bench.answer_with({.error = errc::no_auth}); };
  refuse();
  BOOST_CHECK_THROW(refuse(), std::bad_alloc);
  auto closing = poor.async_close(recorded_on{bench.io().get_executor()});
  bench.settle();
  const auto no_memory = boost::system::errc::make_error_code(boost::system::errc::not_enough_memory);
  BOOST_TEST(ended_with(closing, no_memory));
  BOOST_TEST((poor.status().error == no_memory));
}

BOOST_AUTO_TEST_CASE(what_is_somebody_elses_by_now_is_not_removed) {
  keep(create_mode::ephemeral);
  auto closed = close();
  answer(another());
  BOOST_TEST_REQUIRE(succeeded(closed));
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(what_is_somebody_elses_by_now_is_not_written_to) {
  keep(create_mode::ephemeral);
  auto written = set("two");
  answer(another());
  CHECK_PENDING("get /a");
  answer(another());
  BOOST_TEST_REQUIRE(ended_with(written, errc::busy));
  CHECK_PENDING();
}

// Our node was removed, and another object of this program made one there over the same session.
BOOST_AUTO_TEST_CASE(another_one_of_our_session_is_not_removed) {
  keep(create_mode::ephemeral);
  auto closed = close();
  auto other = found("one", 0x77);
  other.stat.czxid = other.stat.mzxid = 6;
  answer(other);
  BOOST_TEST_REQUIRE(succeeded(closed));
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(a_write_that_has_met_another_one_is_not_said_to_be_done) {
  keep(create_mode::ephemeral);
  auto written = set("two");
  answer(found("one", 0x77));
  CHECK_PENDING("set /a");
  auto other = found("two", 0x77);
  other.stat.czxid = other.stat.mzxid = 6;
  answer(other);
  BOOST_TEST(!written.done());
  CHECK_PENDING("get /a");
}

// The server refuses the catch-up, so what it shows may be out of date: by now the node may be somebody else's.
BOOST_AUTO_TEST_CASE(what_a_server_shows_that_refuses_to_catch_up_is_not_written_to) {
  keep(create_mode::ephemeral);
  auto written = node->async_set_data("two", begun());
  CHECK_PENDING("multi /", "exists /a");
  fail(errc::server_error);
  answer(found("one", 0x77));
  CHECK_PENDING();
  advance(200ms);
  CHECK_PENDING("get /a");
}

BOOST_AUTO_TEST_CASE(nor_is_it_removed) {
  keep(create_mode::ephemeral);
  auto closed = node->async_close(begun());
  CHECK_PENDING("multi /", "exists /a");
  fail(errc::server_error);
  answer(found("one", 0x77));
  CHECK_PENDING();
  BOOST_TEST(!closed.done());
  advance(200ms);
  CHECK_PENDING("multi /", "exists /a");
}

BOOST_AUTO_TEST_CASE(a_node_is_written_and_removed_in_the_version_in_which_it_is_known_to_be_ours) {
  keep(create_mode::ephemeral);
  auto seen = found("theirs", 0x77);
  seen.stat.version = 3;
  auto written = set("two");
  answer(seen);
  BOOST_TEST((last().pending.front().first.version == 3));
  fail(errc::bad_version);
  CHECK_PENDING("multi /", "exists /a");
  answer();
  seen.stat.version = 4;
  answer(seen);
  BOOST_TEST((last().pending.front().first.version == 4));
  answer(seen);
  BOOST_TEST_REQUIRE(succeeded(written));
  auto closed = close();
  answer(seen);
  BOOST_TEST((last().pending.front().first.version == 4));
  answer();
  BOOST_TEST_REQUIRE(closed.done());
}

BOOST_AUTO_TEST_CASE(a_removal_that_the_server_is_too_busy_for_is_tried_until_it_is_done) {
  keep(create_mode::ephemeral);
  auto closed = close();
  answer(found("one", 0x77));
  CHECK_PENDING("remove /a");
  fail(errc::server_error);
  CHECK_PENDING();
  BOOST_TEST(!closed.done());
  advance(200ms);
  CHECK_PENDING("multi /", "exists /a");
  answer();
  answer(found("one", 0x77));
  CHECK_PENDING("remove /a");
  answer();
  BOOST_TEST_REQUIRE(succeeded(closed));
}

// The mean pause doubles up to its limit. With the random number each pause is between half of the mean and one and a
// half times the mean.
BOOST_AUTO_TEST_CASE(pauses_grow_and_differ_at_random) {
  const std::vector<std::int64_t> means{100, 200, 400, 800, 1000, 1000};
  std::vector<std::vector<std::int64_t>> seen;
  for (std::uint64_t random : {0u, 37u}) {
    fake_session::state().random = random;
    auto all = pauses(6);
    for (std::size_t i = 0; i < means.size(); ++i) {
      BOOST_TEST_CONTEXT("pause " << i << ": " << all[i] << " ms") {
        BOOST_TEST(all[i] >= means[i] / 2);
        BOOST_TEST(all[i] <= means[i] * 3 / 2 + 1);
      }
    }
    seen.push_back(std::move(all));
    node.reset();
    settle();
    while (!pending().empty()) fail(errc::no_node);
  }
  for (std::size_t i = 0; i < means.size(); ++i) BOOST_TEST(seen[0][i] != seen[1][i]);
}

BOOST_FIXTURE_TEST_CASE(a_static_instance_of_an_earlier_run_is_taken_over, registering) {
  auto registered = enlist(fixed("host"));
  fail(errc::node_exists);
  auto earlier = fixed("host");
  earlier.registration_time = 1;
  answer(found(*to_json(earlier), 0));
  CHECK_PENDING("multi /", "get /s/b/1");
  answer();
  answer(found(*to_json(earlier), 0));
  CHECK_PENDING("set /s/b/1");
  answer(found(*to_json(fixed("host")), 0));
  BOOST_TEST_REQUIRE(succeeded(registered));
}

BOOST_FIXTURE_TEST_CASE(a_static_instance_at_another_address_is_somebody_elses, registering) {
  for (const auto& theirs : {*to_json(fixed("elsewhere")), std::string("not JSON")}) {
    auto registered = enlist(fixed("host"));
    fail(errc::node_exists);
    answer(found(theirs, 0));
    BOOST_TEST_REQUIRE(ended_with(registered, errc::foreign_data));
    CHECK_PENDING("multi /", "get /s/b/1");
    answer();
    answer(found(theirs, 0));
    CHECK_PENDING();
  }
}

// Somebody has removed our node and registered another instance under its id.
BOOST_FIXTURE_TEST_CASE(a_static_instance_that_has_taken_the_place_of_ours_is_left_alone, registering) {
  auto registered = enlist(fixed("host"));
  answer(found(*to_json(fixed("host")), 0));
  answer(found(*to_json(fixed("host")), 0));
  BOOST_TEST_REQUIRE(registered.done());
  auto theirs = found(*to_json(fixed("elsewhere")), 0);
  theirs.stat.czxid = theirs.stat.mzxid = 6;
  fire(backend::change::deleted, "/s/b/1");
  CHECK_PENDING("get /s/b/1");
  answer(theirs);
  BOOST_TEST((registered.result<0>().status().error == errc::foreign_data));
  auto gone = registered.result<0>().async_unregister(begun());
  CHECK_PENDING("multi /", "get /s/b/1");
  answer();
  answer(theirs);
  BOOST_TEST_REQUIRE(succeeded(gone));
  CHECK_PENDING();
}

BOOST_AUTO_TEST_SUITE_END()
