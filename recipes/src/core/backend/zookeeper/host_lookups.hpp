#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <sys/types.h>

#include "backend/zookeeper/lookup_mailbox.hpp"

namespace zkrecipes::backend {

/// The hosts that the process is looking up. The system's resolver blocks, and nothing ends it before its time. Asio's
/// thread for it serves one name after the other, and the context waits for it at its end. So here each host has a
/// thread of its own until it is answered, which nobody waits for, and which ends with the process. Sessions that want
/// the same host share it: there are never more such threads than hosts that hang. From any thread.
class host_lookups {
 public:
  /// Never destroyed, because threads may outlive `main`.
  static host_lookups& of_process();

  /// The answer comes to `to`, unless that has gone by then. An error: there will be none.
  error_code ask(const std::string& host, const std::shared_ptr<lookup_mailbox>& to);

 private:
  void answer(const host_answer& what);

  std::mutex mutex_;
  std::map<std::string, std::vector<std::weak_ptr<lookup_mailbox>>> waiting_;  // by host
  pid_t process_ = 0;  // a child that was forked has none of the threads
};

}  // namespace zkrecipes::backend
