// A guardian that lacks something.
#include "guardian/guarding.hpp"

using namespace guardian;
using namespace guardian::test;

BOOST_FIXTURE_TEST_SUITE(shortages, guarding)

BOOST_AUTO_TEST_CASE(a_process_is_refused_for_want_of_descriptors) {
  start();
  child poor([&](const child::orders& orders) {
    talker to(options.socket.path);
    orders.report('c');
    orders.wait();
    to.greet();
    const auto answer = backend::parse_guardian_answer(to.hear());
    orders.report(answer && answer->reason.find("can not be watched") != std::string::npos ? 'r' : 'n');
    orders.wait();
  });
  run_until_reported(poor, 'c');
  run_until([&] { return guard->connection_count() == 1u; }, "the connection");
  asio::posix::stream_descriptor reports(io, ::dup(poor.reports()));
  auto none_but_the_pidfd_that_comes = std::make_optional<shortage_of_descriptors>(1);
  poor.order('g');
  char heard = 0;
  bool is_there = false;
  asio::async_read(reports, asio::buffer(&heard, 1),
                   [&](const boost::system::error_code&, std::size_t) { is_there = true; });
  run_until([&] { return is_there; }, "the answer");
  none_but_the_pidfd_that_comes.reset();
  BOOST_TEST(heard == 'r');
  BOOST_TEST(guard->held().process_count() == 0u);
  see_another_death();
}

BOOST_AUTO_TEST_SUITE_END()
