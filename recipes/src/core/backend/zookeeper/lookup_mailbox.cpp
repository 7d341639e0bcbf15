#include "backend/zookeeper/lookup_mailbox.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

namespace zkrecipes::backend {

lookup_mailbox::lookup_mailbox() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

lookup_mailbox::~lookup_mailbox() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void lookup_mailbox::put(host_answer what) {
  std::lock_guard lock(mutex_);
  answers_.push_back(std::move(what));
  ::eventfd_write(descriptor_, 1);
}

std::vector<host_answer> lookup_mailbox::take() {
  std::lock_guard lock(mutex_);
  eventfd_t count = 0;
  ::eventfd_read(descriptor_, &count);
  return std::exchange(answers_, {});
}

}  // namespace zkrecipes::backend
