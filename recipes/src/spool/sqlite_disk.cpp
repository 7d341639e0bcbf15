#include "spool/sqlite_disk.hpp"

#include <chrono>
#include <memory>
#include <new>
#include <thread>
#include <utility>

#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>

namespace zkrecipes::detail {

namespace asio = boost::asio;

sqlite_disk::sqlite_disk(asio::any_io_executor strand, spool_file_settings settings)
    : strand_(std::move(strand)), thread_(std::move(settings)) {}

namespace {

constexpr std::chrono::milliseconds pause_without_memory{10};

struct job {
  std::function<spool_answer(spool_file&)> work;
  spool_disk::handler done;
  spool_answer answer;

  /// An exception must not end the process, which has other work.
  void execute(spool_file& file) noexcept {
    try {
      answer = work(file);
    } catch (...) {  // there is no memory for words either
      file.close();
      answer.error = make_error_code(boost::system::errc::not_enough_memory);
    }
  }
};

/// False: there is no memory for it.
bool has_posted(const asio::any_io_executor& strand, const std::shared_ptr<job>& which) noexcept {
  try {
    asio::post(strand, [which] { which->done(std::move(which->answer)); });
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

}  // namespace

/// The context keeps running until the answer has come.
void sqlite_disk::run(std::function<spool_answer(spool_file&)> work, handler done) {
  auto strand = asio::prefer(strand_, asio::execution::outstanding_work.tracked);
  auto mine = std::make_shared<job>(job{std::move(work), std::move(done), {}});
  thread_.run([strand = std::move(strand), mine = std::move(mine)](spool_file& file) {
    mine->execute(file);
    // Nothing tells when there is memory again, and to wait for news would take some.
    while (!has_posted(strand, mine)) std::this_thread::sleep_for(pause_without_memory);
  });
}

void sqlite_disk::open(std::optional<std::uint64_t> keep, handler done) {
  run([keep](spool_file& file) { return file.open(keep); }, std::move(done));
}

void sqlite_disk::commit(spool_change change, handler done) {
  auto what = std::make_shared<const spool_change>(std::move(change));
  run([what = std::move(what)](spool_file& file) { return file.commit(*what); }, std::move(done));
}

void sqlite_disk::load(std::uint64_t from, std::size_t most_messages, std::size_t most_bytes, handler done) {
  run([=](spool_file& file) { return file.load(from, most_messages, most_bytes); }, std::move(done));
}

void sqlite_disk::close(handler done) {
  run([](spool_file& file) { return file.finish(); }, std::move(done));
}

}  // namespace zkrecipes::detail
