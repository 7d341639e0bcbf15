// The real file of a spooled producer, without the thread.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/post.hpp>
#include <boost/test/unit_test.hpp>

#include "spool/failing_vfs.hpp"
#include "spool/simulated_disk.hpp"
#include "spool/spool_file.hpp"

namespace zkrecipes::test {

/// Works with the file on the strand, so that a test is deterministic. Each error has to name the file and a cure. When
/// the file system has ended, so has the process.
class file_disk : public detail::spool_disk {
 public:
  file_disk(boost::asio::any_io_executor strand, const failing_vfs& vfs, std::shared_ptr<step_plan> plan,
            detail::spool_file_settings settings)
      : strand_(std::move(strand)),
        vfs_(vfs),
        plan_(std::move(plan)),
        name_(settings.file),
        file_(std::move(settings)) {}

  void open(std::optional<std::uint64_t> keep, handler done) override { answer(std::move(done), file_.open(keep)); }
  void commit(detail::spool_change change, handler done) override { answer(std::move(done), file_.commit(change)); }
  void load(std::uint64_t from, std::size_t most_messages, std::size_t most_bytes, handler done) override {
    answer(std::move(done), file_.load(from, most_messages, most_bytes));
  }
  void close(handler done) override { answer(std::move(done), file_.finish()); }
  void stop() noexcept override { file_.close(); }

 private:
  void answer(handler done, detail::spool_answer what) {
    plan_->is_crashed = plan_->is_crashed || vfs_.has_ended();
    if (plan_->is_crashed) return;
    if (what.error) {
      const auto cure = what.trouble.rfind("; ");
      BOOST_TEST(what.trouble.starts_with(name_ + ": "), what.trouble);
      BOOST_TEST((cure != std::string::npos && cure + 2 < what.trouble.size()), what.trouble);
    }
    boost::asio::post(strand_, [done = std::move(done), what = std::move(what)]() mutable { done(std::move(what)); });
  }

  boost::asio::any_io_executor strand_;
  const failing_vfs& vfs_;
  std::shared_ptr<step_plan> plan_;
  std::string name_;
  detail::spool_file file_;
};

}  // namespace zkrecipes::test
