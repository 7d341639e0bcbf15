// Objects without content: default-constructed, or moved from.
#include <future>

#include <boost/asio/strand.hpp>
#include <boost/asio/use_future.hpp>

#include <zkrecipes/consumer.hpp>
#include <zkrecipes/flow.hpp>
#include <zkrecipes/zkrecipes.hpp>

#include "unit/fake_session.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct idle_career final : leader_career {
  asio::awaitable<void> inaugurate(term) override { co_return; }
  asio::awaitable<void> execute(term) override { co_return; }
  asio::awaitable<void> hand_over(term, term_end) override { co_return; }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(nothing, fake_session)

BOOST_AUTO_TEST_CASE(whatever_the_completion_token) {
  auto awaited = run_coroutine(io(), ownership().async_lost(tuple));
  BOOST_TEST((std::get<0>(awaited) == errc::closed));

  auto noted = persistent_node().async_close(recorded());
  BOOST_TEST(!noted.done());
  settle();
  BOOST_TEST((noted.error() == errc::closed));

  auto thrown = attendance().async_leave(asio::use_future);
  BOOST_CHECK_THROW(thrown.get(), boost::system::system_error);

  std::promise<error_code> plain;
  joined_member().async_leave([&](error_code error) { plain.set_value(error); });
  BOOST_TEST((plain.get_future().get() == errc::closed));

  std::promise<error_code> erased;
  asio::any_completion_handler<void(error_code)> handler = [&](error_code error) { erased.set_value(error); };
  multi_ownership().async_release(std::move(handler));
  BOOST_TEST((erased.get_future().get() == errc::closed));
}

BOOST_AUTO_TEST_CASE(what_it_tells_is_empty) {
  BOOST_TEST(ownership().path() == "");
  BOOST_TEST((attendance().error() == errc::closed));
  BOOST_TEST((persistent_node().status().error == errc::closed));
  BOOST_TEST(joined_member().path() == "");
  auto gone = std::move(zk);
  BOOST_TEST((zk.status().state == session_state::closed));
  BOOST_TEST((zk.valid_until() == lease_clock::time_point()));
  zk = std::move(gone);
  queue from(zk, "/q");
  auto other = std::move(from);
  BOOST_TEST(from.path() == "");
  BOOST_TEST(from.options().limit == 0u);
  consumer_coordinator idle(zk, "/c", {.id = "a"});
  auto moved = std::move(idle);
  idle.stop();
  idle.resign();
  BOOST_TEST((idle.failure() == nullptr));
}

/// Every operation of these is tried in tests/operations; here is one for each class.
BOOST_AUTO_TEST_CASE(each_recipe_can_be_made_by_default) {
  const auto is_closed = [this](auto operation) {
    auto ended = run_coroutine(io(), std::move(operation)(tuple));
    return std::get<0>(ended) == errc::closed;
  };
  idle_career career;
  BOOST_TEST(is_closed(session().async_get("/a")));
  BOOST_TEST(is_closed(lock().async_acquire()));
  BOOST_TEST(is_closed(read_write_lock().async_acquire_read()));
  BOOST_TEST(is_closed(multi_lock().async_acquire()));
  BOOST_TEST(is_closed(semaphore().async_acquire()));
  BOOST_TEST(is_closed(shared_gate().async_enter("k", arrival::first)));
  BOOST_TEST(is_closed(election().async_campaign()));
  BOOST_TEST(is_closed(consumer_coordinator().async_run(career)));
  BOOST_TEST(is_closed(term().async_ending()));
  BOOST_TEST(is_closed(term().async_commit(transaction())));
  BOOST_TEST(is_closed(barrier().async_wait()));
  BOOST_TEST(is_closed(double_barrier().async_enter()));
  BOOST_TEST(is_closed(two_phase_commit().async_undecided()));
  BOOST_TEST(is_closed(shared_value().async_get()));
  BOOST_TEST(is_closed(counter().async_get()));
  BOOST_TEST(is_closed(children_view().async_current()));
  BOOST_TEST(is_closed(membership().async_join("a", "")));
  BOOST_TEST(is_closed(service_discovery().async_services()));
  BOOST_TEST(is_closed(service_view().async_current()));
  BOOST_TEST(is_closed(service_provider().async_pick()));
  BOOST_TEST(is_closed(queue().async_next()));
  BOOST_TEST(is_closed(queue().async_take()));
  BOOST_TEST(is_closed(priority_queue().async_put("", 1)));
  BOOST_TEST(is_closed(delay_queue().async_take_for(1s)));
  BOOST_TEST(is_closed(producer().async_last()));
  BOOST_TEST(is_closed(topic().async_shards()));
  BOOST_TEST(is_closed(topic().async_lag("g")));
  BOOST_TEST(is_closed(external_source().async_discard("g", dead_letter())));
  BOOST_TEST(is_closed(topic_producer().async_put("", "")));
  BOOST_TEST(is_closed(balance_track().async_move()));
  BOOST_TEST(is_closed(shared_balance().async_run()));
  BOOST_TEST(is_closed(shared_balance().track("a").async_move()));
  BOOST_TEST(is_closed(shared_limiter().async_acquire()));
  BOOST_TEST(is_closed(once_per().async_claim("a", "")));
}

