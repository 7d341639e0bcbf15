// A user's hook that throws: the exception is heard of, and nothing else is disturbed.
#include <memory>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/consumer.hpp>
#include <zkrecipes/flow.hpp>
#include <zkrecipes/zkrecipes.hpp>

#include "operations/setting.hpp"

namespace zkrecipes::test {

namespace {

using namespace std::chrono_literals;

struct oops {};

struct hook_case {
  explicit hook_case(session_options with = {}) : where(door::open, std::move(with)) {}

  session& zk() { return where.zk(); }

  /// Lets time pass. An exception of a hook comes out of the context, as an exception of a handler does; it is counted.
  bool wait(const std::function<bool()>& condition) {
    for (;;) {
      try {
        return where.wait(20s, condition);
      } catch (const oops&) {
        ++heard;
      }
    }
  }
  template <class... Results, class Begin>
  std::tuple<error_code, Results...> run(Begin begin) {
    std::optional<std::tuple<error_code, Results...>> result;
    where.inside().run(
        [&] { begin([&](error_code error, Results... results) { result.emplace(error, std::move(results)...); }); });
    BOOST_TEST_REQUIRE(wait([&] { return result.has_value(); }), "the handler is never called");
    return std::move(*result);
  }
  std::size_t children(const std::string& path) {
    auto listed = run<node_children>([&](auto h) { zk().async_children(path, std::move(h)); });
    return std::get<1>(listed).names.size();
  }

  /// `acquire(hook, handler)` acquires a lock or the like. The second one in line is told its position twice, and its
  /// hook throws at the second call.
  template <class Acquire>
  void goes_on(const std::string& path, Acquire acquire) {
    auto first = run<ownership>([&](auto h) { acquire(nullptr, std::move(h)); });
    BOOST_TEST_REQUIRE(!std::get<0>(first));
    int calls = 0;
    auto hook = [&](std::size_t) {
      if (++calls == 2) throw oops();
    };
    std::optional<ownership> held;
    where.inside().run([&] {
      acquire(hook, [&](error_code error, ownership own) {
        BOOST_TEST(!error);
        held = std::move(own);
      });
    });
    wait([&] { return calls == 1; });
    where.inside().run([&] { std::get<1>(first) = ownership(); });
    BOOST_TEST(wait([&] { return held.has_value(); }), "the handler is never called");
    BOOST_TEST(calls == 2);
    BOOST_TEST(heard == 1);
    run<>([&](auto h) { held->async_release(std::move(h)); });
    BOOST_TEST(children(path) == 0u);
  }

  setting where;
  int heard = 0;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(hooks, hook_case)

BOOST_AUTO_TEST_CASE(a_lock_goes_on) {
  goes_on("/lock", [&](std::function<void(std::size_t)> hook, auto h) {
    lock(zk(), "/lock", {.on_position = std::move(hook)}).async_acquire(std::move(h));
  });
}

BOOST_AUTO_TEST_CASE(a_semaphore_goes_on) {
  goes_on("/permits", [&](std::function<void(std::size_t)> hook, auto h) {
    semaphore(zk(), "/permits", 1, {.on_position = std::move(hook)}).async_acquire(std::move(h));
  });
}

BOOST_AUTO_TEST_CASE(a_view_goes_on) {
  run<>([&](auto h) { zk().async_ensure_path("/group/a", std::move(h)); });
  children_view view(zk(), "/group", {.accept = [](const child_node&) -> bool { throw oops(); }});
  auto seen = run<children_snapshot>([&](auto h) { view.async_current(std::move(h)); });
  BOOST_TEST(!std::get<0>(seen));
  BOOST_TEST(std::get<1>(seen).exists);
  BOOST_TEST(std::get<1>(seen).nodes.empty());
  BOOST_TEST(heard == 1);
}

BOOST_AUTO_TEST_CASE(a_provider_goes_on) {
  service_discovery all(zk(), "/services");
  service_instance one;
  one.name = "billing";
  auto registered = run<service_registration>([&](auto h) { all.async_register(one, std::move(h)); });
  BOOST_TEST_REQUIRE(!std::get<0>(registered));
  service_provider choosy(all, "billing", {.accept = [](const service_instance&) -> bool { throw oops(); }});
  auto none = run<service_instance>([&](auto h) { choosy.async_pick(std::move(h)); });
  BOOST_TEST((std::get<0>(none) == errc::no_node));
  service_provider weighing(all, "billing",
                            {.strategy = service_strategy::weighted,
                             .weight = [](const service_instance&) -> std::uint32_t { throw oops(); }});
  none = run<service_instance>([&](auto h) { weighing.async_pick(std::move(h)); });
  BOOST_TEST((std::get<0>(none) == errc::no_node));
  wait([] { return false; });
  BOOST_TEST(heard == 2);
}

BOOST_AUTO_TEST_CASE(a_queue_goes_on) {
  std::vector<std::string> troubled;
  queue from(zk(), "/queue", {.on_unavailable_item = [&](error_code, const std::string& name) {
               troubled.push_back(name);
               throw oops();
             }});
  auto first = run<std::string>([&](auto h) { from.async_put("kept by what is below it", std::move(h)); });
  run<>([&](auto h) { zk().async_ensure_path("/queue/" + std::get<1>(first) + "/below", std::move(h)); });
  run<std::string>([&](auto h) { from.async_put("next", std::move(h)); });
  auto popped = run<message>([&](auto h) { from.async_pop(std::move(h)); });
  BOOST_TEST(!std::get<0>(popped));
  BOOST_TEST(std::get<1>(popped).data == "next");
  BOOST_TEST(troubled == std::vector<std::string>{std::get<1>(first)}, boost::test_tools::per_element());
  wait([&] { return heard > 0; });
  BOOST_TEST(heard == 1);
}

BOOST_AUTO_TEST_CASE(what_calls_it_may_be_destroyed_by_it) {
  run<>([&](auto h) { zk().async_ensure_path("/group/a", std::move(h)); });
  std::optional<children_view> view;
  view.emplace(zk(), "/group", children_view_options{.accept = [&](const child_node&) {
                 view.reset();
                 return true;
               }});
  run<children_snapshot>([&](auto h) { view->async_current(std::move(h)); });
  BOOST_TEST(!view.has_value());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(hooks)

BOOST_AUTO_TEST_CASE(a_session_goes_on) {
  session_options with;
  with.trace = [](const trace_event&) { throw oops(); };
  with.log = [](const log_event&) { throw oops(); };
  hook_case traced(std::move(with));
  auto found = traced.run<node_stat>([&](auto h) { traced.zk().async_exists("/", std::move(h)); });
  BOOST_TEST(!std::get<0>(found));
  traced.wait([] { return false; });
  BOOST_TEST(traced.heard >= 4);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace zkrecipes::test
