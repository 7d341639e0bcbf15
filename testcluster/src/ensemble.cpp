#include <testcluster/ensemble.hpp>

#include "ensemble_impl.hpp"
#include "jute/messages.hpp"
#include "no_such_session.hpp"
#include "zk_client.hpp"

namespace testcluster {

using namespace std::chrono_literals;
using detail::clock;
using detail::server;

ensemble::ensemble(const ensemble_options& options) : impl_(std::make_unique<impl>(options)) {}

ensemble::~ensemble() = default;

const std::string& ensemble::hosts() const { return impl_->hosts; }

const std::filesystem::path& ensemble::dir() const { return impl_->files.path(); }

server& ensemble::impl::at(int id) {
  if (id < 1 || id > options.servers) {
    throw std::invalid_argument("there is no server " + std::to_string(id) + ": this ensemble has 1 to " +
                                std::to_string(options.servers));
  }
  return *servers[id - 1];
}

server& ensemble::impl::running(int id) {
  auto& found = at(id);
  if (found.current() == server::state::stopped) throw error("server " + std::to_string(id) + " is not running");
  return found;
}

std::vector<server*> ensemble::impl::running() {
  std::vector<server*> found;
  for (const auto& each : servers) {
    if (each->current() == server::state::running) found.push_back(each.get());
  }
  return found;
}

std::vector<node_info> ensemble::nodes() {
  std::vector<node_info> all;
  for (const auto& each : impl_->servers) {
    node_info node;
    node.id = each->id();
    node.address = each->address(0);
    node.client_port = each->client_endpoint().port();
    if (impl_->options.delay_proxies) node.proxy = impl_->proxies[node.id - 1]->address();
    if (impl_->options.admin_server) node.admin = each->address(3);
    node.role = each->role();
    node.running = each->current() != server::state::stopped;
    node.pid = each->pid();
    node.faults = impl_->faults_of(node.id);
    all.push_back(node);
  }
  return all;
}

void ensemble::kill(int id) { impl_->running(id).kill(); }

void ensemble::stop(int id) { impl_->running(id).stop(impl_->options.start_timeout); }

void ensemble::pause(int id) { impl_->running(id).pause(); }

void ensemble::resume(int id) {
  auto& target = impl_->running(id);
  if (target.current() != server::state::paused) throw error("server " + std::to_string(id) + " is not paused");
  target.resume();
}

void ensemble::start(int id) {
  auto& target = impl_->at(id);
  if (target.current() != server::state::stopped) throw error("server " + std::to_string(id) + " runs already");
  target.start(impl_->keeper.group());
  if (impl_->quorum()) impl_->wait_serving();
}

void ensemble::restart(int id) {
  if (impl_->at(id).current() != server::state::stopped) stop(id);
  start(id);
}

void ensemble::expire(std::int64_t session_id) {
  const jute::session wanted{.id = session_id, .password = jute::password_of(session_id), .timeout_ms = 5000};
  std::string why = "no server is running";
  bool may_have_ended = false;  // we asked for it, and got no answer
  const auto servers = impl_->running();
  // A server that did not answer may have ended the session all the same. The next server, or the first one in a second
  // round, then reports no_such_session, which means success.
  for (std::size_t i = 0; i < servers.size() || (may_have_ended && i < 2 * servers.size()); ++i) {
    try {
      detail::zk_client client(servers[i % servers.size()]->client_endpoint(), clock::now() + 5s, wanted);
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

}  // namespace testcluster
