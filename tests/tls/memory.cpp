// The memory of a session in which very many wait. `zkrecipes-bench --part secure` measures ten thousand.
#include <malloc.h>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/lock.hpp>

#include "tls/tls_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

constexpr std::size_t waiting = 2'000;
constexpr double bytes_of_mebibyte = 1 << 20;

double mebibytes_in_use() {
  const auto now = ::mallinfo2();
  return static_cast<double>(now.uordblks + now.hblkhd) / bytes_of_mebibyte;
}

struct crowded_case : secure_case {
  /// The memory of a session and of the acquisitions that wait in it.
  double taken_by(const session_options& with, const std::string& path) {
    const double before = mebibytes_in_use();
    session zk(io.get_executor(), with);
    lock busy(zk, path);
    std::size_t ended = 0;
    ownership held;
    for (std::size_t i = 0; i <= waiting; ++i) {
      busy.async_acquire(asio::bind_executor(io, [&](error_code, ownership owner) {
        if (++ended == 1) held = std::move(owner);
      }));
    }
    wait_for_line(zk, path);
    const double taken = mebibytes_in_use() - before;
    run(zk.async_close(tuple));
    BOOST_TEST(run_until(io, [&] { return ended == waiting + 1; }));
    return taken;
  }

 private:
  void wait_for_line(session& zk, const std::string& path) {
    const auto is_complete = [&] {
      auto node = run(zk.async_exists(path, tuple));
      return !std::get<0>(node) && std::get<1>(node).num_children == static_cast<int>(waiting) + 1;
    };
    BOOST_TEST_REQUIRE(run_until(io, is_complete, 120s));
    run(zk.async_sync(tuple));  // answered behind everyone's look at the one ahead
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(tls_memory, crowded_case)

#ifndef __SANITIZE_ADDRESS__  // it has an allocator of its own, which keeps no such figures
BOOST_AUTO_TEST_CASE(many_waiting_take_as_much_as_without) {
  auto secure = options();
  auto plain = secure;
  plain.tls.reset();
  plain.hosts = server.address;
  for (const bool by_tls : {true, false}) {
    session warm(io.get_executor(), by_tls ? secure : plain);  // tables of the libraries, which stay
    run(warm.async_exists("/", tuple));
  }
  const double without = taken_by(plain, "/plain-crowd");
  const double with = taken_by(secure, "/secure-crowd");
  BOOST_TEST_MESSAGE(waiting << " waiting: " << without << " MiB, over TLS " << with << " MiB");
  BOOST_TEST(without > 1);
  BOOST_TEST(with < without + 0.5);
}
#endif

BOOST_AUTO_TEST_SUITE_END()
