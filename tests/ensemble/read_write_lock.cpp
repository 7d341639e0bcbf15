// The read-write lock: which members share it, and which come first.
#include <boost/test/unit_test.hpp>

#include <zkrecipes/read_write_lock.hpp>

#include "ensemble/print.hpp"
#include "ensemble/request_log.hpp"
#include "support/fixture.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct read_write_case : fixture {
  read_write_case() : zk_one(std::make_unique<session>(connect())), guarded(std::in_place, *zk_one, "/l") {}
  void teardown() {
    guarded.reset();
    zk_one.reset();
    fixture::teardown();
  }

  /// Acquires, or the case ends.
  ownership read() { return now(run(guarded->async_acquire_read(tuple))); }
  ownership write() { return now(run(guarded->async_acquire_write(tuple))); }
  ownership now(std::tuple<error_code, ownership> result) {
    BOOST_TEST_REQUIRE(!std::get<0>(result), std::get<0>(result).message());
    return std::move(std::get<1>(result));
  }
  /// Gets in line behind those that are there.
  recorder<ownership> waits_to_read() {
    return waits([&](auto token) { guarded->async_acquire_read(token); });
  }
  recorder<ownership> waits_to_write() {
    return waits([&](auto token) { guarded->async_acquire_write(token); });
  }
  template <class Start>
  recorder<ownership> waits(Start start) {
    const auto before = children("/l").size();
    auto waiting = recorder<ownership>(executor());
    start(waiting.token());
    BOOST_TEST_REQUIRE(run_until([&] { return children("/l").size() == before + 1; }));
    return waiting;
  }
  void gets_it(recorder<ownership>& waiting) {
    BOOST_TEST_REQUIRE(run_until([&] { return waiting.done(); }));
    BOOST_TEST(!waiting.error(), waiting.error().message());
  }
  void release(ownership held) { BOOST_TEST(!std::get<0>(run(held.async_release(tuple)))); }
  void finish() {
    BOOST_TEST(run_until([&] { return children("/l").empty(); }));
    remove("/l");
  }
  /// Waits for one round trip: if others had been told of their turn, they would know by then.
  void settle() { catch_up(*zk_one); }

  std::unique_ptr<session> zk_one;
  std::optional<read_write_lock> guarded;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(read_write_locks, read_write_case)

BOOST_AUTO_TEST_CASE(readers_share_and_a_writer_waits_for_all_of_them) {
  auto first = read();
  auto second = read();
  auto writer = waits_to_write();
  release(std::move(second));
  settle();
  BOOST_TEST(!writer.done());
  release(std::move(first));
  gets_it(writer);
  release(std::move(writer.result<0>()));
  finish();
}

BOOST_AUTO_TEST_CASE(nobody_overtakes_a_waiting_writer) {
  auto first = read();
  auto writer = waits_to_write();
  auto late = waits_to_read();
  settle();
  BOOST_TEST(!late.done(), "it came after the writer");
  release(std::move(first));
  gets_it(writer);
  settle();
  BOOST_TEST(!late.done());
  release(std::move(writer.result<0>()));
  gets_it(late);
  release(std::move(late.result<0>()));
  finish();
}

BOOST_AUTO_TEST_CASE(a_writer_that_leaves_lets_all_readers_behind_it_in) {
  auto writer = write();
  auto one = waits_to_read();
  auto two = waits_to_read();
  release(std::move(writer));
  gets_it(one);
  gets_it(two);
  release(std::move(one.result<0>()));
  release(std::move(two.result<0>()));
  finish();
}

BOOST_AUTO_TEST_CASE(a_reader_of_a_stale_list_is_not_woken_by_readers) {
  auto writer = write();
  auto one = waits_to_read();
  auto two = waits_to_write();
  auto other = connect();
  read_write_lock late(other, "/l");
  auto three = waits([&](auto token) { late.async_acquire_read(token); });
  const auto events = [&] { return other.counters().watch_events; };
  BOOST_TEST_REQUIRE(run_until([&] { return children("/l").size() == 4; }));
  catch_up(other);
  catch_up(other);  // by now it has read the list and watches the writer ahead of it
  two.cancel();
  BOOST_TEST(run_until([&] { return two.done() && events() == 1; }), "the writer ahead of it wakes it");
  catch_up(other);
  catch_up(other);  // by now it watches the next writer: not the reader ahead of it, but the writer at the front
  one.cancel();
  BOOST_TEST(run_until([&] { return one.done() && children("/l").size() == 2; }));
  catch_up(other);
  BOOST_TEST(events() == 1u, "a reader does not");
  BOOST_TEST(!three.done(), "the first writer is still there");
  release(std::move(writer));
  gets_it(three);
  release(std::move(three.result<0>()));
  finish();
}

