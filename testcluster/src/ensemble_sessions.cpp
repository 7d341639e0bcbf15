#include <functional>

#include "ensemble_impl.hpp"
#include "jute/messages.hpp"
#include "no_such_session.hpp"
#include "zk_client.hpp"

namespace testcluster {

using namespace std::chrono_literals;
using detail::clock;

void ensemble::expire(std::int64_t session_id) {
  const jute::session wanted{.id = session_id, .password = jute::password_of(session_id), .timeout_ms = 5000};
  std::string why = "no server is running";
  bool may_have_ended = false;  // we asked for it, and got no answer
  const auto servers = impl_->running();
  // A server that did not answer may have ended the session all the same. The next server, or the first one in a second
  // round, then reports no_such_session, which means success.
  for (std::size_t i = 0; i < servers.size() || (may_have_ended && i < 2 * servers.size()); ++i) {
    try {
      detail::zk_client client(servers[i % servers.size()]->client_endpoint(), clock::now() + 5s, wanted,
                               impl_->own.secret());
      may_have_ended = true;
      return client.close();
    } catch (const detail::no_such_session&) {
      if (may_have_ended) return;
      throw;
    } catch (const error& failure) {
      why = failure.what();
    }
  }
  throw error("could not expire session " + detail::session_text(session_id) + ": " + why);
}

namespace {

/// ZooKeeper marks container nodes and nodes with a time to live by owners that are no sessions.
bool is_session(std::int64_t owner) {
  constexpr std::uint64_t container = 0x8000000000000000, ttl = 0xff;
  const auto bits = static_cast<std::uint64_t>(owner);
  return bits != 0 && bits != container && bits >> 56 != ttl;
}

}  // namespace

std::int64_t ensemble::expire_owner(const std::string& path) {
  if (!path.starts_with("/")) throw std::invalid_argument("path: '" + path + "' does not begin with a slash");
  std::string why = "no server is running";
  for (const auto* each : impl_->running()) {
    std::optional<std::int64_t> owner;
    try {
      detail::zk_client client(each->client_endpoint(), clock::now() + 5s, {.timeout_ms = 5000}, impl_->own.secret());
      client.sync(path);
      owner = client.owner_of(path);
      client.close();
    } catch (const error& failure) {
      why = failure.what();
      continue;
    }
    if (!owner) throw error("there is no node " + path);
    if (!is_session(*owner)) throw error(path + " is not ephemeral: no session owns it");
    expire(*owner);
    return *owner;
  }
  throw error("could not ask for the owner of " + path + ": " + why);
}

}  // namespace testcluster
