#include <algorithm>
#include <fstream>
#include <sstream>

#include <signal.h>

#include <boost/test/unit_test.hpp>

#include "spawn.hpp"
#include "support.hpp"

namespace {

/// A separate process that owns another ensemble.
class owner {
 public:
  explicit owner(std::vector<std::string> arguments = {}) {
    arguments.insert(arguments.begin(), OWNER_PROGRAM);
    pid_ = testcluster::detail::spawn({.command = arguments, .output = place_.path() / "out"});
    BOOST_TEST_REQUIRE(eventually([this] { return contains(said(), "\n"); }, 60s), "the owner has no ensemble");
    std::istringstream words(said());
    words >> dir >> hosts;
    for (pid_t server = 0; words >> server;) servers.push_back(server);
  }
  ~owner() {
    if (pid_ != 0) kill();
  }
  owner(const owner&) = delete;
  owner& operator=(const owner&) = delete;

  void kill() {
    ::kill(pid_, SIGKILL);
    testcluster::detail::await(pid_);
    pid_ = 0;
  }

  bool all_gone() const {
    const auto gone = [this] {
      return std::none_of(servers.begin(), servers.end(), alive) && !std::filesystem::exists(dir);
    };
    return eventually(gone, 5s);
  }

  std::filesystem::path dir;
  std::string hosts;
  std::vector<pid_t> servers;

 private:
  std::string said() const {
    std::ifstream file(place_.path() / "out");
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  scratch place_;
  pid_t pid_ = 0;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(owner_killed)

BOOST_AUTO_TEST_CASE(no_server_and_no_file_outlives_its_owner) {
  owner other;
  BOOST_TEST(other.servers.size() == 2u);
  BOOST_TEST(std::all_of(other.servers.begin(), other.servers.end(), alive));
  other.kill();
  BOOST_TEST(other.all_gone());
}

// The servers' process group is then orphaned with a stopped process in it, so the kernel sends SIGHUP and SIGCONT to
// it.
BOOST_AUTO_TEST_CASE(not_even_a_paused_one) {
  owner other({"pause"});
  other.kill();
  BOOST_TEST(other.all_gone());
}

BOOST_AUTO_TEST_CASE(ensembles_of_two_processes_are_apart) {
  owner other;
  testcluster::ensemble one({.servers = 1}), two({.servers = 1});
  BOOST_TEST(one.hosts() != two.hosts());
  BOOST_TEST(!contains(other.hosts, one.hosts()));
  connect(one.hosts()).create("/here", "", 0);
  BOOST_TEST(connect(one.hosts()).exists("/here"));
  BOOST_TEST(!connect(two.hosts()).exists("/here"));
}

BOOST_AUTO_TEST_SUITE_END()
