// What an operation can be given as its completion token, what it does without one, and operations that begin late.
#include <future>
#include <optional>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_future.hpp>

#include <zkrecipes/consumer.hpp>
#include <zkrecipes/zkrecipes.hpp>

#include "unit/fake_session.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct with_tokens : connected_session {
  /// Runs what is ready, and answers the only request, a read.
  void let_read(const std::string& data) {
    settle();
    CHECK_PENDING("get /a");
    answer_with({.data = data});
    settle();
  }
  template <class T>
  std::future<T> run(asio::awaitable<T> body) {
    return asio::co_spawn(io(), std::move(body), asio::use_future);
  }
};

struct unused_career final : leader_career {
  asio::awaitable<void> inaugurate(term) override { co_return; }
  asio::awaitable<void> execute(term) override { co_return; }
  asio::awaitable<void> hand_over(term, term_end) override { co_return; }
};

static_assert(token_for<asio::use_awaitable_t<>, node_data>);
static_assert(token_for<asio::deferred_t>);
static_assert(token_for<void (*)(error_code, node_data), node_data>);
static_assert(!token_for<void (*)(error_code), node_data>);
static_assert(!token_for<acl, created_node>);

}  // namespace

BOOST_FIXTURE_TEST_SUITE(completion_tokens, with_tokens)

BOOST_AUTO_TEST_CASE(without_a_token_a_coroutine_awaits_the_operation) {
  auto read = run([](session over) -> asio::awaitable<std::string> {
    auto found = co_await over.async_get("/a");
    co_return found.data;
  }(zk));
  let_read("x");
  BOOST_TEST(read.get() == "x");
}

BOOST_AUTO_TEST_CASE(without_a_token_an_error_is_thrown) {
  auto read = run([](session over) -> asio::awaitable<std::string> {
    auto found = co_await over.async_get("/a");
    co_return found.data;
  }(zk));
  settle();
  fail(errc::no_node);
  settle();
  BOOST_CHECK_EXCEPTION(read.get(), boost::system::system_error,
                        [](const auto& thrown) { return thrown.code() == errc::no_node; });
}

BOOST_AUTO_TEST_CASE(tokens_of_coroutines) {
  auto awaited = run(zk.async_get("/a", asio::use_awaitable));
  let_read("awaited");
  BOOST_TEST(awaited.get().data == "awaited");

  auto with_error = run(zk.async_get("/a", asio::as_tuple(asio::use_awaitable)));
  let_read("with the error");
  BOOST_TEST(std::get<1>(with_error.get()).data == "with the error");

  auto deferred = run([](session over) -> asio::awaitable<std::string> {
    auto [error, found] = co_await over.async_get("/a", asio::as_tuple(asio::deferred));
    co_return error ? error.message() : found.data;
  }(zk));
  let_read("deferred");
  BOOST_TEST(deferred.get() == "deferred");

  auto redirected = run([](session over) -> asio::awaitable<std::string> {
    error_code error;
    auto found = co_await over.async_get("/a", asio::redirect_error(asio::use_awaitable, error));
    co_return error ? error.message() : found.data;
  }(zk));
  let_read("redirected");
  BOOST_TEST(redirected.get() == "redirected");
}

BOOST_AUTO_TEST_CASE(tokens_without_a_coroutine) {
  auto future = zk.async_get("/a", asio::use_future);
  let_read("future");
  BOOST_TEST(future.get().data == "future");

  std::string plain;
  zk.async_get("/a", [&](error_code, node_data found) { plain = found.data; });
  let_read("plain");
  BOOST_TEST(plain == "plain");

  std::string generic;
  zk.async_get("/a", [&](const auto&, auto&& found) { generic = found.data; });
  let_read("generic");
  BOOST_TEST(generic == "generic");

  asio::cancellation_signal stop;
  error_code stopped;
  auto note = [&](error_code error, node_data) { stopped = error; };
  zk.async_get("/a", asio::bind_cancellation_slot(stop.slot(), note));
  settle();
  stop.emit(asio::cancellation_type::total);
  settle();
  BOOST_TEST((stopped == asio::error::operation_aborted));
}

