// Puts numbered messages into a queue of RabbitMQ by way of a file, as fast as it can, until it is killed. Each number
// that was accepted is noted by a plain write, which a kill can not undo. At the end it flushes and closes.
//   rabbit_spool_worker HOSTS ROOT BROKERS QUEUE FILE NOTES FIRST LAST
#include <cstdlib>
#include <iostream>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include <boost/asio.hpp>

#include <zkrecipes/rabbitmq/rabbit_spool.hpp>

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

class spool_worker {
 public:
  spool_worker(zkrecipes::session zk, zkrecipes::spooled_producer spool, const char* notes, int first, int last)
      : zk_(std::move(zk)),
        spool_(std::move(spool)),
        notes_(open(notes, O_WRONLY | O_APPEND | O_CREAT, 0600)),
        next_(first),
        last_(last) {}

  void run() {
    for (int i = 0; i < 200; ++i) put_next();
  }

 private:
  void put_next() {
    if (next_ > last_) return;
    const auto number = std::to_string(next_++);
    ++open_;
    spool_.async_put("key", number, [this, number](zkrecipes::error_code error, std::uint64_t) {
      if (error) return fail(error);
      const auto line = number + "\n";
      if (write(notes_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) std::abort();
      put_next();
      if (--open_ == 0) finish();
    });
  }
  void finish() {
    spool_.async_close(60s, [this](zkrecipes::error_code error) {
      if (error) return fail(error);
      zk_.async_close([](zkrecipes::error_code) {});
    });
  }
  void fail(zkrecipes::error_code error) {
    std::cerr << error.message() << ": " << spool_.status().trouble << std::endl;
    std::exit(1);
  }

  zkrecipes::session zk_;
  zkrecipes::spooled_producer spool_;
  int notes_;
  int next_;
  int last_;
  int open_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 9) return 2;
  asio::io_context io;
  zkrecipes::session_options where;
  where.hosts = argv[1];
  where.root = argv[2];
  where.timeout = 2s;
  zkrecipes::session zk(io, where);
  zkrecipes::rabbit_options broker;
  broker.hosts = argv[3];
  broker.queue = argv[4];
  broker.retry = {.first_pause = 10ms, .max_pause = 200ms};
  zkrecipes::spool_options how;
  how.file = argv[5];
  how.durability = zkrecipes::spool_durability::process;
  how.count = 200;
  how.most_messages = 3'000;
  auto spool = zkrecipes::spool_into(zkrecipes::rabbit_queues(zk, "/t", broker), "p", how);
  spool_worker all(zk, std::move(spool), argv[6], std::atoi(argv[7]), std::atoi(argv[8]));
  all.run();
  io.run();
}