BOOST_AUTO_TEST_CASE(a_handle_made_by_default_tells_nothing) {
  const auto tells_nothing = [](const auto& handle) {
    return handle.path().empty() && !handle.get_session().get_core() && !handle.get_executor();
  };
  BOOST_TEST(tells_nothing(lock()));
  BOOST_TEST(tells_nothing(read_write_lock()));
  BOOST_TEST(tells_nothing(semaphore()));
  BOOST_TEST(tells_nothing(shared_gate()));
  BOOST_TEST(tells_nothing(election()));
  BOOST_TEST((consumer_coordinator().status().phase == coordinator_phase::idle));
  BOOST_TEST(tells_nothing(consumer_coordinator()));
  BOOST_TEST(tells_nothing(barrier()));
  BOOST_TEST(tells_nothing(double_barrier()));
  BOOST_TEST(tells_nothing(two_phase_commit()));
  BOOST_TEST(tells_nothing(shared_value()));
  BOOST_TEST(tells_nothing(counter()));
  BOOST_TEST(tells_nothing(children_view()));
  BOOST_TEST(tells_nothing(persistent_node()));
  BOOST_TEST(tells_nothing(joined_member()));
  BOOST_TEST(tells_nothing(membership()));
  BOOST_TEST(tells_nothing(service_registration()));
  BOOST_TEST(tells_nothing(service_view()));
  BOOST_TEST(tells_nothing(service_discovery()));
  BOOST_TEST(tells_nothing(service_provider()));
  BOOST_TEST(tells_nothing(queue()));
  BOOST_TEST(tells_nothing(producer()));
  BOOST_TEST(tells_nothing(topic()));
  BOOST_TEST(tells_nothing(topic_producer()));
  BOOST_TEST(tells_nothing(external_source()));
  BOOST_TEST(topic().options().shards == topic_options().shards);
  BOOST_TEST(external_source().options().shards == 1u);
  BOOST_TEST(semaphore().options().id == line_options().id);
  BOOST_TEST(counter().options().max_tries == counter_options().max_tries);
  BOOST_TEST(producer().options().max_batch == producer_options().max_batch);
  BOOST_TEST(multi_lock().paths().empty());
  BOOST_TEST((!ownership().get_executor() && !multi_ownership().get_executor() && !attendance().get_executor()));
  BOOST_TEST(term().ending());
  BOOST_TEST(term().epoch() == 0);
}