BOOST_AUTO_TEST_CASE(an_argument_is_not_taken_for_a_token) {
  auto created = record<created_node>();
  zk.async_create("/a", "", create_mode::persistent, creator_acl())(created.token());
  settle();
  BOOST_TEST_REQUIRE(!last().pending.empty());
  BOOST_TEST((last().pending.front().first.access == creator_acl()));
  answer();
  semaphore permits(zk, "/s", 3);
  auto trying = record<ownership>();
  permits.async_try_acquire(2, diagnostic())(trying.token());
  settle();
  CHECK_PENDING("children /s", "get /s");
  auto other = record<ownership>();
  permits.async_acquire_for(10s)(other.token());
  BOOST_TEST(!other.done());
}

BOOST_AUTO_TEST_CASE(a_session_is_made_on_an_execution_context) {
  asio::io_context context;
  session made(context, usual());
  BOOST_TEST((made.get_executor() == asio::any_io_executor(context.get_executor())));
  BOOST_TEST((lock(made, "/l").get_executor() == made.get_executor()));
}

BOOST_AUTO_TEST_CASE(nothing_begins_before_the_operation_is_started) {
  auto reading = zk.async_get("/a");
  settle();
  CHECK_PENDING();
  auto read = record<node_data>();
  std::move(reading)(read.token());
  let_read("x");
  BOOST_TEST_REQUIRE(read.done());
  BOOST_TEST(read.result<0>().data == "x");
}

BOOST_AUTO_TEST_CASE(the_handle_may_have_gone_when_the_operation_begins) {
  auto reading = shared_value(zk, "/a").async_get();
  auto acquiring = lock(zk, std::string(100, 'l').insert(0, "/")).async_acquire();
  auto read = record<node_data>();
  std::move(reading)(read.token());
  let_read("x");
  BOOST_TEST(read.done());
  auto held = record<ownership>();
  std::move(acquiring)(held.token());
  settle();
  BOOST_TEST_REQUIRE(!last().pending.empty());
  BOOST_TEST(last().pending.front().first.path.starts_with('/' + std::string(100, 'l') + '/'));
}

BOOST_AUTO_TEST_CASE(of_an_object_that_has_ended_it_completes_with_closed) {
  std::optional<persistent_node> node(std::in_place, zk, "/n", "x");
  auto started = node->async_started();
  auto writing = node->async_set_data("y");
  auto closing = node->async_close();
  node.reset();
  while (settle(), !last().pending.empty()) fail(errc::no_node);
  auto wait = record<>();
  std::move(started)(wait.token());
  auto write = record<>();
  std::move(writing)(write.token());
  auto close = record<>();
  std::move(closing)(close.token());
  settle();
  BOOST_TEST_REQUIRE((wait.done() && write.done() && close.done()));
  BOOST_TEST((wait.error() == errc::closed));
  BOOST_TEST((write.error() == errc::closed));
  BOOST_TEST(!close.error());

  auto looking = children_view(zk, "/v").async_current();
  auto look = record<children_snapshot>();
  settle();
  std::move(looking)(look.token());
  settle();
  BOOST_TEST_REQUIRE(ended_with(look, errc::closed));
}

BOOST_AUTO_TEST_CASE(a_run_that_nobody_could_stop_does_not_begin) {
  unused_career career;
  auto running = consumer_coordinator(zk, "/t", {.id = "a"}).async_run(career);
  auto run = record<>();
  std::move(running)(run.token());
  settle();
  CHECK_PENDING();
  BOOST_TEST_REQUIRE(ended_with(run, errc::closed));
}

BOOST_AUTO_TEST_SUITE_END()
