// Questions about descriptors, and the one of a connection in a child.
#include "backend/descriptors.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <string>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/test/unit_test.hpp>

#include "backend/broker_socket.hpp"
#include "backend/guardian/guardian_stream.hpp"
#include "support/temporary_folder.hpp"

using namespace zkrecipes::backend;

namespace {

struct socket_pair {
  socket_pair() { BOOST_TEST_REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0); }
  ~socket_pair() {
    for (const int each : ends) ::close(each);
  }
  std::array<int, 2> ends{};
};

/// What happens in a child of `fork`: 0, or the number of what was not as it should be.
template <class Action>
int in_child(Action action) {
  const auto pid = ::fork();
  if (pid == 0) ::_exit(action());
  int status = -1;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Numbers that are free are taken, so that nobody gets a descriptor any more.
void take_all_descriptors() {
  int last = 0;
  while (last >= 0 && last < 100) last = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const rlimit tight{static_cast<rlim_t>(last) + 1, static_cast<rlim_t>(last) + 1};
  ::setrlimit(RLIMIT_NOFILE, &tight);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(descriptors)

BOOST_AUTO_TEST_CASE(an_inode_of_another_device_is_another_file) {
  struct ::stat one {};
  one.st_dev = 5;
  one.st_ino = 7;
  auto other = one;
  BOOST_TEST(same_inode(one, other));
  ++other.st_dev;
  BOOST_TEST(!same_inode(one, other));
}

BOOST_AUTO_TEST_CASE(a_copy_of_a_descriptor_is_the_same_file_and_what_takes_its_number_is_not) {
  const socket_pair pair;
  const auto [one, other] = pair.ends;
  const int copy = ::dup(one);
  BOOST_TEST(same_file(one, copy));
  BOOST_TEST(!same_file(one, other));
  BOOST_TEST_REQUIRE(::dup2(other, copy) == copy);
  BOOST_TEST(!same_file(one, copy));
  ::close(copy);
  BOOST_TEST(!same_file(one, copy));
}

/// The owner of the number closes it in the child, too.
BOOST_AUTO_TEST_CASE(a_child_is_detached_with_and_without_free_descriptors) {
  const home_process home;
  for (const bool is_short : {false, true}) {
    const socket_pair pair;
    const auto [ours, theirs] = pair.ends;
    const auto found = in_child([&, one = ours] {
      const int parent_s = ::dup(one);
      if (is_short) take_all_descriptors();
      home.detach_elsewhere(one);
      if (::fcntl(one, F_GETFD) != FD_CLOEXEC) return 1;
      if (same_file(one, parent_s)) return 2;
      if (::send(one, "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return 3;
      return 0;
    });
    BOOST_TEST(found == 0, is_short);
    char byte = 0;
    const bool is_open = ::recv(theirs, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
    BOOST_TEST(is_open, "the parent's connection stands, and nothing came over it");
    home.detach_elsewhere(ours);
    BOOST_TEST(::send(ours, "x", 1, MSG_NOSIGNAL) == 1, "at home nothing happens");
  }
}

template <class Socket>
std::string arrived_at(Socket& end) {
  std::string bytes(100, ' ');
  const auto size = ::recv(end.native_handle(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  return bytes.substr(0, static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
}

BOOST_AUTO_TEST_CASE(a_child_sends_nothing_to_the_broker_of_its_parent) {
  namespace asio = boost::asio;
  asio::io_context io;
  asio::ip::tcp::acceptor broker(io, {asio::ip::address_v4::loopback(), 0});
  broker_socket ours(io.get_executor(), std::nullopt);
  bool is_connected = false;
  ours.connect({"127.0.0.1", broker.local_endpoint().port()}, [&](const auto& error) { is_connected = !error; });
  auto theirs = broker.accept();
  io.run();
  BOOST_TEST_REQUIRE(is_connected);
  const auto put = [&](const char* text) { ours.write(asio::buffer(text, 4), [](const auto&, std::size_t) {}); };
  BOOST_TEST(in_child([&] { return put("lost"), 0; }) == 0);
  BOOST_TEST(arrived_at(theirs) == "");
  put("told");
  BOOST_TEST(arrived_at(theirs) == "told");
  ours.close();
}

BOOST_AUTO_TEST_CASE(a_child_sends_nothing_to_the_guardian_of_its_parent) {
  namespace asio = boost::asio;
  struct silent_listener final : guardian_listener {
    void guardian_up() override {}
    void guardian_said(const guardian_answer&) override {}
    void guardian_down(const zkrecipes::error_code&) override {}
  } listener;
  const zkrecipes::test::temporary_folder folder;
  const auto path = (folder.path() / "guardian").string();
  asio::io_context io;
  asio::local::stream_protocol::acceptor guardian(io, path);
  const auto ours = std::make_shared<guardian_stream>(io.get_executor(), listener);
  ours->connect(path);
  auto theirs = guardian.accept();
  BOOST_TEST(in_child([&] { return ours->send("lost"), 0; }) == 0);
  BOOST_TEST(arrived_at(theirs) == "");
  ours->send("told");
  BOOST_TEST(arrived_at(theirs) == "told");
  ours->abandon();
  io.run();
}

BOOST_AUTO_TEST_SUITE_END()
