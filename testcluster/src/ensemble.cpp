#include <testcluster/ensemble.hpp>

#include "ensemble_impl.hpp"

namespace testcluster {

using detail::server;

ensemble::ensemble(const ensemble_options& options) : impl_(std::make_unique<impl>(options)) {}

ensemble::~ensemble() = default;

const std::string& ensemble::hosts() const { return impl_->hosts; }

const std::filesystem::path& ensemble::dir() const { return impl_->files.path(); }

const ensemble_options& ensemble::options() const { return impl_->options; }

const certificate_files& ensemble::client_certificate() const { return impl_->secured().client(); }

authority& ensemble::authority() { return impl_->secured().signer(); }

const std::filesystem::path& ensemble::superuser_file() const {
  if (impl_->own.file().empty())
    throw error(
        "this ensemble has no superuser; set ensemble_options::digest_superuser, or start it with: testcluster up "
        "--digest-superuser");
  return impl_->own.file();
}

const std::string& ensemble::credentials() const { return impl_->own.secret(); }

bool ensemble::peers_speak_tls() const { return impl_->peers_speak_tls(); }

detail::tls_folder& ensemble::impl::secured() {
  if (!tls) throw error("this ensemble has no TLS; set ensemble_options::tls, or start it with: testcluster up --tls");
  return *tls;
}

server& ensemble::impl::at(int id) {
  if (id < 1 || id > total()) {
    throw std::invalid_argument("there is no server " + std::to_string(id) + ": this ensemble has 1 to " +
                                std::to_string(total()));
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
    if (impl_->options.tls) node.secure = each->address(server::secure_port);
    node.client_port = each->client_endpoint().port();
    if (impl_->options.delay_proxies) node.proxy = impl_->proxies[node.id - 1]->address();
    if (impl_->options.admin_server) node.admin = each->address(3);
    node.role = each->role();
    node.running = each->current() != server::state::stopped;
    node.votes = impl_->votes(*each);
    node.pid = each->pid();
    node.log = each->log_file();
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
  target.start(impl_->keeper.group(), impl_->options);
  if (impl_->quorum()) impl_->wait_serving();
}

void ensemble::restart(int id) {
  if (impl_->at(id).current() != server::state::stopped) stop(id);
  start(id);
}

}  // namespace testcluster
