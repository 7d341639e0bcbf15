#include "support/cluster.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include "support/secure_servers.hpp"

namespace zkrecipes::test {

namespace asio = boost::asio;
using asio::ip::tcp;
using namespace std::chrono_literals;

namespace {

testcluster::ensemble_options shape() {
  testcluster::ensemble_options options;
  options.servers = server_count;
  options.tick_time = 250ms;
  options.sync_limit = 20;
  options.init_limit = 40;
  options.max_session_timeout = 60s;
  options.start_timeout = 120s;  // a busy machine
  options.delay_proxies = true;
  options.tls = secure_servers();
  return options;
}

struct addresses {
  addresses() {
    for (const auto& each : cluster().nodes()) {
      direct.push_back(each.address);
      proxies.push_back(each.proxy);
    }
  }
  std::vector<std::string> direct;
  std::vector<std::string> proxies;
};

const addresses& all_addresses() {
  static const addresses all;
  return all;
}

}  // namespace

bool secure_servers() {
  const char* how = std::getenv("ZKRECIPES_TEST_TLS");
  return how && std::string_view(how) == "servers";
}

testcluster::ensemble& cluster() {
  static testcluster::ensemble shared(shape());
  return shared;
}

const std::vector<std::string>& direct_hosts() { return all_addresses().direct; }
const std::vector<std::string>& proxy_hosts() { return all_addresses().proxies; }

std::string join_hosts(const std::vector<std::string>& hosts) {
  std::string all;
  for (const auto& each : hosts) all += (all.empty() ? "" : ",") + each;
  return all;
}

int server_at(const std::string& address) {
  for (int i = 0; i < server_count; ++i) {
    if (address == proxy_hosts()[i] || address == direct_hosts()[i]) return i + 1;
  }
  throw std::invalid_argument("no server at \"" + address + "\"");
}

std::string ask(int server, const std::string& word) {
  const std::string& host = direct_hosts()[server - 1];
  const auto colon = host.find(':');
  asio::io_context io;
  tcp::socket socket(io);
  socket.connect(
      {asio::ip::make_address(host.substr(0, colon)), static_cast<std::uint16_t>(std::stoi(host.substr(colon + 1)))});
  asio::write(socket, asio::buffer(word));
  std::string answer;
  boost::system::error_code end;
  asio::read(socket, asio::dynamic_buffer(answer), end);
  return answer;
}

long watches_on_servers() {
  static const std::string label = "Total watches:";
  long sum = 0;
  for (int id = 1; id <= server_count; ++id) {
    const std::string answer = ask(id, "wchs");
    const auto found = answer.find(label);
    if (found == answer.npos) throw std::runtime_error("server " + std::to_string(id) + " says to wchs: " + answer);
    sum += std::stol(answer.substr(found + label.size()));
  }
  return sum;
}

void heal_proxies() {
  for (int id = 1; id <= server_count; ++id) {
    auto& each = cluster().proxy(id);
    each.refuse(false);
    each.freeze(false);
    each.set_delay(0ms);
  }
}

}  // namespace zkrecipes::test
