// Kills a process that puts by way of a file, again and again, and then looks at what is in the topic or queue: each
// message that was accepted once, no other one twice, and all in order.
//   spool_kills WORKER topic|queue [KILLS [MESSAGES [away|FOLDER]]]      10 kills, 5 000 messages
// With "away" only the last process reaches the ensemble. FOLDER is on a small file system of its own: the file is
// there, and the file system is full when a process is killed and when the next one begins.
#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>
#include <random>
#include <string>

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <boost/asio.hpp>

#include <zkrecipes/session.hpp>

#include <testcluster/ensemble.hpp>

#include "spool/killed_process.hpp"
#include "support/coroutine.hpp"
#include "topic/topic_layout.hpp"

namespace zkrecipes::test {

/// Fills a file system.
/// A file that takes all the room that is left beside it.
class ballast {
 public:
  explicit ballast(const std::string& folder) : file_(std::filesystem::path(folder) / "ballast") {}
  ballast(const ballast&) = delete;
  ballast& operator=(const ballast&) = delete;
  ~ballast() { remove(); }

  bool is_there() const noexcept { return is_there_; }
  void fill() {
    const int file = open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    constexpr std::array<char, 4096> block{};
    while (write(file, block.data(), block.size()) > 0) {
    }
    close(file);
    is_there_ = true;
  }
  void remove() {
    if (is_there_) std::filesystem::remove(file_);
    is_there_ = false;
  }

 private:
  std::filesystem::path file_;
  bool is_there_ = false;
};

}  // namespace zkrecipes::test

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

constexpr long long numbers_of_a_life = 10'000'000;

/// The messages that are there, in order.
class remains {
 public:
  remains(const std::string& hosts, bool is_queue) : zk_(io_, {.hosts = hosts}), is_queue_(is_queue) {}

  std::vector<long long> read() {
    run_coroutine(io_, read_all(), 10min);
    return all_;
  }

 private:
  asio::awaitable<bool> read_all() {
    if (is_queue_) {
      co_await read_folder("/spool", "qn-");
    } else {
      for (const auto* shard : {"/spool/0000", "/spool/0001", "/spool/0002", "/spool/0003"}) {
        co_await read_folder(shard, "b-");
      }
    }
    co_return true;
  }
  asio::awaitable<void> read_folder(std::string path, std::string prefix) {
    auto [error, found] = co_await zk_.async_children(path, tuple);
    if (error) co_return;  // nothing was put there
    auto names = found.names;
    std::erase_if(names, [&](const std::string& each) { return !each.starts_with(prefix); });
    const auto number = [](const std::string& each) { return each.substr(each.rfind('-') + 1); };
    std::ranges::sort(names, {}, number);
    for (const auto& each : names) {
      const auto node = co_await zk_.async_get(path + "/" + each, asio::use_awaitable);
      if (is_queue_) {
        all_.push_back(std::stoll(node.data));
      } else {
        const auto batch = detail::unpack(node.data);
        for (const auto& [key, data] : batch.value()) all_.push_back(std::stoll(std::string(data)));
      }
    }
  }

  asio::io_context io_;
  session zk_;
  bool is_queue_;
  std::vector<long long> all_;
};

class kill_run {
 public:
  kill_run(std::string worker, std::string kind, std::size_t kills, std::size_t messages, const std::string& trouble)
      : worker_(std::move(worker)),
        kind_(std::move(kind)),
        kills_(kills),
        messages_(messages),
        is_away_(trouble == "away"),
        small_(is_away_ ? "" : trouble) {
    std::string name = std::filesystem::temp_directory_path() / "zkrecipes-kills-XXXXXX";
    if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
    folder_ = name;
  }
  ~kill_run() { std::filesystem::remove_all(folder_); }

  bool run() {
    noted_numbers noted(folder_ / "notes");
    noted_numbers failed(folder_ / "notes-full");
    ballast full(small_);
    std::mt19937 random(1);
    const auto share = std::max<std::size_t>(messages_ / (kills_ + 1), 1);
    std::size_t killed = 0;
    for (; killed < kills_; ++killed) {
      const auto until = noted.look() + 1 + random() % (2 * share);
      killed_process one(command(killed, numbers_of_a_life - 1));
      const bool has_met_full = !full.is_there() || wait_for(failed, failed.look() + 1, one);
      full.remove();
      if (!has_met_full || !wait_for(noted, until, one)) return complain("a worker has ended by itself");
      if (!small_.empty()) full.fill();
      if (full.is_there() && !wait_for(failed, failed.look() + 1, one)) return complain("a worker has ended by itself");
      one.end();
    }
    full.remove();
    const auto seen = noted.look();
    const auto rest = seen < messages_ ? messages_ - seen : 1;
    killed_process last(command(killed, static_cast<long long>(rest)));
    if (last.wait() != 0) return complain("the last worker has failed");
    noted.look();
    if (!small_.empty()) std::cout << failed.look() << " puts failed on the full disk; ";
    return judge(noted.all(), remains(ensemble_.hosts(), kind_ == "queue").read());
  }

 private:
  /// False: the writer has ended by itself.
  static bool wait_for(noted_numbers& notes, std::size_t count, killed_process& writer) {
    while (notes.look() < count) {
      if (writer.has_ended()) return false;
      std::this_thread::sleep_for(1ms);  // polls, because another process writes the notes
    }
    return true;
  }
  std::vector<std::string> command(std::size_t life, long long count) const {
    const auto first = static_cast<long long>(life) * numbers_of_a_life + 1;
    const auto hosts = is_away_ && life < kills_ ? "127.0.0.1:1" : ensemble_.hosts();
    const auto file = (small_.empty() ? folder_ : std::filesystem::path(small_)) / "spool.db";
    std::vector<std::string> all{
        worker_, hosts, file, folder_ / "notes", std::to_string(first), std::to_string(first + count - 1), kind_};
    if (is_away_) all.push_back("away");
    if (!small_.empty()) all.push_back("full");
    return all;
  }

  bool judge(std::vector<long long> accepted, const std::vector<long long>& found) const {
    const auto disorder = std::ranges::adjacent_find(found, std::greater_equal<>());
    std::ranges::sort(accepted);
    std::vector<long long> missing;
    std::ranges::set_difference(accepted, found, std::back_inserter(missing));
    std::cout << kills_ << " kills; accepted " << accepted.size() << ", found " << found.size() << ", missing "
              << missing.size() << ", " << (disorder == found.end() ? "in order" : "NOT IN ORDER") << std::endl;
    if (disorder != found.end()) return complain("repeated or out of order: " + std::to_string(*disorder));
    if (!missing.empty()) return complain("missing: " + std::to_string(missing.front()));
    return accepted.size() >= messages_ || complain("too few were accepted");
  }
  static bool complain(const std::string& why) {
    std::cerr << why << std::endl;
    return false;
  }

  std::string worker_;
  std::string kind_;
  std::size_t kills_;
  std::size_t messages_;
  bool is_away_;
  std::string small_;
  std::filesystem::path folder_;
  testcluster::ensemble ensemble_{{.servers = 1}};
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const auto number = [&](int place, std::size_t otherwise) {
    return argc > place ? static_cast<std::size_t>(std::stoul(argv[place])) : otherwise;
  };
  kill_run all(argv[1], argv[2], number(3, 10), number(4, 5'000), argc > 5 ? argv[5] : "");
  return all.run() ? 0 : 1;
}
