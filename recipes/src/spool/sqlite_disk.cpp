#include "spool/sqlite_disk.hpp"

#include <memory>
#include <utility>

#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>

namespace zkrecipes::detail {

namespace asio = boost::asio;

sqlite_disk::sqlite_disk(asio::any_io_executor strand, spool_file_settings settings)
    : strand_(std::move(strand)), thread_(std::move(settings)) {}

/// The context keeps running until the answer has come.
void sqlite_disk::run(std::function<spool_answer(spool_file&)> work, handler done) {
  auto strand = asio::prefer(strand_, asio::execution::outstanding_work.tracked);
  thread_.run([strand = std::move(strand), work = std::move(work), done = std::move(done)](spool_file& file) {
    asio::post(strand, [done, answer = work(file)]() mutable { done(std::move(answer)); });
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
