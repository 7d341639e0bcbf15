// Consumes a log of one's own: the lines of a file, to which any program appends. A line has its effect once.
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio.hpp>

#include <zkrecipes/consumer.hpp>
#include <zkrecipes/zkrecipes.hpp>

namespace asio = boost::asio;
using namespace std::chrono_literals;

/// The place of a line is the number of bytes up to its end.
class line_log : public zkrecipes::external_log {
 public:
  explicit line_log(std::string path) : path_(std::move(path)) {}

  std::string name() const override { return "lines of " + path_; }

  asio::awaitable<zkrecipes::error_code> open(std::string place) override {
    file_ = std::ifstream(path_);
    read_ = place.empty() ? 0 : std::stoll(place);
    if (!file_.seekg(read_)) co_return make_error_code(boost::system::errc::no_such_file_or_directory);
    co_return zkrecipes::error_code();
  }

  asio::awaitable<zkrecipes::external_batch> receive(std::size_t most) override {
    const auto executor = co_await asio::this_coro::executor;
    asio::steady_timer pause(executor);
    zkrecipes::external_batch batch;
    for (;;) {
      while (batch.messages.size() < most) {
        auto line = next_line();
        if (!line) break;
        auto& added = batch.messages.emplace_back();
        added.id = std::to_string(read_);
        added.data = std::move(*line);
      }
      if (!batch.messages.empty()) co_return batch;
      pause.expires_after(200ms);  // a file can not be waited for
      co_await pause.async_wait(asio::use_awaitable);
    }
  }

 private:
  std::optional<std::string> next_line() {
    std::string line;
    std::getline(file_, line);
    const bool is_whole = file_.good();  // else its end is not written yet
    if (is_whole) read_ += static_cast<std::streamoff>(line.size()) + 1;
    if (!is_whole) file_.clear();
    file_.seekg(read_);
    return is_whole ? std::optional(std::move(line)) : std::nullopt;
  }

  std::string path_;
  std::ifstream file_;
  std::streamoff read_ = 0;
};

struct shipping : zkrecipes::queue_consumer {
  using queue_consumer::queue_consumer;

  asio::awaitable<zkrecipes::message_outcome> process(zkrecipes::term, const zkrecipes::message& line) override {
    std::cout << "up to byte " << line.name << ": " << line.data << std::endl;
    co_return zkrecipes::transaction().create("/shop/sent-", line.data, zkrecipes::create_mode::persistent_sequential);
  }
};

int main(int argc, char** argv) try {
  asio::io_context io;
  zkrecipes::session zk(io, {.hosts = argc > 1 ? argv[1] : "127.0.0.1:2181"});
  zkrecipes::external_options how;
  how.source = "orders";
  zkrecipes::external_source orders(zk, "/shop/lines", how);
  const auto lines = std::make_shared<line_log>(argc > 2 ? argv[2] : "orders.txt");
  shipping career(orders.feed(lines, 0, "shipping"));
  zkrecipes::consumer_coordinator coordinator(zk, "/shop/lead-lines", {.id = "example"});
  asio::signal_set stop(io, SIGINT, SIGTERM);
  stop.async_wait([&](auto, int) { coordinator.stop(); });
  bool has_failed = false;
  coordinator.async_run(career, [&](auto error) {
    std::cout << error.message() << std::endl;
    has_failed = bool(error);
    stop.cancel();
    zk.async_close([](auto) {});
  });
  io.run();
  if (auto why = coordinator.failure()) std::rethrow_exception(why);  // what the career has thrown
  return has_failed;
} catch (const std::exception& failure) {
  std::cerr << failure.what() << std::endl;
  return 1;
}
