#include "held_process.hpp"

#include <algorithm>
#include <utility>

#include "secrets.hpp"

namespace guardian {

std::string user_account::too_many(const char* what) const {
  return (all_ ? "the user has too many " : "all users together have too many ") + std::string(what);
}

std::string user_account::take_connection() {
  if (all_ && is_clogged()) return "descriptors of the user are still being closed";
  if (connections_ >= most_.connections) return too_many("connections");
  if (auto why = all_ ? all_->take_connection() : std::string(); !why.empty()) return why;
  ++connections_;
  return {};
}

void user_account::return_connection() {
  --connections_;
  if (all_) all_->return_connection();
}

std::string user_account::take(const holding& more) {
  const holding next{held_.sessions + more.sessions, held_.terms + more.terms, held_.bytes + more.bytes};
  if (next.sessions > most_.sessions) return too_many("sessions");
  if (next.terms > most_.terms) return too_many("terms");
  if (next.bytes > most_.bytes) return all_ ? "too much is held for the user" : "too much is held for all users";
  if (auto why = all_ ? all_->take(more) : std::string(); !why.empty()) return why;
  held_ = next;
  return {};
}

void user_account::give_back(const holding& less) {
  held_.sessions -= less.sessions;
  held_.terms -= less.terms;
  held_.bytes -= less.bytes;
  if (all_) all_->give_back(less);
}

namespace {

constexpr std::size_t size_of_node = 64;  // of a map

}  // namespace

std::size_t size_of(const zkrecipes::backend::guarded_session& session) {
  auto size = sizeof(held_session) + size_of_node + session.key.password.size();
  for (const auto& each : session.servers) size += sizeof(each) + each.address.size();
  for (const auto& each : session.digest) size += sizeof(each) + each.user.size() + each.password.size();
  return size;
}

std::size_t size_of(const zkrecipes::backend::guarded_term& term) {
  constexpr auto fixed = sizeof(held_term) + 2 * sizeof(std::string) + size_of_node;
  return fixed + 2 * (term.record.size() + term.node.size()) + term.seat.size();
}

holding holding_of(const held_session& session) {
  holding all{1, session.terms.size(), size_of(session.session)};
  for (const auto& [key, each] : session.terms) all.bytes += size_of(each.term);
  return all;
}

namespace backend = zkrecipes::backend;

held_process::held_process(process_identity who, std::string name, descriptor pidfd,
                           std::shared_ptr<user_account> account)
    : who_(who), name_(std::move(name)), pidfd_(std::move(pidfd)), account_(std::move(account)) {}

held_process::~held_process() {
  for (auto each = sessions_.begin(); each != sessions_.end();) each = erase(each);
}

std::size_t held_process::term_count() const noexcept {
  std::size_t count = 0;
  for (const auto& [id, each] : sessions_) count += each.terms.size();
  return count;
}

std::chrono::milliseconds held_process::longest_timeout() const noexcept {
  std::chrono::milliseconds longest{0};
  for (const auto& [id, each] : sessions_) longest = std::max(longest, each.session.key.timeout);
  return longest;
}

std::string held_process::add(backend::guarded_session session, const std::string& client, std::uint64_t connection) {
  if (over_) return "the process has ended";
  const auto known = sessions_.find(session.key.id);
  if (known == sessions_.end()) {
    if (auto why = account_->take({1, 0, size_of(session)}); !why.empty()) return why;
    const auto id = session.key.id;
    sessions_.emplace(id, held_session{std::move(session), client, connection});
    return {};
  }
  auto& held = known->second;
  if (held.client == client && held.told_by > connection) return {};
  if (auto why = account_->take({0, 0, size_of(session)}); !why.empty()) return why;
  account_->give_back({0, 0, size_of(held.session)});
  wipe(held.session);
  held.session = std::move(session);
  held.client = client;
  held.told_by = connection;
  return {};
}

std::string held_process::add(backend::guarded_term term, std::uint64_t connection) {
  if (over_) return "the process has ended";
  const auto session = sessions_.find(term.session);
  if (session == sessions_.end()) return "the session of the term was not told";
  auto key = std::pair(term.record, term.node);
  auto& terms = session->second.terms;
  const auto known = terms.find(key);
  if (known == terms.end()) {
    if (auto why = account_->take({0, 1, size_of(term)}); !why.empty()) return why;
    terms.emplace(std::move(key), held_term{std::move(term), connection});
    return {};
  }
  if (known->second.told_by > connection) return {};
  if (auto why = account_->take({0, 0, size_of(term)}); !why.empty()) return why;
  account_->give_back({0, 0, size_of(known->second.term)});
  known->second = {std::move(term), connection};
  return {};
}

void held_process::remove(const backend::guarded_session_end& which, const std::string& client,
                          std::uint64_t connection) {
  const auto known = sessions_.find(which.id);
  if (known == sessions_.end() || known->second.client != client) return;
  if (known->second.told_by <= connection) erase(known);
}

void held_process::remove(const backend::guarded_term_end& which, const std::string& client, std::uint64_t connection) {
  const auto session = sessions_.find(which.session);
  if (session == sessions_.end() || session->second.client != client) return;
  auto& terms = session->second.terms;
  const auto known = terms.find({which.record, which.node});
  if (known == terms.end() || known->second.told_by > connection) return;
  account_->give_back({0, 1, size_of(known->second.term)});
  terms.erase(known);
}

backend::guarded_count held_process::keep_only(const std::string& client, std::uint64_t connection) {
  backend::guarded_count left;
  for (auto each = sessions_.begin(); each != sessions_.end();) {
    auto& held = each->second;
    if (held.client != client) {
      ++each;
      continue;
    }
    if (held.told_by < connection) {
      each = erase(each);
      continue;
    }
    for (auto term = held.terms.begin(); term != held.terms.end();) {
      if (term->second.told_by >= connection) {
        ++term;
        continue;
      }
      account_->give_back({0, 1, size_of(term->second.term)});
      term = held.terms.erase(term);
    }
    ++left.sessions;
    left.terms += held.terms.size();
    ++each;
  }
  return left;
}

std::vector<held_session> held_process::end() {
  over_ = true;
  std::vector<held_session> all;
  for (auto& [id, each] : sessions_) all.push_back(std::move(each));
  sessions_.clear();
  return all;
}

held_process::sessions::iterator held_process::erase(sessions::iterator which) {
  account_->give_back(holding_of(which->second));
  wipe(which->second.session);
  return sessions_.erase(which);
}

}  // namespace guardian
