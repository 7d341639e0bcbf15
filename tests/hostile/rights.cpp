// Recipes whose client has some of the rights at their path, and lacks one: each operation ends, says what is wrong,
// does not run hot, and leaves no node that keeps others out.
#define BOOST_TEST_MODULE hostile_rights

#include <zkrecipes/consumer.hpp>
#include <zkrecipes/flow.hpp>
#include <zkrecipes/zkrecipes.hpp>

#include "ensemble/ensemble_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

constexpr std::int32_t no_read = perm_all & ~perm_read;
constexpr std::int32_t no_write = perm_all & ~perm_write;
constexpr std::int32_t no_create = perm_all & ~perm_create;
constexpr std::int32_t no_delete = perm_all & ~perm_delete;

acl everybody(std::int32_t permissions) { return {{permissions, "world", "anyone"}}; }

struct rights_case : ensemble_case {
  void teardown() {
    own_session.reset();
    ensemble_case::teardown();
  }

  /// A node at which everybody has these rights.
  void make(const std::string& path, std::int32_t permissions, const std::string& data = {}) {
    auto made = run(zk().async_create(path, data, create_mode::persistent, everybody(permissions), tuple));
    BOOST_TEST_REQUIRE(!std::get<0>(made), std::get<0>(made).message());
    settle(one);
  }
  void open(const std::string& path) {
    auto set = run(zk().async_set_acl(path, open_acl(), any_version, tuple));
    BOOST_TEST(!std::get<0>(set), std::get<0>(set).message());
    settle(one);
  }

  /// The error of an operation, which has to end.
  template <class T>
  error_code error_of(asio::awaitable<T> operation) {
    return std::get<0>(run(std::move(operation)));
  }

  /// Whether the session sends a request all the time.
  void check_calm() {
    const auto before = one.counters().requests;
    run_until([] { return false; }, 500ms);
    BOOST_TEST(one.counters().requests - before < 60u);
  }

  /// Nothing that the session made stands below the path, or will.
  void check_empty(const std::string& path) {
    BOOST_TEST(run_until([&] { return children(path).empty(); }), path);
  }

  /// Removes the path with what the case has put there.
  void clear(const std::string& path) {
    auto gone = run(zk().async_remove_with_children(path, tuple));
    BOOST_TEST(!std::get<0>(gone), std::get<0>(gone).message());
  }

  template <class Line>
  void check_line(const Line& enter) {
    for (const auto permissions : {no_read, no_create}) {
      BOOST_TEST_CONTEXT("permissions " << permissions) {
        make("/l", permissions);
        const auto error = enter(one, "/l");
        BOOST_TEST((error == errc::no_auth), error.message());
        check_calm();
        open("/l");
        check_empty("/l");
        const auto later = enter(one, "/l");
        BOOST_TEST(!later, later.message());
        check_empty("/l");
        clear("/l");
      }
    }
  }

