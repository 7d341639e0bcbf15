// The real disk of a spooled producer.
#pragma once

#include <boost/asio/any_io_executor.hpp>

#include "spool/spool_disk.hpp"
#include "spool/spool_thread.hpp"

namespace zkrecipes::detail {

class sqlite_disk : public spool_disk {
 public:
  sqlite_disk(boost::asio::any_io_executor strand, spool_file_settings settings);

  void open(std::optional<std::uint64_t> keep, handler done) override;
  void commit(spool_change change, handler done) override;
  void load(std::uint64_t from, std::size_t most_messages, std::size_t most_bytes, handler done) override;
  void close(handler done) override;
  void stop() noexcept override { thread_.stop(); }

 private:
  void run(std::function<spool_answer(spool_file&)> work, handler done);

  boost::asio::any_io_executor strand_;
  spool_thread thread_;
};

}  // namespace zkrecipes::detail
