// The id that a member stores, whatever it looks like: nobody may take it for a record or for a request.
#include "line/member_data.hpp"

#include <string>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/double_barrier.hpp>
#include <zkrecipes/read_write_lock.hpp>
#include <zkrecipes/semaphore.hpp>
#include <zkrecipes/two_phase_commit.hpp>

#include "unit/fake_session.hpp"

using namespace zkrecipes;
using namespace zkrecipes::detail;
using namespace zkrecipes::test;

namespace {

const std::string deceptive[] = {R"({"id":"x","shared":true})", R"({"revoke":true,"grace_ms":0})", "__REVOKE__", "{"};

/// What the next operation stores in the node that it creates.
struct storing : fake_session {
  storing() { connect(); }

  std::string stored() {
    settle();
    while (!last().pending.empty()) {
      const auto asked = last().pending.front().first;
      if (asked.op == backend::opcode::create && !asked.data.empty()) return asked.data;
      answer();
    }
    return "nothing";
  }
  void check(const std::string& what, const std::string& id) {
    const auto data = stored();
    BOOST_TEST(member_id(data) == id, what << ' ' << data);
    BOOST_TEST(!is_shared(data), what << ' ' << data);
    BOOST_TEST(!asks_revocation(data), what << ' ' << data);
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(member_data)

BOOST_AUTO_TEST_CASE(a_plain_id_stays_plain) {
  BOOST_TEST(id_data("billing-2") == "billing-2");
  BOOST_TEST(id_data("REVOKE") == "REVOKE");
  BOOST_TEST(id_data("__REVOKE__") == R"({"zkrecipes":"member","id":"__REVOKE__"})");
  BOOST_TEST(id_data("{x") == R"({"zkrecipes":"member","id":"{x"})");
}

BOOST_AUTO_TEST_CASE(no_recipe_stores_an_id_that_is_taken_for_something_else) {
  const auto with = [](const auto& id, auto begin) {
    storing it;
    auto held = it.record<ownership>();
    begin(it.zk, line_options{.id = id}, held.token());
    it.check("an acquisition", id);
  };
  for (const auto& id : deceptive) {
    with(id, [](auto& zk, auto options, auto token) { read_write_lock(zk, "/l", options).async_acquire_read(token); });
    with(id, [](auto& zk, auto options, auto token) { read_write_lock(zk, "/l", options).async_acquire_write(token); });
    with(id,
         [](auto& zk, auto options, auto token) { read_write_lock(zk, "/l", options).async_try_acquire_read(token); });
    with(id,
         [](auto& zk, auto options, auto token) { read_write_lock(zk, "/l", options).async_try_acquire_write(token); });
    with(id, [](auto& zk, auto options, auto token) { semaphore(zk, "/s", 1, options).async_acquire(token); });
    with(id, [](auto& zk, auto options, auto token) { semaphore(zk, "/s", 1, options).async_try_acquire(token); });
    storing entering;
    auto entered = entering.record<attendance>();
    double_barrier(entering.zk, "/b", 2, {.id = id}).async_enter(entered.token());
    entering.check("a double barrier", id);
    storing coordinating;
    auto ended = coordinating.record<>();
    two_phase_commit(coordinating.zk, "/c").async_coordinate({.id = id}, ended.token());
    coordinating.check("a coordinator of transactions", id);
  }
}

BOOST_AUTO_TEST_CASE(nor_does_an_upgrade) {
  for (const auto& id : deceptive) {
    storing it;
    auto reading = it.record<ownership>();
    read_write_lock guarded(it.zk, "/l", {.id = id});
    guarded.async_acquire_read(reading.token());
    it.settle();
    backend::reply made;
    made.path = it.last().pending.front().first.path + "0000000001";
    made.stat.ephemeral_owner = 0x77;
    it.answer(made);
    it.list({made.path.substr(3)});
    BOOST_TEST_REQUIRE(reading.done());
    while (!it.pending().empty()) it.answer();
    auto writing = it.record<ownership>();
    guarded.async_try_upgrade(reading.result<0>(), writing.token());
    it.settle();
    it.list({made.path.substr(3)});
    it.check("an upgrade", id);
  }
}

BOOST_AUTO_TEST_SUITE_END()
