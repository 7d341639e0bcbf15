// Requests to the exporter, over a real connection.
#include <string>

#include <boost/asio.hpp>

#include "exporter/metrics_server.hpp"
#include "fuzz/target.hpp"

namespace fuzz::exporter_request_target {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;

/// A server on this machine, for all inputs.
struct served {
  served()
      : server(std::make_shared<zkadmin::metrics_server>(io.get_executor(), zkadmin::endpoint{"127.0.0.1", 0, ""})) {
    server->set("metric 1\n");
    server->start();
  }
  asio::io_context io{1};
  std::shared_ptr<zkadmin::metrics_server> server;
};

std::string talk(served& by, std::string_view request) {
  tcp::socket client(by.io);
  bool is_connected = false;  // the alarm of libFuzzer would interrupt a call that blocks
  client.async_connect({asio::ip::make_address("127.0.0.1"), by.server->where().port},
                       [&](const auto& error) { is_connected = !error; });
  by.io.restart();
  while (!is_connected) by.io.run_one();
  boost::system::error_code ignored;
  asio::write(client, asio::buffer(request), ignored);
  client.shutdown(tcp::socket::shutdown_send, ignored);
  std::string answer;
  bool is_over = false;
  asio::async_read(client, asio::dynamic_buffer(answer), [&](const auto&, std::size_t) { is_over = true; });
  by.io.restart();
  while (!is_over) by.io.run_one();
  by.io.poll();
  return answer;
}

void ask(std::string_view input) {
  static served by;
  auto answer = talk(by, input);
  if (answer.empty()) return;  // the request was cut off
  constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
  if (answer.starts_with(go_on)) answer.erase(0, go_on.size());
  if (answer.empty()) return;  // its body was
  require(answer.starts_with("HTTP/1."), "an answer is one of HTTP");
  require(answer.find("\r\n\r\n") != answer.npos, "an answer has an end of its header");
  const bool is_metrics = answer.ends_with("metric 1\n");
  require(!is_metrics || answer.substr(8, 5) == " 200 ", "only a good request gets the metrics");
}

const target known("exporter_request", ask);

}  // namespace fuzz::exporter_request_target
