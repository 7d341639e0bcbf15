#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "backend/guardian/guardian_message.hpp"
#include "descriptor.hpp"
#include "process_identity.hpp"

namespace guardian {

// What one user has open at the guardian, and the limits of that.

/// How much of the guardian one user may take. What goes beyond is refused; other users do not notice.
struct limits {
  std::size_t connections = 256;
  std::size_t sessions = 1'000;
  std::size_t terms = 50'000;
  std::size_t bytes = 64u << 20;  ///< The size of everything that is held for the user's processes.
  std::size_t endings = 16;       ///< Sessions that are ended at the same time.
  std::size_t closing = 256;      ///< Descriptors of theirs that are still being closed.
  /// Messages of one connection: so many at once, and so many in each second later. Further ones wait in its socket.
  std::size_t burst = 60'000;
  std::size_t rate = 2'000;
  /// All users together may have so many times the connections, sessions, terms and bytes of one: somebody may have a
  /// crowd of user ids.
  std::size_t users = 16;
  std::chrono::milliseconds hello{10'000};  ///< A connection that has said nothing yet is closed after so long.
};

/// The amount that is held for a process.
struct holding {
  std::size_t sessions = 0;
  std::size_t terms = 0;
  std::size_t bytes = 0;
};

/// What one user takes of the guardian, against the limits, or all users together.
class user_account {
 public:
  /// `all`: the account of all users. Null: this is it.
  user_account(uid_t user, const limits& most, std::shared_ptr<user_account> all = {})
      : user_(user), most_(most), all_(std::move(all)) {}

  uid_t user() const noexcept { return user_; }
  const limits& most() const noexcept { return most_; }
  const holding& held() const noexcept { return held_; }

  /// Where descriptors that came from the user are closed.
  closing_lane lane() const noexcept { return closing_lane::of(user_); }
  /// So many are still being closed that no further ones may be taken.
  bool is_clogged() const { return background_closer::of_process().pending(user_) >= most_.closing; }

  /// Nothing is taken if a limit does not allow it; the text then says which.
  std::string take_connection();
  void return_connection();
  bool take_ending() { return endings_ < most_.endings && ++endings_; }
  void return_ending() { --endings_; }

  std::string take(const holding& more);  ///< As `take_connection`.
  void give_back(const holding& less);

  bool is_idle() const { return connections_ + endings_ + held_.sessions + held_.terms + held_.bytes == 0; }

 private:
  std::string too_many(const char* what) const;

  uid_t user_;
  limits most_;
  std::shared_ptr<user_account> all_;
  std::size_t connections_ = 0;
  std::size_t endings_ = 0;
  holding held_;
};

/// The sessions of a process that are held, and the terms that it leads in them.
/// `told_by`: the number of the connection that told it last.
struct held_term {
  zkrecipes::backend::guarded_term term;
  std::uint64_t told_by = 0;
};

struct held_session {
  zkrecipes::backend::guarded_session session;
  std::string client;
  std::uint64_t told_by = 0;
  std::map<std::pair<std::string, std::string>, held_term> terms{};  ///< By record and node.
};

/// An estimate of the memory that it takes.
std::size_t size_of(const zkrecipes::backend::guarded_session& session);
std::size_t size_of(const zkrecipes::backend::guarded_term& term);
/// What the account of its user is charged for the session and its terms.
holding holding_of(const held_session& session);

/// One process, its pidfd, and what it has told. What was told stays until it is taken back, or until the process ends;
/// connections come and go.
class held_process {
 public:
  held_process(process_identity who, std::string name, descriptor pidfd, std::shared_ptr<user_account> account);
  held_process(const held_process&) = delete;
  held_process& operator=(const held_process&) = delete;
  ~held_process();

  const process_identity& who() const noexcept { return who_; }
  const std::string& name() const noexcept { return name_; }
  int pidfd() const noexcept { return pidfd_.get(); }
  const std::shared_ptr<user_account>& account() const noexcept { return account_; }
  uid_t user() const noexcept { return account_->user(); }
  std::size_t session_count() const noexcept { return sessions_.size(); }
  std::size_t term_count() const noexcept;
  std::chrono::milliseconds longest_timeout() const noexcept;

  /// The process has ended: nothing is taken any more.
  bool is_over() const noexcept { return over_; }

  // `connection`: the number of the connection. What a later connection has told counts more: a client may have given
  // up an earlier one whose last words were not read yet. The text that is returned says why something was not taken.
  std::string add(zkrecipes::backend::guarded_session session, const std::string& client, std::uint64_t connection);
  std::string add(zkrecipes::backend::guarded_term term, std::uint64_t connection);
  // Only the client that has told a session takes it back, and its terms.
  void remove(const zkrecipes::backend::guarded_session_end& which, const std::string& client,
              std::uint64_t connection);
  void remove(const zkrecipes::backend::guarded_term_end& which, const std::string& client, std::uint64_t connection);
  /// Takes back what this client has told over earlier connections only. Returns what is left of it.
  zkrecipes::backend::guarded_count keep_only(const std::string& client, std::uint64_t connection);

  /// Hands out what is held, once the process has ended. The account is charged for it until that is given back.
  std::vector<held_session> end();

 private:
  using sessions = std::map<std::int64_t, held_session>;
  sessions::iterator erase(sessions::iterator which);

  process_identity who_;
  std::string name_;
  descriptor pidfd_;
  std::shared_ptr<user_account> account_;
  sessions sessions_;
  bool over_ = false;
};

using held_process_ptr = std::shared_ptr<held_process>;

}  // namespace guardian
