// Puts numbered messages into a topic or a queue by way of a file, as fast as it can, until it is killed. Each number
// that was accepted is noted by a plain write, which a kill can not undo.
//   spool_killed_worker HOSTS FILE NOTES FIRST LAST topic|queue [away|full]
// With "away" there is room for all messages, because none can be put. With "full" a message that fails for want of
// room is given up and noted in NOTES-full, and the next one is put. At the end it flushes, closes and says "done".
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include <boost/asio.hpp>

#include <zkrecipes/consumer/topic.hpp>
#include <zkrecipes/queue.hpp>
#include <zkrecipes/spool/spooled_producer.hpp>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

class worker {
 public:
  worker(zkrecipes::session zk, const std::string& file, const std::string& notes, int first, int last, bool is_queue,
         const std::string& trouble)
      : zk_(std::move(zk)), next_(first), last_(last), is_queue_(is_queue), bears_full_(trouble == "full") {
    zkrecipes::spool_options how;
    how.file = file;
    how.durability = zkrecipes::spool_durability::process;
    how.count = 200;
    how.most_messages = trouble == "away" ? 1'000'000 : 5'000;
    spool_ = is_queue ? zkrecipes::spooled_producer(zkrecipes::queue(zk_, "/spool"), "killed", how)
                      : zkrecipes::spooled_producer(zkrecipes::topic(zk_, "/spool", {.shards = 4}), "killed", how);
    notes_ = open(notes.c_str(), O_WRONLY | O_APPEND | O_CREAT, 0600);
    failures_ = open((notes + "-full").c_str(), O_WRONLY | O_APPEND | O_CREAT, 0600);
  }

  void run() {
    for (int i = 0; i < 1'000; ++i) put_next();
  }

 private:
  void put_next() {
    if (next_ > last_) return;
    const auto number = std::to_string(next_++);
    ++open_;
    // One key, so that all are in one shard, in order.
    spool_.async_put(is_queue_ ? "" : "key", number, [this, number](zkrecipes::error_code error, std::uint64_t) {
      const bool is_full = bears_full_ && error == zkrecipes::spool_errc::disk_full;
      if (error && !is_full) return fail(error);
      note(is_full ? failures_ : notes_, number);
      put_next();
      if (--open_ == 0) finish();
    });
  }
  static void note(int where, const std::string& number) {
    const auto line = number + "\n";
    if (write(where, line.data(), line.size()) != static_cast<ssize_t>(line.size())) std::abort();
  }
  void finish() {
    spool_.async_close(60s, [this](zkrecipes::error_code error) {
      if (error) return fail(error);
      std::cout << "done" << std::endl;
      zk_.async_close([](zkrecipes::error_code) {});
    });
  }
  void fail(zkrecipes::error_code error) {
    std::cerr << error.message() << ": " << spool_.status().trouble << std::endl;
    std::exit(1);
  }

  zkrecipes::session zk_;
  zkrecipes::spooled_producer spool_;
  int notes_ = -1;
  int failures_ = -1;
  int next_;
  int last_;
  int open_ = 0;
  bool is_queue_;
  bool bears_full_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 7) return 2;
  asio::io_context io;
  zkrecipes::session zk(io, {.hosts = argv[1], .timeout = 2s});
  const bool is_queue = std::string(argv[6]) == "queue";
  worker all(zk, argv[2], argv[3], std::atoi(argv[4]), std::atoi(argv[5]), is_queue, argc > 7 ? argv[7] : "");
  all.run();
  io.run();
}
