#include "endpoints.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include <boost/json.hpp>

namespace zkrecipes::service {

namespace {

constexpr std::size_t longest_name = 200;  // with the prefix below the 256 bytes of a producer's name
constexpr std::size_t longest_key = 1'000;

http_response line(unsigned code, std::string text) { return http_response::text(code, std::move(text) + "\n"); }

http_response object(unsigned code, const boost::json::object& body) {
  auto response = line(code, boost::json::serialize(body));
  response.type = "application/json";
  return response;
}

http_response problem(unsigned code, std::string reason) { return object(code, {{"error", std::move(reason)}}); }

http_response only(const char* methods) {
  auto refusal = problem(405, std::string("only ") + methods);
  refusal.fields.emplace_back("Allow", methods);
  return refusal;
}

http_response later(std::string reason) {
  auto response = problem(503, std::move(reason));
  response.fields.emplace_back("Retry-After", "1");
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
  into.key = request.field("message-key");
  into.producer = request.field("producer-name");
  into.data = request.body;
  if (mode == work_mode::single && !into.key.empty()) return "Message-Key is for topics: remove it";
  if (mode == work_mode::shards && into.key.empty()) return "Message-Key is missing: it decides about the shard";
  if (into.key.size() > longest_key) return "Message-Key is longer than 1000 bytes";
  if (!is_name(into.producer)) return "Producer-Name has to be up to 200 visible ASCII characters without a slash";
  const auto number = number_of(request.field("producer-number"));
  if (into.producer.empty() != request.field("producer-number").empty() || (!into.producer.empty() && !number))
    return "Producer-Name and Producer-Number, 1 or more, belong together";
  into.number = number.value_or(0);
  if (!into.producer.empty()) into.producer.insert(0, "client-");  // apart from the producers of the replicas
  return {};
}

http_response response_to(taken&& result) {
  switch (result.what) {
    case taken::kind::put: return object(201, {{"number", result.number}});
    case taken::kind::already: return object(200, {{"number", result.number}});
    case taken::kind::gap: return object(409, {{"error", result.reason}, {"next", result.number + 1}});
    case taken::kind::too_large: return problem(413, std::move(result.reason));
    case taken::kind::failed: return problem(500, std::move(result.reason));
    case taken::kind::later: break;
  }
  return later(std::move(result.reason));
}

}  // namespace

endpoints::endpoints(work_mode mode, intake& messages, std::function<readiness()> state, page_function metrics)
    : mode_(mode), intake_(messages), state_(std::move(state)), metrics_(std::move(metrics)) {}

boost::asio::awaitable<http_response> endpoints::answer(const http_request& request) {
  auto response = co_await route(request);
  ++answers_[response.status];
  co_return response;
}

boost::asio::awaitable<http_response> endpoints::route(const http_request& request) {
  if (request.target == "/messages") {
    if (request.method != "POST") co_return only("POST");
    co_return co_await post_message(request);
  }
  co_return probe(request);
}

http_response endpoints::probe(const http_request& request) {
  const auto& target = request.target;
  if (target != "/healthz" && target != "/readyz" && target != "/metrics")
    return problem(404, "there are /healthz, /readyz, /metrics and /messages");
  if (request.method != "GET" && request.method != "HEAD") return only("GET, HEAD");
  if (target == "/metrics") return metrics();
  const auto now = state_();
  if (target == "/readyz") return line(now.ready ? 200 : 503, now.text);
  return line(now.alive ? 200 : 500, now.alive ? "alive" : now.text);
}

boost::asio::awaitable<http_response> endpoints::post_message(const http_request& request) {
  incoming message;
  if (auto mistake = read_message(request, mode_, message); !mistake.empty())
    co_return problem(400, std::move(mistake));
  if (const auto now = state_(); !now.accepts) co_return later(now.text);
  co_return response_to(co_await intake_.take(std::move(message)));
}

http_response endpoints::metrics() {
  metrics_page page;
  metrics_(page);
  for (const auto& [code, count] : answers_)
    page.counter("service_http_answers_total", "Answers over HTTP, by code.", count, {{"code", std::to_string(code)}});
  auto response = http_response::text(200, page.text());
  response.type = metrics_page::content_type;
  return response;
}

}  // namespace zkrecipes::service
