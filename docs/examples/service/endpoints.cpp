#include "endpoints.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include <boost/beast/http/field.hpp>
#include <boost/beast/http/status.hpp>
#include <boost/beast/http/verb.hpp>
#include <boost/json.hpp>

namespace service {

namespace http = boost::beast::http;
using http::status;

namespace {

constexpr std::size_t longest_name = 200;  // with the prefix below the 256 bytes of a producer's name
constexpr std::size_t longest_key = 1'000;

http_response text(status code, std::string body) {
  http_response response(code, 11);
  response.set(http::field::content_type, "text/plain; charset=utf-8");
  response.body() = std::move(body) + "\n";
  return response;
}

http_response object(status code, const boost::json::object& body) {
  auto response = text(code, boost::json::serialize(body));
  response.set(http::field::content_type, "application/json");
  return response;
}

http_response problem(status code, std::string reason) { return object(code, {{"error", std::move(reason)}}); }

http_response only(const char* methods) {
  auto refusal = problem(status::method_not_allowed, std::string("only ") + methods);
  refusal.set(http::field::allow, methods);
  return refusal;
}

http_response later(std::string reason) {
  auto response = problem(status::service_unavailable, std::move(reason));
  response.set(http::field::retry_after, "1");
  return response;
}

bool is_name(std::string_view text) {
  return text.size() <= longest_name && std::all_of(text.begin(), text.end(), [](unsigned char each) {
           return each > 0x20 && each < 0x7f && each != '/';
         });
}

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number == 0) return std::nullopt;
  return number;
}

/// Returns why the request is not a message.
std::string read_message(const http_request& request, work_mode mode, incoming& into) {
  into.key = request["Message-Key"];
  into.producer = request["Producer-Name"];
  into.data = request.body();
  if (mode == work_mode::single && !into.key.empty()) return "Message-Key is for topics: remove it";
  if (mode == work_mode::shards && into.key.empty()) return "Message-Key is missing: it decides about the shard";
  if (into.key.size() > longest_key) return "Message-Key is longer than 1000 bytes";
  if (!is_name(into.producer)) return "Producer-Name has to be up to 200 visible ASCII characters without a slash";
  const auto number = number_of(request["Producer-Number"]);
  if (into.producer.empty() != request["Producer-Number"].empty() || (!into.producer.empty() && !number))
    return "Producer-Name and Producer-Number, 1 or more, belong together";
  into.number = number.value_or(0);
  if (!into.producer.empty()) into.producer.insert(0, "client-");  // apart from the producers of the replicas
  return {};
}

http_response tell(taken&& result) {
  switch (result.what) {
    case taken::kind::put: return object(status::created, {{"number", result.number}});
    case taken::kind::already: return object(status::ok, {{"number", result.number}});
    case taken::kind::gap: return object(status::conflict, {{"error", result.reason}, {"next", result.number + 1}});
    case taken::kind::too_large: return problem(status::payload_too_large, std::move(result.reason));
    case taken::kind::failed: return problem(status::internal_server_error, std::move(result.reason));
    case taken::kind::later: break;
  }
  return later(std::move(result.reason));
}

}  // namespace

endpoints::endpoints(work_mode mode, intake& messages, std::function<readiness()> state, page_function metrics)
    : mode_(mode), intake_(messages), state_(std::move(state)), metrics_(std::move(metrics)) {}

boost::asio::awaitable<http_response> endpoints::answer(const http_request& request) {
  auto response = co_await route(request);
  ++answers_[response.result_int()];
  co_return response;
}

boost::asio::awaitable<http_response> endpoints::route(const http_request& request) {
  if (request.target() == "/messages") {
    if (request.method() != http::verb::post) co_return only("POST");
    co_return co_await post_message(request);
  }
  co_return probe(request);
}

http_response endpoints::probe(const http_request& request) {
  const auto target = request.target();
  if (target != "/healthz" && target != "/readyz" && target != "/metrics")
    return problem(status::not_found, "there are /healthz, /readyz, /metrics and /messages");
  if (request.method() != http::verb::get && request.method() != http::verb::head) return only("GET, HEAD");
  if (target == "/metrics") return metrics();
  const auto now = state_();
  if (target == "/readyz") return text(now.ready ? status::ok : status::service_unavailable, now.text);
  return text(now.alive ? status::ok : status::internal_server_error, now.alive ? "alive" : now.text);
}

boost::asio::awaitable<http_response> endpoints::post_message(const http_request& request) {
  incoming message;
  if (auto mistake = read_message(request, mode_, message); !mistake.empty())
    co_return problem(status::bad_request, std::move(mistake));
  if (const auto now = state_(); !now.accepts) co_return later(now.text);
  co_return tell(co_await intake_.take(std::move(message)));
}

http_response endpoints::metrics() {
  metrics_page page;
  metrics_(page);
  for (const auto& [code, count] : answers_)
    page.counter("service_http_answers_total", "Answers over HTTP, by code.", count, {{"code", std::to_string(code)}});
  http_response response(status::ok, 11);
  response.set(http::field::content_type, "text/plain; version=0.0.4; charset=utf-8");
  response.body() = page.text();
  return response;
}

}  // namespace service
