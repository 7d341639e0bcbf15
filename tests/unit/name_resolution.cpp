// Lookups of names in the real world. The system's resolver is the test's: names that end in ".known" lead to
// 127.0.0.9, those in ".hangs" to nothing until the test lets them go, those in ".missing" to nothing.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <dlfcn.h>
#include <netdb.h>

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include "backend/zookeeper/real_world.hpp"

using namespace zkrecipes;
using namespace std::chrono_literals;

namespace {

/// Never destroyed: threads that look up may outlive it.
struct resolver {
  std::mutex mutex;
  std::condition_variable changed;
  bool lets_go = false;
  int asked = 0;  // for names that hang
  std::string address = "127.0.0.9";
};
resolver& of_system() {
  static auto* const all = new resolver;
  return *all;
}

int look_up(std::string_view name, const char* service, const addrinfo* hints, addrinfo** found) {
  auto& system = of_system();
  std::unique_lock lock(system.mutex);
  if (name.ends_with(".missing")) return EAI_NONAME;
  if (name.ends_with(".hangs")) {
    ++system.asked;
    system.changed.notify_all();
    system.changed.wait(lock, [&] { return system.lets_go; });
  }
  using function = int (*)(const char*, const char*, const addrinfo*, addrinfo**);
  static const auto real = reinterpret_cast<function>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  const bool is_ours = name.ends_with(".known") || name.ends_with(".hangs");
  return real(is_ours ? system.address.c_str() : std::string(name).c_str(), service, hints, found);
}

}  // namespace

// Takes the place of the system's.
extern "C" int getaddrinfo(const char* name, const char* service, const addrinfo* hints, addrinfo** found) {
  return look_up(name ? name : "", service, hints, found);
}

namespace {

struct lookup_case {
  lookup_case() { let_go(false); }
  ~lookup_case() { let_go(true); }
  void let_go(bool now) {
    std::lock_guard lock(of_system().mutex);
    of_system().lets_go = now;
    of_system().asked = 0;
    of_system().changed.notify_all();
  }
  void look_up(std::vector<std::string> addresses) {
    std::vector<backend::endpoint> names;
    for (auto& each : addresses) names.push_back({std::move(each), 2181});
    world->resolve(std::move(names), [this](const std::vector<backend::resolved_name>& all) {
      for (const auto& each : all) {
        found.push_back(each.addresses.empty() ? each.error.message() : to_string(each.addresses.front()));
      }
    });
  }
  static std::string text(const error_code& error) { return error.message(); }

  boost::asio::io_context io;
  std::unique_ptr<backend::world> world = backend::make_real_world(io.get_executor());
  std::vector<std::string> found;
};

const auto silent = error_code(boost::asio::error::timed_out).message();
const auto unknown = error_code(boost::asio::error::host_not_found).message();

#define CHECK_FOUND(...) BOOST_TEST(found == (std::vector<std::string>{__VA_ARGS__}), boost::test_tools::per_element())

}  // namespace

BOOST_FIXTURE_TEST_SUITE(name_resolution, lookup_case)

BOOST_AUTO_TEST_CASE(numeric_addresses_need_no_lookup_and_names_keep_their_order) {
  look_up({"127.0.0.1"});
  BOOST_TEST(found.empty(), "never from inside the call");
  io.run();
  CHECK_FOUND("127.0.0.1:2181");
  io.restart();
  found.clear();
  look_up({"a.known", "127.0.0.2", "b.missing", "a.known"});
  io.run();
  CHECK_FOUND("127.0.0.9:2181", "127.0.0.2:2181", unknown, "127.0.0.9:2181");
}

BOOST_AUTO_TEST_CASE(a_name_that_hangs_holds_no_other_one_up_and_has_a_limit) {
  look_up({"one.hangs"});
  look_up({"a.known"});
  look_up({"127.0.0.1"});
  io.run();
  BOOST_TEST_REQUIRE(found.size() == 3u);
  BOOST_TEST(found.back() == silent);
}

BOOST_AUTO_TEST_CASE(who_asks_again_waits_for_the_same_lookup) {
  look_up({"two.hangs"});
  look_up({"two.hangs"});
  io.run();
  CHECK_FOUND(silent, silent);
  found.clear();
  io.restart();
  auto second = backend::make_real_world(io.get_executor());
  second->resolve({{"two.hangs", 1}}, [this](const auto& all) { found.push_back(to_string(all[0].addresses.at(0))); });
  look_up({"two.hangs"});
  BOOST_TEST(of_system().asked == 1);
  let_go(true);
  io.run();
  std::ranges::sort(found);
  CHECK_FOUND("127.0.0.9:1", "127.0.0.9:2181");
}

BOOST_AUTO_TEST_CASE(nobody_waits_for_a_lookup_that_was_abandoned_and_no_context_for_one_at_its_end) {
  look_up({"three.hangs"});
  {
    std::unique_lock lock(of_system().mutex);
    BOOST_TEST_REQUIRE(of_system().changed.wait_for(lock, 30s, [] { return of_system().asked == 1; }));
  }
  world->abandon_lookups();
  const auto begun = std::chrono::steady_clock::now();
  BOOST_TEST(io.run() <= 3u);
  BOOST_TEST((std::chrono::steady_clock::now() - begun < 1s), "it would be 1.5 s");
  BOOST_TEST(found.empty());
}

BOOST_AUTO_TEST_CASE(what_was_resolved_is_asked_for_anew) {
  of_system().address = "127.0.0.8";
  look_up({"a.known"});
  io.run();
  of_system().address = "127.0.0.9";
  look_up({"a.known"});
  io.restart();
  io.run();
  CHECK_FOUND("127.0.0.8:2181", "127.0.0.9:2181");
}

BOOST_AUTO_TEST_CASE(a_handler_can_begin_the_next_lookup) {
  world->resolve({{"a.known", 2181}}, [this](const auto&) { look_up({"a.known"}); });
  io.run();
  CHECK_FOUND("127.0.0.9:2181");
}

BOOST_AUTO_TEST_SUITE_END()
