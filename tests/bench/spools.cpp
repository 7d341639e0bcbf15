// Messages that a spooled producer accepts, by durability, beside a loop that writes the same transactions with SQLite.
#include <zkrecipes/spool/spooled_producer.hpp>

#include "asynchronous.hpp"
#include "parts.hpp"
#include "rounds.hpp"
#include "spool/spool_file.hpp"
#include "support/temporary_folder.hpp"

namespace bench {

namespace {

constexpr std::size_t spooled_bytes = 200;
constexpr int spooled_messages = 100'000;
constexpr int drained_messages = 20'000;
constexpr int puts_under_way = 20'000;

struct spool_folder : zkrecipes::test::temporary_folder {
  std::string file() const { return path() / "spool.db"; }
};

/// Puts messages, so many at a time, until all are complete.
class spool_round {
 public:
  spool_round(const std::string& hosts, zkrecipes::spool_durability durability, int count, bool is_through)
      : zk_(io_, {.hosts = hosts}), left_(count), open_(count), count_(count), is_through_(is_through) {
    zkrecipes::spool_options how;
    how.file = folder_.file();
    how.durability = durability;
    spool_ = zkrecipes::spooled_producer(zkrecipes::topic(zk_, "/bench-spool", {.shards = 16}), "bench", how);
  }

  /// Messages a second, from the first put on.
  double run() {
    const auto begin = clock::now();
    for (int i = 0; i < puts_under_way; ++i) put_next();
    while (open_ > 0) io_.run_one();
    return count_ / (ms_since(begin) / 1000);
  }

 private:
  void put_next() {
    if (left_ == 0) return;
    auto key = std::to_string(left_--);
    auto data = std::string(spooled_bytes - key.size(), 'd');
    auto then = [this](zkrecipes::error_code error, std::uint64_t) {
      if (error) throw boost::system::system_error(error, spool_.status().trouble);
      --open_;
      put_next();
    };
    if (is_through_) {
      spool_.async_put_through(std::move(key), std::move(data), std::move(then));
    } else {
      spool_.async_put(std::move(key), std::move(data), std::move(then));
    }
  }

  spool_folder folder_;
  boost::asio::io_context io_;
  zkrecipes::session zk_;
  zkrecipes::spooled_producer spool_;
  int left_;
  int open_;
  int count_;
  bool is_through_;
};

/// The same messages, in transactions of the same length, without anything around them.
double write_bare(zkrecipes::spool_durability durability) {
  const spool_folder folder;
  zkrecipes::detail::spool_file file({folder.file(), "/bench-spool", "bench", durability});
  const auto opened = file.open({});
  if (opened.error) throw boost::system::system_error(opened.error, opened.trouble);
  const auto begin = clock::now();
  std::uint64_t number = 0;
  while (number < spooled_messages) {
    zkrecipes::detail::spool_change change;
    for (std::size_t i = 0; i < zkrecipes::spool_options().count; ++i) {
      auto key = std::to_string(++number);
      auto data = std::string(spooled_bytes - key.size(), 'd');
      change.rows.push_back(std::make_shared<zkrecipes::detail::spool_row>(
          zkrecipes::detail::spool_row{number, std::move(key), std::move(data)}));
    }
    const auto written = file.commit(change);
    if (written.error) throw boost::system::system_error(written.error, written.trouble);
  }
  return spooled_messages / (ms_since(begin) / 1000);
}

row accepted(const std::string& name, zkrecipes::spool_durability durability, int rounds) {
  const auto ours = [durability](const std::string&) {
    return std::optional(spool_round("127.0.0.1:1", durability, spooled_messages, false).run());
  };
  const auto bare = [durability](const std::string&) { return std::optional(write_bare(durability)); };
  return measure_in_turns("spooled producer: accepted, " + name + ", beside SQLite alone", per_second,
                          {{&row::ours, ours}, {&row::bare, bare}}, rounds);
}

}  // namespace

std::vector<row> spools(const plan& what) {
  using zkrecipes::spool_durability;
  const auto hosts = zkrecipes::test::join_hosts(zkrecipes::test::direct_hosts());
  const auto drained = [&](const std::string&) {
    return std::optional(spool_round(hosts, spool_durability::process, drained_messages, true).run());
  };
  return {accepted("memory", spool_durability::memory, what.rounds),
          accepted("process", spool_durability::process, what.rounds),
          accepted("power", spool_durability::power, what.rounds),
          measure_in_turns("spooled producer: into a topic", per_second, {{&row::ours, drained}}, what.rounds)};
}

}  // namespace bench