BOOST_AUTO_TEST_CASE(a_downgrade_keeps_its_place) {
  auto held = write();
  auto writer = waits_to_write();
  auto behind = waits_to_read();
  BOOST_TEST(!std::get<0>(run(guarded->async_downgrade(held, tuple))));
  settle();
  BOOST_TEST(!held.error());
  BOOST_TEST(!writer.done(), "no writer gets in between");
  BOOST_TEST(!behind.done(), "nobody overtakes");
  writer.cancel();
  gets_it(behind);
  auto later = read();
  release(std::move(held));
  release(std::move(later));
  release(std::move(behind.result<0>()));
  finish();
}

BOOST_AUTO_TEST_CASE(an_upgrade_succeeds_at_once_or_not_at_all) {
  auto held = read();
  auto other = read();
  BOOST_TEST(std::get<0>(run(guarded->async_try_upgrade(held, tuple))) == errc::busy);
  BOOST_TEST(children("/l").size() == 2u);
  release(std::move(other));
  auto alone = now(run(guarded->async_try_upgrade(held, tuple)));
  auto late = waits_to_read();
  release(std::move(held));
  settle();
  BOOST_TEST(!late.done(), "it is exclusive");
  BOOST_TEST(std::get<0>(run(guarded->async_try_upgrade(alone, tuple))) == errc::bad_arguments);
  release(std::move(alone));
  gets_it(late);
  BOOST_TEST(std::get<0>(run(guarded->async_downgrade(late.result<0>(), tuple))) == errc::bad_arguments);
  release(std::move(late.result<0>()));
  finish();
}

BOOST_AUTO_TEST_CASE(a_try_succeeds_at_once_or_writes_nothing) {
  request_log log;
  session third = connect(log.noted(options()));
  read_write_lock theirs(third, "/l");
  auto free = now(run(theirs.async_try_acquire_write(tuple)));
  BOOST_TEST(std::get<0>(run(guarded->async_try_acquire_read(tuple))) == errc::busy);
  release(std::move(free));
  auto reader = now(run(theirs.async_try_acquire_read(tuple)));
  catch_up(*zk_one);
  auto another = now(run(guarded->async_try_acquire_read(tuple)));
  release(std::move(reader));
  catch_up(third);
  log.clear();
  BOOST_TEST(std::get<0>(run(theirs.async_try_acquire_write(tuple))) == errc::busy);
  auto writer = waits_to_write();
  catch_up(third);
  BOOST_TEST(std::get<0>(run(theirs.async_try_acquire_read(tuple))) == errc::busy, "a writer waits");
  BOOST_TEST(log.count("create") == 0);
  release(std::move(another));
  gets_it(writer);
  BOOST_TEST(!std::get<0>(run(guarded->async_downgrade(writer.result<0>(), tuple))));
  catch_up(third);
  auto beside = now(run(theirs.async_try_acquire_read(tuple)));
  BOOST_TEST(std::get<0>(run(theirs.async_try_acquire_write(tuple))) == errc::busy);
  auto later = waits_to_write();
  catch_up(third);
  BOOST_TEST(std::get<0>(run(theirs.async_try_acquire_read(tuple))) == errc::busy, "another writer waits");
  later.cancel();
  release(std::move(beside));
  release(std::move(writer.result<0>()));
  finish();
}

BOOST_AUTO_TEST_CASE(a_budget_and_a_view) {
  auto held = write();
  BOOST_TEST(std::get<0>(run(guarded->async_acquire_read_for(100ms, tuple))) == errc::timed_out);
  BOOST_TEST(std::get<0>(run(guarded->async_acquire_write_for(100ms, tuple))) == errc::timed_out);
  BOOST_TEST(run_until([&] { return children("/l").size() == 1; }));
  auto reader = waits_to_read();
  auto [error, members] = run(guarded->async_members(tuple));
  BOOST_TEST(!error);
  BOOST_TEST_REQUIRE(members.size() == 2u);
  BOOST_TEST(members[0].holds);
  BOOST_TEST(!members[1].holds);
  release(std::move(held));
  gets_it(reader);
  release(std::move(reader.result<0>()));
  finish();
}

BOOST_AUTO_TEST_CASE(curators_and_kazoos_nodes_are_respected) {
  create("/l");
  create("/l/_c_5e1f-__READ__0000000000");
  create("/l/abc__lock__0000000001");
  auto reader = waits_to_read();
  settle();
  BOOST_TEST(!reader.done());
  remove("/l/abc__lock__0000000001");
  gets_it(reader);
  release(std::move(reader.result<0>()));
  remove("/l/_c_5e1f-__READ__0000000000");
  finish();
}

BOOST_AUTO_TEST_SUITE_END()
