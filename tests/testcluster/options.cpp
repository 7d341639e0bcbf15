#include <boost/test/unit_test.hpp>

#include <testcluster/proxy.hpp>

#include "support.hpp"

using testcluster::ensemble;
using testcluster::ensemble_options;

namespace {

std::string refusal(const std::function<void(ensemble_options&)>& spoil) {
  ensemble_options options;
  spoil(options);
  return failure([&] { ensemble unusable(options); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(options)

BOOST_AUTO_TEST_CASE(every_refusal_names_the_field) {
  BOOST_TEST(contains(refusal([](auto& o) { o.servers = 0; }), "servers"));
  BOOST_TEST(contains(refusal([](auto& o) { o.servers = 10; }), "servers"));
  BOOST_TEST(contains(refusal([](auto& o) { o.observers = -1; }), "observers"));
  BOOST_TEST(contains(refusal([](auto& o) { o.observers = 7; }), "observers"));
  BOOST_TEST(contains(refusal([](auto& o) { o.heap_mib = 16; }), "heap_mib"));
  BOOST_TEST(contains(refusal([](auto& o) { o.tick_time = 0ms; }), "tick_time"));
  BOOST_TEST(contains(refusal([](auto& o) { o.init_limit = 0; }), "init_limit"));
  BOOST_TEST(contains(refusal([](auto& o) { o.sync_limit = 0; }), "sync_limit"));
  BOOST_TEST(contains(refusal([](auto& o) { o.min_session_timeout = -1ms; }), "min_session_timeout"));
  BOOST_TEST(contains(refusal([](auto& o) { o.max_session_timeout = -1ms; }), "max_session_timeout"));
  BOOST_TEST(contains(refusal([](auto& o) { o.four_letter_words = {"all"}; }), "four_letter_words"));
  BOOST_TEST(contains(refusal([](auto& o) { o.delay = 5ms; }), "delay_proxies"));
  BOOST_TEST(contains(refusal([](auto& o) { o.extra_config = {"a=1\nb=2"}; }), "extra_config"));
  for (const std::string line :
       {"foo", "=1", "a b", "# note", "clientPort=1", "clientPort = 1", "dataDir=/tmp/x", "peerType=observer",
        "secureClientPort=1", "server.4=a:1:2", "4lw.commands.whitelist=ruok"})
    BOOST_TEST(contains(refusal([&](auto& o) { o.extra_config = {line}; }), "extra_config"), line);
  BOOST_TEST(contains(refusal([](auto& o) { o.base_port = 80; }), "base_port"));
  BOOST_TEST(contains(refusal([](auto& o) { o.start_timeout = 0ms; }), "start_timeout"));
  BOOST_TEST(contains(refusal([](auto& o) {
                        o.min_session_timeout = 2s;
                        o.max_session_timeout = 1s;
                      }),
                      "min_session_timeout"));
}

BOOST_AUTO_TEST_CASE(a_directory_in_use_is_refused) {
  scratch place;
  std::filesystem::create_directory(place.path() / "mine");
  BOOST_TEST(contains(refusal([&](auto& o) { o.dir = place.path(); }), "not empty"));
  BOOST_TEST(std::filesystem::exists(place.path() / "mine"));
}

BOOST_AUTO_TEST_CASE(a_directory_that_can_not_be_made_is_an_error) {
  scratch place;
  BOOST_TEST(contains(refusal([&](auto& o) { o.dir = place.path() / "a" / "b"; }), "could not make"));
}

BOOST_AUTO_TEST_CASE(a_proxy_refuses_what_it_can_not_use) {
  using testcluster::proxy;
  BOOST_TEST(contains(failure([] { proxy unusable("localhost"); }), "localhost"));
  BOOST_TEST(contains(failure([] { proxy unusable("127.0.0.1:x"); }), "127.0.0.1:x"));
  BOOST_TEST(contains(failure([] { proxy unusable("127.0.0.1:1", {.delay = -1ms}); }), "delay"));
}

BOOST_AUTO_TEST_SUITE_END()
