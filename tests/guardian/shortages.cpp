// A guardian that lacks something.
#include <fcntl.h>
#include <sys/resource.h>

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
  std::vector<descriptor> others;  // up to one that has no free number in front of it
  do {
    others.emplace_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  } while (others.size() < 2 || others.back().get() != others[others.size() - 2].get() + 1);
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const rlimit tight{static_cast<rlim_t>(others.back().get()) + 1, before.rlim_max};
  others.pop_back();  // the place of the pidfd that the process passes
  ::setrlimit(RLIMIT_NOFILE, &tight);
  poor.order('g');
  char heard = 0;
  bool is_there = false;
  asio::async_read(reports, asio::buffer(&heard, 1),
                   [&](const boost::system::error_code&, std::size_t) { is_there = true; });
  run_until([&] { return is_there; }, "the answer");
  ::setrlimit(RLIMIT_NOFILE, &before);
  BOOST_TEST(heard == 'r');
  BOOST_TEST(guard->held().process_count() == 0u);
  see_another_death();
}

BOOST_AUTO_TEST_SUITE_END()
