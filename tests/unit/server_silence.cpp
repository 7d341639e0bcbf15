// How long a server may say nothing.
#include "backend/zookeeper/server_silence.hpp"

#include <boost/test/unit_test.hpp>

using zkrecipes::backend::server_silence;
using namespace std::chrono_literals;

namespace {

struct silent_server {
  silent_server() {
    it.begin(12s);
    it.on_input(start, true);
  }
  server_silence::time_point start{1h};
  server_silence it;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(server_silences, silent_server)

BOOST_AUTO_TEST_CASE(before_the_session_is_granted_nothing_is_late) {
  const server_silence none;
  BOOST_TEST((none.time_to_probe(start) == std::chrono::microseconds::max()));
  BOOST_TEST(!none.overslept(start, start - 1h));
}

BOOST_AUTO_TEST_CASE(a_server_that_owes_an_answer_is_probed_after_a_twelfth_of_the_timeout) {
  BOOST_TEST((it.time_to_probe(start) == 5s), "behind the next ping");
  it.on_request(start + 1s);
  BOOST_TEST((it.time_to_probe(start + 1s) == 1s));
  it.on_probe(start + 2s);
  it.on_request(start + 2s);
  BOOST_TEST((it.time_to_probe(start + 2s) == 1s));
  it.on_answer();
  it.on_answer();
  it.on_input(start + 3s, true);
  BOOST_TEST((it.time_to_probe(start + 3s) == 5s));
}

BOOST_AUTO_TEST_CASE(a_request_is_put_off_when_only_other_things_come_for_two_thirds_of_the_timeout) {
  it.on_request(start);
  it.on_input(start + 7s, false);
  BOOST_TEST(!it.is_put_off(start + 8s));
  BOOST_TEST(it.is_put_off(start + 8s + 1ms));
  it.on_input(start + 8s, true);
  BOOST_TEST(!it.is_put_off(start + 9s));
}

BOOST_AUTO_TEST_CASE(after_a_stall_of_our_own_the_server_is_asked_for_a_third_of_the_timeout) {
  BOOST_TEST(!it.overslept(start + 1s, start));
  BOOST_TEST(it.overslept(start + 1s + 1ms, start));
  it.ask(start + 2s);
  BOOST_TEST(it.is_asking(start + 5s));
  BOOST_TEST(!it.is_asking(start + 6s));
  BOOST_TEST(it.stop_asking());
  it.ask(start + 6s);
  it.on_input(start + 7s, false);
  BOOST_TEST(!it.stop_asking(), "anything that comes is a sign of life");
}

BOOST_AUTO_TEST_SUITE_END()