BOOST_AUTO_TEST_CASE(a_handle_tells_what_it_was_made_with) {
  const auto is_over = [this](const auto& handle, const std::string& path) {
    return handle.path() == path && handle.get_session().get_core() == zk.get_core() &&
           handle.get_executor() == zk.get_executor();
  };
  BOOST_TEST(is_over(lock(zk, "/l", {.id = "a"}), "/l"));
  BOOST_TEST(is_over(read_write_lock(zk, "/l"), "/l"));
  BOOST_TEST(is_over(semaphore(zk, "/s", 1), "/s"));
  BOOST_TEST(is_over(shared_gate(zk, "/g"), "/g"));
  BOOST_TEST(is_over(election(zk, "/e", {.id = "a"}), "/e"));
  BOOST_TEST(is_over(consumer_coordinator(zk, "/c", {.id = "a"}), "/c"));
  BOOST_TEST(is_over(double_barrier(zk, "/b", 1), "/b"));
  BOOST_TEST(is_over(counter(zk, "/n"), "/n"));
  BOOST_TEST(is_over(children_view(zk, "/v"), "/v"));
  BOOST_TEST(is_over(persistent_node(zk, "/p", ""), "/p"));
  BOOST_TEST(is_over(service_provider(service_discovery(zk, "/d"), "x"), "/d/x"));
  BOOST_TEST(is_over(producer(queue(zk, "/q"), "x"), "/q"));
  BOOST_TEST(is_over(topic(zk, "/t"), "/t"));
  BOOST_TEST(is_over(topic_producer(topic(zk, "/t"), "x"), "/t"));
  external_options rows;
  rows.source = "rows";
  BOOST_TEST(is_over(external_source(zk, "/x", rows), "/x"));
  BOOST_TEST(external_source(zk, "/x", rows).options().source == "rows");
  BOOST_TEST(topic(zk, "/t", {.shards = 7}).options().shards == 7u);
  BOOST_TEST(lock(zk, "/l", {.id = "a"}).options().id == "a");
  BOOST_TEST(semaphore(zk, "/s", 1, {.id = "a"}).options().id == "a");
  BOOST_TEST(double_barrier(zk, "/b", 1, {.id = "a"}).options().id == "a");
  BOOST_TEST(counter(zk, "/n", {.max_tries = 7}).options().max_tries == 7);
  BOOST_TEST(producer(queue(zk, "/q"), "x", {.linger = 7ms}).options().linger.count() == 7);
  BOOST_TEST(children_view(zk, "/v", {.interval = 7ms}).options().interval.count() == 7);
}

BOOST_AUTO_TEST_CASE(a_recipe_on_a_session_that_was_moved_from_is_refused) {
  auto gone = std::move(zk);
  BOOST_CHECK_THROW(queue(zk, "/q"), std::invalid_argument);
  BOOST_CHECK_THROW(lock(zk, "/l"), std::invalid_argument);
  BOOST_CHECK_THROW(read_write_lock(zk, "/l"), std::invalid_argument);
  BOOST_CHECK_THROW(multi_lock(zk, {"/l"}), std::invalid_argument);
  BOOST_CHECK_THROW(election(zk, "/e", {.id = "a"}), std::invalid_argument);
  BOOST_CHECK_THROW(barrier(zk, "/b"), std::invalid_argument);
  BOOST_CHECK_THROW(shared_value(zk, "/v"), std::invalid_argument);
  BOOST_CHECK_THROW(membership(zk, "/m"), std::invalid_argument);
  BOOST_CHECK_THROW(service_discovery(zk, "/d"), std::invalid_argument);
  BOOST_CHECK_THROW(two_phase_commit(zk, "/t"), std::invalid_argument);
  BOOST_CHECK_THROW(semaphore(zk, "/s", 1), std::invalid_argument);
  BOOST_CHECK_THROW(shared_gate(zk, "/g"), std::invalid_argument);
  BOOST_CHECK_THROW(double_barrier(zk, "/b", 1), std::invalid_argument);
  BOOST_CHECK_THROW(counter(zk, "/c"), std::invalid_argument);
  BOOST_CHECK_THROW(children_view(zk, "/v"), std::invalid_argument);
  BOOST_CHECK_THROW(persistent_node(zk, "/n", ""), std::invalid_argument);
  BOOST_CHECK_THROW(consumer_coordinator(zk, "/e", {.id = "a"}), std::invalid_argument);
  zk = std::move(gone);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(plain_handlers, fake_session)

BOOST_AUTO_TEST_CASE(run_outside_the_strand) {
  connect();
  const auto strand = zk.get_core()->strand();
  const auto* real = strand.target<asio::strand<asio::io_context::executor_type>>();
  BOOST_TEST_REQUIRE(real);
  bool done = false;
  zk.async_connected([&](error_code) {
    done = true;
    BOOST_TEST(!real->running_in_this_thread());
  });
  settle();
  BOOST_TEST(done);
}

BOOST_AUTO_TEST_SUITE_END()
