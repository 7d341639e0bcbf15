// The end of a service whose thread is blocked.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/json.hpp>
#include <boost/test/unit_test.hpp>

#include <zkrecipes/service/replica.hpp>

using namespace zkrecipes::service;
namespace asio = boost::asio;
namespace fs = std::filesystem;

namespace {

asio::awaitable<zkrecipes::message_outcome> process(surroundings&, zkrecipes::term, const zkrecipes::message&) {
  co_return zkrecipes::message_outcome::done();
}

[[noreturn]] void block(metrics_page&) {
  std::cout << "blocked" << std::endl;
  for (;;) ::pause();
}

/// A service in a process of its own, without a server. Its thread is blocked while it makes the page of metrics.
class blocked_service {
 public:
  explicit blocked_service(const std::string& grace)
      : file_(fs::temp_directory_path() / ("service-stop-" + std::to_string(::getpid()) + ".toml")) {
    std::ofstream(file_) << "servers = \"127.0.0.1:1\"\nid = \"a\"\ninput = \"/in\"\noutput = \"/out\"\n"
                         << "grace = \"" << grace << "\"\nhand_over = \"10ms\"\n"
                         << "[http]\nport = 0\nput_timeout = \"10ms\"\n";
    int ends[2];
    BOOST_TEST_REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    std::cout.flush();
    pid_ = ::fork();
    BOOST_TEST_REQUIRE(pid_ >= 0);
    if (pid_ == 0) serve(ends[1]);
    ::close(ends[1]);
    told_ = ends[0];
    ask_for_metrics(port_in(await_line("\"started\"")));
    await_line("blocked");
  }
  blocked_service(const blocked_service&) = delete;
  blocked_service& operator=(const blocked_service&) = delete;
  ~blocked_service() {
    if (pid_ > 0) ::kill(pid_, SIGKILL), ::waitpid(pid_, nullptr, 0);
    ::close(told_);
    fs::remove(file_);
  }

  void send(int signal) { BOOST_TEST(::kill(pid_, signal) == 0); }
  /// Waits for its end. -1: it ends for another reason.
  int code() {
    int status = -1;
    BOOST_TEST(::waitpid(pid_, &status, 0) == pid_);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  /// The next line that has these words. Empty: there is none.
  std::string await_line(std::string_view words) {
    std::string line;
    for (char next = 0; ::read(told_, &next, 1) == 1;) {
      if (next != '\n') {
        line += next;
      } else if (line.find(words) != line.npos) {
        return line;
      } else {
        line.clear();
      }
    }
    return {};
  }

 private:
  [[noreturn]] void serve(int told) const {
    ::alarm(60);  // so that nobody waits for ever if it does not end
    ::dup2(told, STDOUT_FILENO);
    ::dup2(told, STDERR_FILENO);
    std::string program = "service", file = file_.string();
    char* arguments[] = {program.data(), file.data(), nullptr};
    ::_exit(run(2, arguments, {process, block}));
  }
  static asio::ip::port_type port_in(const std::string& line) {
    BOOST_TEST_REQUIRE(!line.empty());
    return static_cast<asio::ip::port_type>(std::stoi(boost::json::parse(line).at("http_port").as_string().c_str()));
  }
  void ask_for_metrics(asio::ip::port_type port) {
    client_.connect({asio::ip::make_address("127.0.0.1"), port});
    asio::write(client_, asio::buffer(std::string_view("GET /metrics HTTP/1.1\r\n\r\n")));
  }

  asio::io_context io_{1};
  asio::ip::tcp::socket client_{io_};
  fs::path file_;
  pid_t pid_ = -1;
  int told_ = -1;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(service_stop)

BOOST_AUTO_TEST_CASE(a_service_whose_thread_is_blocked_ends_when_the_grace_is_over) {
  blocked_service service("1s");
  service.send(SIGTERM);
  BOOST_TEST(service.code() == static_cast<int>(exit_code::cut_off));
  BOOST_TEST(service.await_line("the thread of the service is blocked") != "");
}

BOOST_AUTO_TEST_CASE(a_service_whose_thread_is_blocked_ends_at_the_second_signal) {
  blocked_service service("3600s");
  service.send(SIGTERM);
  service.send(SIGINT);
  BOOST_TEST(service.code() == static_cast<int>(exit_code::cut_off));
  BOOST_TEST(service.await_line("the thread of the service is blocked") != "");
}

BOOST_AUTO_TEST_SUITE_END()
