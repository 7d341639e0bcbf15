#include "exporter/metrics_server.hpp"

#include <string_view>

#include <boost/asio/ip/address.hpp>

#include <zkrecipes/service/metrics_page.hpp>

#include "base/failure.hpp"
#include "base/text.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;
using namespace zkrecipes::service;

http_server listen(const asio::any_io_executor& executor, const endpoint& where, http_handler handler) {
  boost::system::error_code error;
  asio::ip::make_address(where.host, error);
  if (error) throw failure(exit_code::usage, "listen: expected an IP address and a port, found " + where.name);
  constexpr http_limits limits{.connections = metrics_server::most_connections, .idle = metrics_server::longest_wait};
  try {
    return {executor, where.host, where.port, std::move(handler), limits};
  } catch (const boost::system::system_error& refusal) {
    throw failure(exit_code::error,
                  "listening at " + printable(where.name) + ": " + printable(refusal.code().message()));
  }
}

http_response answer_to(const http_request& request, const std::shared_ptr<const std::string>& metrics) {
  if (request.method != "GET") {
    auto refusal = http_response::text(405, "only GET\n");
    refusal.fields.emplace_back("Allow", "GET");
    return refusal;
  }
  if (request.target == "/metrics") return {200, metrics, metrics_page::content_type};
  if (request.target == "/") return http_response::text(200, "zkadmin exporter: the metrics are at /metrics\n");
  return http_response::text(404, "not found: the metrics are at /metrics\n");
}

}  // namespace

metrics_server::metrics_server(const asio::any_io_executor& executor, const endpoint& where)
    : host_(where.host), server_(listen(executor, where, [this](const http_request& to) { return answer(to); })) {}

endpoint metrics_server::where() const {
  const bool is_v6 = host_.find(':') != std::string::npos;
  return {host_, server_.port(), (is_v6 ? "[" + host_ + "]" : host_) + ":" + std::to_string(server_.port())};
}

asio::awaitable<http_response> metrics_server::answer(const http_request& to) const {
  auto response = answer_to(to, text_);
  response.closes = true;
  co_return response;
}

}  // namespace zkadmin
