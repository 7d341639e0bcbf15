#include "user_account.hpp"

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

}  // namespace guardian
