#include "user_account.hpp"

namespace guardian {

std::string user_account::take(const holding& more) {
  const holding next{held_.sessions + more.sessions, held_.terms + more.terms, held_.bytes + more.bytes};
  if (next.sessions > most_.sessions) return "the user has too many sessions";
  if (next.terms > most_.terms) return "the user has too many terms";
  if (next.bytes > most_.bytes) return "too much is held for the user";
  held_ = next;
  return {};
}

void user_account::give_back(const holding& less) {
  held_.sessions -= less.sessions;
  held_.terms -= less.terms;
  held_.bytes -= less.bytes;
}

}  // namespace guardian
