// The time from the death of a leader until its successor has inaugurated, with a guardian, for several ways to die and
// sizes of the process. The peers wait for the session's timeout: the part "leaders".
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>

#include <unistd.h>

#include "asynchronous.hpp"
#include "leaders.hpp"
#include "parts.hpp"
#include "peers.hpp"
#include "support/process.hpp"
#include "support/temporary_folder.hpp"

namespace bench {

namespace fs = std::filesystem;

namespace {

constexpr int one_way_ms = 10;  // to the servers
constexpr std::size_t small_mib = 1;
constexpr std::size_t large_mib = 2048;

/// A folder for core dumps and the guardian's socket, which becomes the present one.
class work_folder {
 public:
  work_folder() : before_(fs::current_path()) { fs::current_path(folder_.path()); }
  ~work_folder() {
    std::error_code ignored;
    fs::current_path(before_, ignored);
  }
  std::string socket() const { return folder_.path() / "guardian.sock"; }
  void remove_cores() const {
    for (const auto& each : fs::directory_iterator(folder_.path())) {
      if (each.path().filename().string().starts_with("core")) fs::remove(each.path());
    }
  }

 private:
  fs::path before_;
  zkrecipes::test::temporary_folder folder_;
};

/// A control group with a limit of memory, in either version of the interface. Empty where none can be made.
class memory_group {
 public:
  explicit memory_group(std::size_t limit_mib) {
    const auto name = "zkrecipes-bench-" + std::to_string(::getpid());
    for (const auto& [folder, file] :
         {std::pair{"/sys/fs/cgroup/memory/", "memory.limit_in_bytes"}, std::pair{"/sys/fs/cgroup/", "memory.max"}}) {
      std::error_code failure;
      fs::create_directory(folder + name, failure);
      if (failure) continue;
      path_ = folder + name;
      if (std::ofstream(path_ + '/' + file) << (limit_mib << 20) << std::flush) return;
      remove();
    }
  }
  ~memory_group() { remove(); }
  const std::string& path() const { return path_; }

 private:
  void remove() {
    if (!path_.empty()) ::rmdir(path_.c_str());
    path_.clear();
  }
  std::string path_;
};

class successor_career final : public zkrecipes::leader_career {
 public:
  explicit successor_career(asio::any_io_executor ex) : inaugurated(ex) {}
  awaitable<void> inaugurate(zkrecipes::term present) override {
    how = present.how();
    co_return;
  }
  awaitable<void> execute(zkrecipes::term present) override {
    inaugurated.note();
    co_await present.async_ending(asio::as_tuple(use_awaitable));
  }
  awaitable<void> hand_over(zkrecipes::term, zkrecipes::term_end) override { co_return; }

  moment inaugurated;
  zkrecipes::takeover how{};
};

/// Milliseconds from the call of `kill` until the successor has inaugurated.
awaitable<double> succeed(std::string hosts, std::string path, std::function<void()> kill) {
  auto ex = co_await asio::this_coro::executor;
  zkrecipes::session zk(ex, {.hosts = hosts});
  successor_career career(ex);
  moment ended(ex);
  zkrecipes::consumer_coordinator coordinator(zk, path, {.id = "successor"});
  coordinator.async_run(career, asio::bind_executor(ex, [&](zkrecipes::error_code) { ended.note(); }));
  co_await until_two_stand(zk, path);
  co_await zk.async_sync(use_awaitable);
  const auto killed = clock::now();
  kill();
  const auto succeeded = co_await career.inaugurated.wait();
  if (career.how != zkrecipes::takeover::died) throw std::runtime_error("the guardian has not told of the death");
  coordinator.stop();
  co_await ended.wait();
  co_await zk.async_remove_with_children(path, use_awaitable);
  co_await zk.async_close(use_awaitable);
  co_return ms_between(killed, succeeded);
}

struct way {
  std::string name;
  std::string order;  // empty: SIGKILL by us
};

class deaths_of {
 public:
  deaths_of(const plan& what, const work_folder& folder) : what_(what), folder_(folder) {}

  void start_guardian(bool early) {
    guardian_.reset();
    std::vector<std::string> words{GUARDIAN_PROGRAM, "--socket", folder_.socket(), "--mode", "0600"};
    if (early) words.insert(words.end(), {"--early-proof", "--early-proof-every", "10"});
    guardian_ = std::make_unique<line_process>("guardian", words);
    if (!wait_until([&] { return fs::exists(folder_.socket()); }, 10s)) throw std::runtime_error("no guardian");
  }
  /// All samples, the shortest one first. Empty if it can not be measured here.
  std::vector<double> measure(const way& how, std::size_t resident_mib) {
    std::vector<double> gaps;
    for (int i = 0; i < what_.repeat; ++i) {
      const memory_group group(resident_mib + 256);
      if (how.order == "oom" && group.path().empty()) return {};
      gaps.push_back(measure_once(how, resident_mib, how.order == "oom" ? group.path() : std::string()));
      folder_.remove_cores();
    }
    std::ranges::sort(gaps);
    return gaps;
  }

 private:
  double measure_once(const way& how, std::size_t resident_mib, const std::string& group) {
    const auto hosts = join_hosts(proxy_hosts());
    const auto path = "/deaths-" + std::to_string(++count_);
    std::vector<std::string> words{what_.self,       "--die-for",  path,
                                   "--hosts",        hosts,        "--guardian",
                                   folder_.socket(), "--resident", std::to_string(resident_mib)};
    if (!group.empty()) words.insert(words.end(), {"--control-group", group});
    auto leader = std::make_unique<line_process>("leader", words);
    wait_for_line(*leader);
    asio::io_context io;
    return run_coroutine(
        io, succeed(hosts, path, [&] { how.order.empty() ? leader.reset() : leader->tell(how.order); }), 60s);
  }
  static void wait_for_line(line_process& from) {
    if (!wait_until([&] { return from.answer().has_value(); }, 60s)) throw std::runtime_error("no leader");
  }

  const plan& what_;
  const work_folder& folder_;
  std::unique_ptr<line_process> guardian_;
  int count_ = 0;
};

void add_rows(std::vector<row>& rows, const std::string& name, const std::vector<double>& gaps) {
  const auto add = [&](const char* which, std::size_t place) {
    rows.push_back({name + ": " + which + " of " + std::to_string(gaps.size()), "milliseconds, session timeout 10 s",
                    gaps[place]});
  };
  if (gaps.empty()) return rows.push_back({name, "not here: no control group can be made", {}});
  add("median", gaps.size() / 2);
  add("longest", gaps.size() - 1);
}

}  // namespace

std::vector<row> deaths(const plan& what) {
  const work_folder folder;
  delay_clients(one_way_ms);
  deaths_of all(what, folder);
  std::vector<row> rows;
  const std::vector<way> ways{{"killed", ""},
                              {"segfault with core dump", "segv"},
                              {"abort", "abort"},
                              {"_exit", "exit"},
                              {"killed for want of memory", "oom"}};
  for (const auto& [mib, early] : {std::pair{small_mib, false}, {large_mib, false}, {large_mib, true}}) {
    all.start_guardian(early);
    for (const auto& each : ways) {
      const auto name = each.name + ", " + std::to_string(mib) + " MiB" + (early ? ", early proof" : "");
      std::cerr << "  " << name << std::endl;
      add_rows(rows, name, all.measure(each, mib));
    }
  }
  delay_clients(0);
  return rows;
}

}  // namespace bench