  std::unique_ptr<session> own_session = std::make_unique<session>(connect());
  session& one = *own_session;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(rights, rights_case)

// The library sends them itself, in front of everything: the first request has their rights.
BOOST_AUTO_TEST_CASE(credentials_count_from_the_first_request_on) {
  auto with = options();
  with.digest = {{"one", "wrong"}, {"two", "right"}};
  auto known = connect(with);
  auto made = run(known.async_create("/p", "data", create_mode::persistent, creator_acl(), tuple));
  BOOST_TEST(!std::get<0>(made), std::get<0>(made).message());
  settle(one);
  BOOST_TEST((error_of(one.async_get("/p", tuple)) == errc::no_auth));
  with.digest = {{"two", "right"}};
  auto other = connect(with);
  BOOST_TEST(!error_of(other.async_get("/p", tuple)));
  BOOST_TEST(!error_of(other.async_remove("/p", any_version, tuple)));
}

BOOST_AUTO_TEST_CASE(a_lock) {
  check_line([this](session& zk, const std::string& path) {
    lock held(zk, path);
    auto result = run(held.async_acquire(tuple));
    if (!std::get<0>(result)) run(std::get<1>(result).async_release(tuple));
    return std::get<0>(result);
  });
}

BOOST_AUTO_TEST_CASE(a_semaphore) {
  check_line([this](session& zk, const std::string& path) {
    semaphore held(zk, path, 2);
    auto result = run(held.async_acquire(tuple));
    if (!std::get<0>(result)) run(std::get<1>(result).async_release(tuple));
    return std::get<0>(result);
  });
}

BOOST_AUTO_TEST_CASE(an_election) {
  check_line([this](session& zk, const std::string& path) {
    election held(zk, path, {.id = "one"});
    auto result = run(held.async_campaign(tuple));
    if (!std::get<0>(result)) run(std::get<1>(result).async_release(tuple));
    return std::get<0>(result);
  });
}

BOOST_AUTO_TEST_CASE(an_own_node_that_may_not_be_read) {
  auto with = options();
  with.default_acl = everybody(no_read);
  auto blind = connect(with);
  create("/l");
  settle(blind);
  lock held(blind, "/l");
  auto result = run(held.async_acquire(tuple));
  const auto before = blind.counters().requests;
  run_until([] { return false; }, 500ms);
  BOOST_TEST(blind.counters().requests - before < 60u);
  if (!std::get<0>(result)) BOOST_TEST(!error_of(std::get<1>(result).async_release(tuple)));
  check_empty("/l");
  remove("/l");
}

BOOST_AUTO_TEST_CASE(a_put_by_a_client_that_may_not_read) {
  make("/q", no_read);
  queue items(one, "/q");
  const auto error = error_of(items.async_put("one", tuple));
  BOOST_TEST((!error || error == errc::no_auth), error.message());
  check_calm();
  const auto taken = error_of(items.async_take_for(1s, tuple));
  BOOST_TEST((taken == errc::no_auth), taken.message());
  open("/q");
  BOOST_TEST(children("/q").size() == (error ? 0u : 1u));
  clear("/q");
}

BOOST_AUTO_TEST_CASE(a_producer_that_may_not_read) {
  make("/q", no_read);
  queue items(one, "/q");
  producer source(items, "p");
  const auto error = error_of(source.async_put("one", tuple));
  BOOST_TEST((!error || error == errc::no_auth), error.message());
  check_calm();
  open("/q");
  const auto again = error_of(source.async_put("two", tuple));
  BOOST_TEST(!again, again.message());
  clear("/q");
}

BOOST_AUTO_TEST_CASE(a_put_by_a_client_that_may_not_create) {
  make("/q", no_create);
  queue items(one, "/q");
  const auto error = error_of(items.async_put("one", tuple));
  BOOST_TEST((error == errc::no_auth), error.message());
  producer source(items, "p");
  const auto other = error_of(source.async_put("one", tuple));
  BOOST_TEST((other == errc::no_auth), other.message());
  check_calm();
  open("/q");
  check_empty("/q");
  clear("/q");
}

// Such an item is passed over for as long as the object lives, which its hook is told. Another object gets it.
BOOST_AUTO_TEST_CASE(a_consumer_that_may_not_delete) {
  create("/q");
  std::vector<error_code> told;
  queue_options with;
  with.on_unavailable_item = [&told](const error_code& why, const std::string&) { told.push_back(why); };
  queue items(one, "/q", with);
  BOOST_TEST(!error_of(items.async_put("one", tuple)));
  forbid_deleting("/q", everybody(no_delete));
  settle(one);
  const auto error = error_of(items.async_pop_for(1s, tuple));
  BOOST_TEST((error == errc::timed_out), error.message());
  BOOST_TEST_REQUIRE(told.size() == 1u);
  BOOST_TEST((told.front() == errc::no_auth), told.front().message());
  check_calm();
  open("/q");
  queue again(one, "/q");
  const auto later = error_of(again.async_pop_for(20s, tuple));
  BOOST_TEST(!later, later.message());
  clear("/q");
}

BOOST_AUTO_TEST_CASE(a_member) {
  make("/m", no_create);
  membership group(one, "/m");
  const auto error = error_of(group.async_join("a", "", tuple));
  BOOST_TEST((error == errc::no_auth), error.message());
  check_calm();
  open("/m");
  check_empty("/m");
  clear("/m");
}

BOOST_AUTO_TEST_CASE(a_member_that_may_not_read_the_group) {
  make("/m", no_read);
  membership group(one, "/m");
  auto joined = run(group.async_join("a", "", tuple));
  BOOST_TEST(!std::get<0>(joined), std::get<0>(joined).message());
  check_calm();
  if (!std::get<0>(joined)) BOOST_TEST(!error_of(std::get<1>(joined).async_leave(tuple)));
  open("/m");
  check_empty("/m");
  clear("/m");
}

BOOST_AUTO_TEST_CASE(a_shared_value) {
  make("/blind", no_read, "old");
  shared_value blind(one, "/blind");
  BOOST_TEST((error_of(blind.async_get(tuple)) == errc::no_auth));
  BOOST_TEST(!error_of(blind.async_set("new", tuple)));
  make("/fixed", no_write, "old");
  shared_value fixed(one, "/fixed");
  BOOST_TEST(!error_of(fixed.async_get(tuple)));
  BOOST_TEST((error_of(fixed.async_set("new", tuple)) == errc::no_auth));
  check_calm();
  open("/blind");
  BOOST_TEST(get("/blind").data == "new");
  BOOST_TEST(get("/fixed").data == "old");
  clear("/blind");
  clear("/fixed");
}

BOOST_AUTO_TEST_CASE(a_registration) {
  make("/s", no_create);
  service_discovery services(one, "/s");
  service_instance instance;
  instance.name = "billing";
  instance.id = "1";
  const auto error = error_of(services.async_register(instance, tuple));
  BOOST_TEST((error == errc::no_auth), error.message());
  check_calm();
  open("/s");
  check_empty("/s");
  clear("/s");
}

BOOST_AUTO_TEST_SUITE_END()
