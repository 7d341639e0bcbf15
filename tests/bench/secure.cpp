// Sessions over TLS, beside sessions without TLS on the same server. Measured in turns.
#include <sys/resource.h>

#include <boost/json.hpp>

#include <testcluster/ensemble.hpp>

#include "asynchronous.hpp"
#include "parts.hpp"
#include "rounds.hpp"
#include "support/line_process.hpp"
#include "support/process.hpp"

namespace bench {

namespace json = boost::json;

namespace {

constexpr int creates_of_a_round = 2'000;
constexpr int creates_at_once = 64;

testcluster::ensemble_options secure_ensemble() {
  testcluster::ensemble_options options;
  options.tls = true;
  options.extra_config = {"sslQuorum=false"};  // only the connections of clients are compared
  options.start_timeout = std::chrono::minutes(2);
  return options;
}

zkrecipes::session_options secure_options(testcluster::ensemble& cluster) {
  const auto& own = cluster.client_certificate();
  zkrecipes::session_options options;
  options.hosts = cluster.nodes().front().secure;
  options.tls = zkrecipes::tls_options{.authorities = cluster.authority().certificate().string(),
                                       .certificate = own.certificate.string(),
                                       .key = own.key.string()};
  return options;
}

zkrecipes::session_options plain_options(testcluster::ensemble& cluster) {
  zkrecipes::session_options options;
  options.hosts = cluster.nodes().front().address;
  return options;
}

/// A session that lasts for all rounds. What a round has created is removed after it.
class creator {
 public:
  /// The context is run for both sessions: one that waits for its turn must not fall silent.
  creator(asio::io_context& io, zkrecipes::session_options with, const std::string& path)
      : io_(io), zk_(io_.get_executor(), std::move(with)), path_(path) {
    make_path();
  }
  ~creator() { run_coroutine(io_, zk_.async_close(tuple)); }
  creator(const creator&) = delete;
  creator& operator=(const creator&) = delete;

  /// With so many at a time.
  void create(int at_once) {
    int open = at_once;
    for (int i = 0; i < at_once; ++i) {
      asio::co_spawn(io_, create_some(creates_of_a_round / at_once), [&open](std::exception_ptr failure, bool) {
        if (failure) std::rethrow_exception(failure);
        --open;
      });
    }
    run_until(io_, [&open] { return open == 0; });
  }
  void clean_up() {
    run_coroutine(io_, zk_.async_remove_with_children(path_, tuple), std::chrono::minutes(1));
    make_path();
  }

 private:
  void make_path() { run_coroutine(io_, zk_.async_ensure_path(path_, tuple)); }
  asio::awaitable<bool> create_some(int count) {
    for (int i = 0; i < count; ++i)
      co_await zk_.async_create(path_ + "/n-", "", zkrecipes::create_mode::persistent_sequential, use_awaitable);
    co_return true;
  }

  asio::io_context& io_;
  zkrecipes::session zk_;
  std::string path_;
};

double processor_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_THREAD, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// How many nanoseconds of this clock a create takes.
double nanoseconds_of(creator& by, int at_once, double (*clock)()) {
  const double begin = clock();
  by.create(at_once);
  const double took = clock() - begin;
  by.clean_up();
  return took * 1e9 / (creates_of_a_round / at_once * at_once);
}

/// What was taken since the session was up, and by the process as a whole.
struct waiting_memory {
  double added = 0;
  double whole = 0;
};

waiting_memory memory_of_waiting(const plan& what, const zkrecipes::session_options& by) {
  std::vector<std::string> command{what.self, "--wait-in-line", std::to_string(what.many_waiting), "--hosts", by.hosts};
  if (by.tls) command.insert(command.end(), {"--by-tls", by.tls->authorities, by.tls->certificate, by.tls->key});
  line_process alone("waiting", command);
  std::optional<std::string> said;
  wait_until([&] { return (said = alone.answer()).has_value(); }, std::chrono::minutes(2));
  if (!said) throw std::runtime_error("waiting in line takes too long");
  const auto figures = json::parse(*said);
  return {figures.at("mebibytes").to_number<double>(), figures.at("whole").to_number<double>()};
}

}  // namespace

std::vector<row> secure(const plan& what) {
  testcluster::ensemble cluster(secure_ensemble());
  const auto secure_way = secure_options(cluster);
  const auto plain_way = plain_options(cluster);
  asio::io_context io;
  creator by_tls(io, secure_way, "/by-tls");
  creator plain(io, plain_way, "/plain");
  const auto line = [&](const std::string& name, int at_once, double (*clock)()) {
    const auto round = [=](creator& by) {
      return [=, &by](const std::string&) { return std::optional(nanoseconds_of(by, at_once, clock)); };
    };
    return measure_in_turns(name, nanoseconds, {{&row::ours, round(by_tls)}, {&row::bare, round(plain)}}, what.rounds);
  };
  std::vector<row> rows;
  for (const int at_once : {1, creates_at_once}) {
    const auto name = "create by TLS beside plain text, " +
                      (at_once == 1 ? "one after the other" : std::to_string(at_once) + " at once");
    rows.push_back(line(name, at_once, &wall_seconds));
    rows.push_back(line(name + ", the client's processor", at_once, &processor_seconds));
  }
  const auto secure_memory = memory_of_waiting(what, secure_way);
  const auto plain_memory = memory_of_waiting(what, plain_way);
  const auto waiting = std::to_string(what.many_waiting) + " waiting by TLS beside plain text";
  rows.push_back(
      {waiting + ", since the session is up", "MiB", secure_memory.added, nullptr, nullptr, plain_memory.added});
  rows.push_back({waiting + ", the whole process", "MiB", secure_memory.whole, nullptr, nullptr, plain_memory.whole});
  return rows;
}

}  // namespace bench
