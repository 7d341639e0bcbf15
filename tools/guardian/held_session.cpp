#include "held_session.hpp"

namespace guardian {

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

}  // namespace guardian
