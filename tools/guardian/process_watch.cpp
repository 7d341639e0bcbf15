#include "process_watch.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>

#include "early_proof.hpp"
#include "process_identity.hpp"

namespace guardian {

namespace {

constexpr std::chrono::milliseconds first_pause{1};

}  // namespace

process_watch::process_watch(const boost::asio::any_io_executor& executor, int pidfd, handler told)
    : pidfd_(executor), timer_(executor), told_(std::move(told)) {
  descriptor copy(::fcntl(pidfd, F_DUPFD_CLOEXEC, 0));
  if (!copy) throw std::system_error(errno, std::generic_category(), "F_DUPFD_CLOEXEC");
  pidfd_.assign(copy.get());
  copy.release();
  wait_for_end();
}

void process_watch::wait_for_end() {
  const auto wait_read = boost::asio::posix::stream_descriptor::wait_read;
  pidfd_.async_wait(wait_read, [this, alive = std::weak_ptr(alive_)](const boost::system::error_code& error) {
    if (alive.expired() || error == boost::asio::error::operation_aborted) return;
    if (!has_ended(pidfd_.native_handle())) return wait_for_end();
    tell("pidfd");
  });
}

void process_watch::look_early(descriptor process_folder, std::chrono::milliseconds longest) {
  folder_ = std::move(process_folder);
  longest_ = longest;
  hurry();
}

void process_watch::hurry() {
  if (!folder_) return;
  pause_ = first_pause;
  wait_for_look();
}

void process_watch::wait_for_look() {
  timer_.expires_after(pause_);
  pause_ = std::min(pause_ * 2, longest_);
  timer_.async_wait([this, alive = std::weak_ptr(alive_)](const boost::system::error_code& error) {
    if (alive.expired() || error) return;
    switch (guardian::look_early(folder_.get())) {
      case early_sign::exiting: return tell("exiting");
      case early_sign::dumping: return tell("dumping");
      case early_sign::none: return wait_for_look();
    }
  });
}

void process_watch::tell(std::string_view proof) {
  if (!told_) return;
  const auto told = std::exchange(told_, nullptr);
  boost::system::error_code ignored;
  timer_.cancel();
  pidfd_.cancel(ignored);
  told(proof);
}

}  // namespace guardian
