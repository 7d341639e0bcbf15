#include <algorithm>
#include <set>
#include <thread>

#include "ensemble_impl.hpp"
#include "jute/messages.hpp"
#include "zk_client.hpp"

namespace testcluster {
namespace {

using namespace std::chrono_literals;
using detail::clock;
using detail::server;

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

}  // namespace testcluster
