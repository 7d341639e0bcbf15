#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/guardian/guardian_message.hpp"
#include "descriptor.hpp"
#include "event_log.hpp"
#include "peer.hpp"
#include "registry.hpp"

namespace guardian {

/// What a peer says on one connection, message by message, and what comes of it. It knows nothing of sockets.
class conversation {
 public:
  /// `number`: of the connection; each has another one. All references outlive the conversation.
  conversation(registry& known, event_log& log, const peer& with, std::uint64_t number, process_line& line);
  conversation(const conversation&) = delete;
  conversation& operator=(const conversation&) = delete;
  ~conversation();

  /// `passed`: the descriptors that came with the line. After a refusal the connection is to be closed.
  std::optional<zkrecipes::backend::guardian_answer> hear(std::string_view line, std::vector<descriptor> passed);

  /// Null before `hello`.
  const held_process_ptr& process() const noexcept { return process_; }
  std::chrono::milliseconds hang_limit() const noexcept { return hello_.hang_limit; }

 private:
  using answer = std::optional<zkrecipes::backend::guardian_answer>;
  answer begin(zkrecipes::backend::guardian_hello hello, std::vector<descriptor> passed);
  answer on(zkrecipes::backend::guardian_hello);
  answer on(zkrecipes::backend::guarded_session what);
  answer on(zkrecipes::backend::guarded_session_end what);
  answer on(zkrecipes::backend::guarded_term what);
  answer on(zkrecipes::backend::guarded_term_end what);
  answer on(zkrecipes::backend::guardian_complete);
  answer on(zkrecipes::backend::guardian_ping);
  answer refuse(std::string why);
  answer full(std::string why);

  registry& known_;
  event_log& log_;
  peer with_;
  std::uint64_t number_;
  process_line& line_;
  zkrecipes::backend::guardian_hello hello_;
  held_process_ptr process_;
  bool told_full_ = false;
};

}  // namespace guardian
