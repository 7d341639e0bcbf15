#include <algorithm>
#include <functional>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>

#include <testcluster/ensemble.hpp>
#include <testcluster/module_ensemble.hpp>

#include "ensemble_impl.hpp"
#include "jute/messages.hpp"
#include "options.hpp"
#include "zk_client.hpp"

namespace testcluster {

namespace {

module_ensemble*& the_one() {
  static module_ensemble* one = nullptr;
  return one;
}

}  // namespace

module_ensemble::module_ensemble(ensemble_options options) : options_(std::move(options)) {
  if (the_one() != nullptr)
    throw std::logic_error("there is a testcluster::module_ensemble already: have one a program");
  the_one() = this;
}

module_ensemble::~module_ensemble() { the_one() = nullptr; }

module_ensemble& module_ensemble::current() {
  if (the_one() == nullptr) {
    throw std::logic_error(
        "this program has no testcluster::module_ensemble; derive one and name it in BOOST_TEST_GLOBAL_FIXTURE");
  }
  return *the_one();
}

ensemble& module_ensemble::get() {
  if (!cluster_) cluster_ = std::make_unique<ensemble>(options_);
  return *cluster_;
}

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

namespace {

std::string pair_of(int one, int other) { return "servers " + std::to_string(one) + " and " + std::to_string(other); }

}  // namespace

detail::peer_links& ensemble::impl::links_of(int one, int other) {
  at(one);
  at(other);
  if (one == other) throw std::invalid_argument(pair_of(one, other) + " are the same; name two");
  if (!links)
    throw error(
        "this ensemble has no proxies between its servers; set ensemble_options::peer_proxies, or start it "
        "with: testcluster up --proxies");
  return *links;
}

std::vector<proxy*> ensemble::impl::links_around(int id) {
  std::vector<testcluster::proxy*> all;
  for (const auto& each : servers) {
    if (each->id() == id) continue;
    for (auto* link : links_of(id, each->id()).between(id, each->id())) all.push_back(link);
  }
  return all;
}

proxy& ensemble::proxy(int id) {
  impl_->at(id);
  if (!impl_->options.delay_proxies)
    throw error(
        "this ensemble has no proxies; set ensemble_options::delay_proxies, or start it with: testcluster up "
        "--proxies");
  return *impl_->proxies[id - 1];
}

proxy& ensemble::peer_proxy(int from, int to, peer_port port) { return impl_->links_of(from, to).at(from, to, port); }

void ensemble::partition(int id) {
  impl_->at(id);
  if (impl_->servers.size() == 1) throw error("there is only one server: nothing to cut it off from");
  for (auto* link : impl_->links_around(id)) link->freeze(true);
}

void ensemble::partition(int one, int other) {
  for (auto* link : impl_->links_of(one, other).between(one, other)) link->freeze(true);
}

void ensemble::heal() {
  for (const auto& each : impl_->servers) heal(each->id());
}

void ensemble::heal(int id) {
  impl_->at(id);
  if (impl_->options.delay_proxies) impl_->proxies[id - 1]->heal();
  if (!impl_->links) return;
  for (auto* link : impl_->links_around(id)) link->heal();
}

std::vector<std::string> ensemble::impl::faults_of(int id) {
  std::vector<std::string> all;
  const auto add = [&all](const std::string& where, const testcluster::proxy& at) {
    for (const auto& fault : at.faults()) all.push_back(where + fault);
  };
  if (options.delay_proxies) add("clients: ", *proxies[id - 1]);
  for (const auto& each : servers) {
    if (!links || each->id() == id) continue;
    const auto to = "to server " + std::to_string(each->id());
    add(to + " (quorum): ", links->at(id, each->id(), peer_port::quorum));
    add(to + " (election): ", links->at(id, each->id(), peer_port::election));
  }
  return all;
}

namespace {

using namespace std::chrono_literals;
using detail::clock;

bool serves(const std::string& role) { return role != "looking" && role != "stopped" && role != "paused"; }

bool leads(const std::string& role) { return role == "leader" || role == "standalone"; }

// The node is ephemeral, so it is removed with the probe's session.
void write_through(const server& target, const std::string& secret) {
  detail::zk_client client(target.client_endpoint(), clock::now() + 2s, {.timeout_ms = 5000}, secret);
  client.create("/testcluster-probe-" + std::to_string(client.session().id), "", jute::ephemeral);
  client.close();
}

std::string last_lines(const std::string& text) {
  constexpr std::size_t most = 2000;
  if (text.size() <= most) return text;
  return text.substr(text.find('\n', text.size() - most) + 1);
}

std::string report(const server& each) {
  return "\n--- end of the log of server " + std::to_string(each.id()) + ":\n" + last_lines(each.log());
}

}  // namespace

std::string ensemble::impl::obstacle() {
  int leaders = 0;
  for (auto* each : running()) {
    const auto role = each->role();
    if (!serves(role)) return "server " + std::to_string(each->id()) + " is " + role;
    if (votes(*each) == (role == "observer"))
      return "server " + std::to_string(each->id()) + " is " + role + ", in spite of its configuration";
    leaders += leads(role);
  }
  if (leaders != 1) return "there are " + std::to_string(leaders) + " leaders";
  for (auto* each : running()) {
    try {
      write_through(*each, own.secret());
    } catch (const error& failure) {
      return "a write through server " + std::to_string(each->id()) + " failed: " + failure.what();
    }
  }
  return {};
}

void ensemble::impl::poll(const std::function<std::string()>& obstacle_now) {
  const auto expected = running();
  const auto deadline = clock::now() + options.start_timeout;
  while (true) {
    const auto missing = obstacle_now();
    if (missing.empty()) return;
    for (auto* each : expected) {
      if (each->current() != server::state::stopped) continue;
      throw error("server " + std::to_string(each->id()) + " ended while it was waited for" + report(*each));
    }
    if (clock::now() > deadline) {
      std::string logs;
      for (auto* each : expected) logs += report(*each);
      throw error("the servers are not ready after " + std::to_string(options.start_timeout.count()) +
                  " ms: " + missing + logs);
    }
    std::this_thread::sleep_for(20ms);  // polls, because a server tells nobody by itself that it is ready
  }
}

int ensemble::impl::running_voters() {
  const auto all = running();
  return static_cast<int>(std::count_if(all.begin(), all.end(), [this](auto* each) { return votes(*each); }));
}

bool ensemble::impl::quorum() { return running_voters() > options.servers / 2; }

void ensemble::impl::wait_serving() {
  if (!quorum()) {
    throw error("only " + std::to_string(running_voters()) + " of " + std::to_string(options.servers) +
                (options.observers == 0 ? " servers" : " voters") +
                " run, too few to serve; start or resume another one");
  }
  poll([this] { return obstacle(); });
}

int ensemble::leader() {
  int id = 0;
  impl_->poll([&] {
    std::set<int> leaders;
    for (auto* each : impl_->running()) {
      if (leads(each->role())) leaders.insert(each->id());
    }
    if (leaders.size() != 1) return "there are " + std::to_string(leaders.size()) + " leaders";
    id = *leaders.begin();
    return std::string{};
  });
  return id;
}

void ensemble::wait_serving() { impl_->wait_serving(); }

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

namespace {

const ensemble_options& validated(const ensemble_options& options) {
  detail::validate(options);
  return options;
}

}  // namespace

ensemble::impl::impl(const ensemble_options& given)
    : options(validated(given)),
      files(options.dir),
      own(options, files.path()),
      keeper(files.temporary() ? files.path() : std::filesystem::path{}) {
  constexpr int tries = 4;
  constexpr int step = 10;
  int attempt = 0;
  while (!start_all(static_cast<std::uint16_t>(options.base_port + step * attempt))) {
    proxies.clear();
    links.reset();
    servers.clear();
    hosts.clear();
    if (++attempt == tries) {
      throw error("port in use: another program listens on every address at ports " +
                  std::to_string(options.base_port) + " and up; choose another base port");
    }
  }
}

bool ensemble::impl::peers_speak_tls() const {
  const bool is_set = std::any_of(options.extra_config.begin(), options.extra_config.end(),
                                  [](const auto& line) { return line.substr(0, line.find('=')) == "sslQuorum"; });
  return options.tls && !options.peer_proxies && !is_set && total() > 1;
}

std::string ensemble::impl::make_reachable(detail::server& which) {
  auto at = which.address(options.tls ? detail::server::secure_port : 0);
  const auto protocol = options.tls ? proxy_protocol::opaque : proxy_protocol::client;
  if (options.delay_proxies) {
    proxies.push_back(std::make_unique<testcluster::proxy>(at, proxy_options{options.delay, protocol}));
    at = proxies.back()->address();
  }
  if (!tls) return at;
  const auto address_of = [](const std::string& text) { return text.substr(0, text.find(':')); };
  const auto shown =
      tls->signer().issue({.name = "server." + std::to_string(which.id()),
                           .hosts = {address_of(which.address(0)), address_of(at), "localhost", "127.0.0.1"}});
  which.secure(shown, tls->signer().certificate(), peers_speak_tls());
  return at;
}

bool ensemble::impl::start_all(std::uint16_t base_port) {
  for (int id = 1; id <= total(); ++id) {
    servers.push_back(std::make_unique<detail::server>(id, files.path() / ("server." + std::to_string(id)), base_port));
  }
  if (options.peer_proxies) links.emplace(servers);
  if (options.tls && !tls) tls.emplace(files.path() / "tls");
  for (const auto& each : servers) hosts += (hosts.empty() ? "" : ",") + make_reachable(*each);
  for (const auto& each : servers) each->configure(options, own.lines() + members(*each));
  for (const auto& each : servers) each->start(keeper.group(), options);
  try {
    poll([this] {
      auto missing = obstacle();
      if (!missing.empty() && port_taken()) throw error("port in use");
      return missing;
    });
    return true;
  } catch (const error&) {
    if (port_taken()) return false;
    throw;
  }
}

std::string ensemble::impl::members(const detail::server& viewer) {
  std::string lines;
  if (servers.size() == 1) return lines;
  // A single voter would run standalone, where observers find no leader.
  if (options.servers == 1) lines += "standaloneEnabled=false\n";
  if (!votes(viewer)) lines += "peerType=observer\n";
  for (const auto& each : servers) {
    const bool direct = !links || each->id() == viewer.id();
    lines += "server." + std::to_string(each->id()) + "=" +
             (direct ? each->quorum_address() : links->quorum_address(viewer.id(), each->id())) +
             (votes(*each) ? "\n" : ":observer\n");
  }
  return lines;
}

// Reads the logs, because a server does not always end when a port is taken: if it can not listen to followers, it
// stays in leader election without success.
bool ensemble::impl::port_taken() const {
  return std::any_of(servers.begin(), servers.end(),
                     [](const auto& each) { return each->log().find("BindException") != std::string::npos; });
}

}  // namespace testcluster
