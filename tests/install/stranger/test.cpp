// The tests of the service: on a real server, which testcluster starts.
#define BOOST_TEST_MODULE stranger
#include <chrono>
#include <future>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/test/unit_test.hpp>

#include <zkrecipes/consumer/leader_career.hpp>
#include <zkrecipes/error.hpp>
#include <zkrecipes/version.hpp>

#include <testcluster/fixture.hpp>

#include "service.hpp"

namespace asio = boost::asio;

namespace {

struct one_server : testcluster::module_ensemble {
  one_server() : module_ensemble({.servers = 1}) {}
};
BOOST_TEST_GLOBAL_FIXTURE(one_server);

/// A test with nodes of its own.
struct on_server : testcluster::fixture {
  /// Runs `work` with a session on a strand, and returns its result or throws what it threw.
  template <class Work>
  auto with_session(Work work) {
    asio::io_context io;
    auto strand = asio::make_strand(io);
    zkrecipes::session zk(strand, {.hosts = hosts()});
    auto result = asio::co_spawn(strand, work(zk, strand), asio::use_future);
    while (result.wait_for(std::chrono::seconds(0)) != std::future_status::ready) io.run_one();
    return result.get();
  }
};

using strand_type = asio::strand<asio::io_context::executor_type>;

}  // namespace

BOOST_FIXTURE_TEST_CASE(each_line_is_written_under_a_higher_token, on_server) {
  const auto first = with_session([](auto zk, strand_type) { return stranger::write_line(zk, "first"); });
  const auto second = with_session([](auto zk, strand_type) { return stranger::write_line(zk, "second"); });
  BOOST_TEST(first < second);
}

// The rest concerns the border between this program and the library: both must see the same types and objects.

BOOST_AUTO_TEST_CASE(an_exception_of_the_constructor_is_caught_by_its_type) {
  asio::io_context io;
  BOOST_CHECK_THROW(zkrecipes::session(io.get_executor(), {.hosts = "localhost:port"}), std::invalid_argument);
}

BOOST_FIXTURE_TEST_CASE(the_server_that_a_test_kills_is_there_for_the_next, on_server) { cluster().kill(1); }

BOOST_FIXTURE_TEST_CASE(a_test_finds_nothing_of_the_last_one, on_server) {
  BOOST_TEST(with_session([](zkrecipes::session zk, strand_type) {
               return zk.async_children("/", asio::use_awaitable);
             }).names.empty());
}

BOOST_FIXTURE_TEST_CASE(an_exception_of_testcluster_is_caught_by_its_type, on_server) {
  BOOST_CHECK_THROW(cluster().expire(1), testcluster::error);
}

BOOST_FIXTURE_TEST_CASE(an_error_of_an_operation_compares_equal_to_its_code, on_server) {
  try {
    with_session([](zkrecipes::session zk, strand_type) { return zk.async_get("/nothing", asio::use_awaitable); });
    BOOST_ERROR("the node is not there, and was read");
  } catch (const boost::system::system_error& error) {
    BOOST_TEST((error.code() == zkrecipes::errc::no_node));
    BOOST_TEST((&error.code().category() == &zkrecipes::error_category()));
  }
}

BOOST_FIXTURE_TEST_CASE(an_operation_of_the_library_completes_on_the_strand_of_the_program, on_server) {
  BOOST_TEST(with_session([](zkrecipes::session zk, strand_type strand) -> asio::awaitable<bool> {
    co_await zk.async_connected(asio::use_awaitable);
    co_return strand.running_in_this_thread();
  }));
}

BOOST_AUTO_TEST_CASE(a_class_of_the_library_can_be_derived_from_and_found_again) {
  struct career : zkrecipes::leader_career {
    asio::awaitable<void> inaugurate(zkrecipes::term) override { co_return; }
    asio::awaitable<void> execute(zkrecipes::term) override { co_return; }
    asio::awaitable<void> hand_over(zkrecipes::term, zkrecipes::term_end) override { co_return; }
  };
  career own;
  zkrecipes::leader_career& base = own;
  BOOST_TEST(dynamic_cast<career*>(&base) == &own);
}

BOOST_AUTO_TEST_CASE(the_version_is_that_of_the_package) {
  BOOST_TEST(zkrecipes::version == std::string_view(PACKAGE_VERSION));
}
