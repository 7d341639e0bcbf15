// The HTTP server of the part service and what it answers.
#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/completion_condition.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <boost/test/unit_test.hpp>

#include "service/endpoints.hpp"

using namespace zkrecipes::service;
using namespace std::chrono_literals;
using namespace std::string_view_literals;
namespace asio = boost::asio;
namespace http = boost::beast::http;

namespace {

/// Puts everything at once.
class ready_outlet : public outlet {
 public:
  explicit ready_outlet(std::uint64_t& last) : last_(last) {}

  asio::awaitable<result> put(std::string, std::string data) override {
    if (data == "forbidden") co_return result(zkrecipes::errc::no_auth, 0);
    co_return result(zkrecipes::error_code(), ++last_);
  }
  asio::awaitable<result> last(asio::cancellation_slot) override { co_return result(zkrecipes::error_code(), last_); }

 private:
  std::uint64_t& last_;
};

using question = http::request<http::string_body>;
using answer = http::response<http::string_body>;

struct served {
  explicit served(work_mode mode = work_mode::single, intake_options limits = {})
      : messages(
            io.get_executor(), "own",
            [this](const std::string& name) { return std::make_unique<ready_outlet>(last[name]); }, limits),
        pages(
            mode, messages, [this] { return now; }, [](metrics_page& page) { page.counter("a_total", "Of a.", 1); }) {
    server.start();
  }

  answer ask(http::verb verb, const std::string& target, const std::string& body = "",
             const std::vector<std::pair<std::string, std::string>>& headers = {}) {
    question request(verb, target, 11);
    for (const auto& [name, text] : headers) request.set(name, text);
    request.body() = body;
    request.prepare_payload();
    return ask(std::move(request));
  }
  answer ask(question request) {
    answer response;
    bool done = false;
    asio::co_spawn(io, exchange(std::move(request), response), [&done](std::exception_ptr failure) {
      if (failure) std::rethrow_exception(failure);
      done = true;
    });
    while (!done) io.run_one();
    return response;
  }
  asio::awaitable<void> exchange(question request, answer& response) {
    if (!client.is_open())
      co_await client.async_connect(asio::ip::tcp::endpoint(asio::ip::make_address("127.0.0.1"), server.port()),
                                    asio::use_awaitable);
    co_await http::async_write(client, request, asio::use_awaitable);
    co_await http::async_read(client, buffer, response, asio::use_awaitable);
  }
  unsigned code(http::verb verb, const std::string& target) { return ask(verb, target).result_int(); }

  asio::io_context io{1};
  readiness now{true, true, true, "leader"};
  std::map<std::string, std::uint64_t> last;
  intake messages;
  endpoints pages;
  http_server server{io.get_executor(),
                     "127.0.0.1",
                     0,
                     [this](const http_request& request) { return pages.answer(request); },
                     {.body = 1'000}};
  asio::ip::tcp::socket client{io};
  boost::beast::flat_buffer buffer;
};

struct full : served {
  full() : served(work_mode::single, {.pending = 0}) {}
};

struct shards : served {
  shards() : served(work_mode::shards) {}
};

/// The process gets no further descriptor while it exists.
class no_descriptors {
 public:
  no_descriptors() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    ::rlimit low = before_;
    low.rlim_cur = std::min<::rlim_t>(before_.rlim_cur, 256);
    ::setrlimit(RLIMIT_NOFILE, &low);
    for (int one = 0; (one = ::open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0;) taken_.push_back(one);
  }
  ~no_descriptors() {
    for (const int each : taken_) ::close(each);
    ::setrlimit(RLIMIT_NOFILE, &before_);
  }
  no_descriptors(const no_descriptors&) = delete;
  no_descriptors& operator=(const no_descriptors&) = delete;

 private:
  ::rlimit before_{};
  std::vector<int> taken_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(service_http)

BOOST_FIXTURE_TEST_CASE(probes_tell_the_state, served) {
  BOOST_TEST(code(http::verb::get, "/healthz") == 200);
  BOOST_TEST(ask(http::verb::get, "/readyz").body() == "leader\n");
  now = {false, false, false, "closed"};
  BOOST_TEST(code(http::verb::get, "/healthz") == 500);
  BOOST_TEST(code(http::verb::get, "/readyz") == 503);
  BOOST_TEST(code(http::verb::get, "/else") == 404);
  BOOST_TEST(code(http::verb::get, "/metrics?of=all") == 200);
}

BOOST_FIXTURE_TEST_CASE(probes_are_read_only, served) {
  for (const char* target : {"/healthz", "/readyz", "/metrics"}) {
    const auto refusal = ask(http::verb::post, target, "tea");
    BOOST_TEST(refusal.result_int() == 405U);
    BOOST_TEST(refusal[http::field::allow] == "GET, HEAD");
  }
}

BOOST_FIXTURE_TEST_CASE(the_answer_to_head_has_a_length_and_no_body, served) {
  const auto ask_twice = [this]() -> asio::awaitable<std::string> {
    co_await client.async_connect(asio::ip::tcp::endpoint(asio::ip::make_address("127.0.0.1"), server.port()),
                                  asio::use_awaitable);
    const std::string both = "HEAD /readyz HTTP/1.1\r\n\r\nGET /else HTTP/1.1\r\nConnection: close\r\n\r\n";
    co_await asio::async_write(client, asio::buffer(both), asio::use_awaitable);
    std::string all;
    auto token = asio::as_tuple(asio::use_awaitable);  // it ends with eof
    co_await asio::async_read(client, asio::dynamic_buffer(all), token);
    co_return all;
  };
  std::string all;
  asio::co_spawn(io, ask_twice(), [&all](std::exception_ptr, std::string found) { all = std::move(found); });
  while (all.empty()) io.run_one();
  BOOST_TEST(all.find("Content-Length: 7\r\n\r\nHTTP/1.1 404") != std::string::npos, all);
}

/// It would take the end of the connection for that of the answer.
BOOST_FIXTURE_TEST_CASE(a_client_of_http_1_0_is_told_that_the_connection_stays, served) {
  question request(http::verb::get, "/healthz", 10);
  request.keep_alive(true);
  for (int i = 0; i < 2; ++i) {
    const auto response = ask(request);
    BOOST_TEST(response.version() == 10U);
    BOOST_TEST(response[http::field::connection] == "keep-alive");
  }
}

BOOST_FIXTURE_TEST_CASE(metrics_count_the_answers, served) {
  BOOST_TEST(code(http::verb::get, "/healthz") == 200);
  const auto page = ask(http::verb::get, "/metrics");
  BOOST_TEST(page[http::field::content_type] == "text/plain; version=0.0.4; charset=utf-8");
  BOOST_TEST(page.body().find("a_total 1\n") != std::string::npos);
  BOOST_TEST(page.body().find("service_http_answers_total{code=\"200\"} 1\n") != std::string::npos);
}

BOOST_FIXTURE_TEST_CASE(a_message_is_put, served) {
  const auto first = ask(http::verb::post, "/messages", "tea");
  BOOST_TEST(first.result_int() == 201U);
  BOOST_TEST(first.body() == "{\"number\":1}\n");
  const std::vector<std::pair<std::string, std::string>> named{{"Producer-Name", "till"}, {"Producer-Number", "1"}};
  BOOST_TEST(ask(http::verb::post, "/messages", "tea", named).result_int() == 201U);
  BOOST_TEST(ask(http::verb::post, "/messages", "tea", named).result_int() == 200U);
  const auto gap = ask(http::verb::post, "/messages", "tea", {{"Producer-Name", "till"}, {"Producer-Number", "9"}});
  BOOST_TEST(gap.result_int() == 409U);
  BOOST_TEST(gap.body().find("\"next\":2") != std::string::npos);
}

BOOST_FIXTURE_TEST_CASE(who_comes_when_too_many_messages_are_under_way_is_told_when_to_come_again, full) {
  const auto refusal = ask(http::verb::post, "/messages", "tea");
  BOOST_TEST(refusal.result_int() == 503U);
  BOOST_TEST(refusal[http::field::retry_after] == "1");
  BOOST_TEST(refusal.body() == "{\"error\":\"too many messages are under way\"}\n");
}

BOOST_FIXTURE_TEST_CASE(a_malformed_message_is_refused, served) {
  const auto refused = [this](std::vector<std::pair<std::string, std::string>> headers) {
    return ask(http::verb::post, "/messages", "tea", headers).result_int() == 400U;
  };
  BOOST_TEST(refused({{"Message-Key", "smith"}}));
  BOOST_TEST(refused({{"Producer-Name", "till"}}));
  BOOST_TEST(refused({{"Producer-Number", "1"}}));
  BOOST_TEST(refused({{"Producer-Name", "till"}, {"Producer-Number", "0"}}));
  BOOST_TEST(refused({{"Producer-Name", "till"}, {"Producer-Number", "1x"}}));
  BOOST_TEST(refused({{"Producer-Name", "a/b"}, {"Producer-Number", "1"}}));
  BOOST_TEST(refused({{"Producer-Name", std::string(201, 'a')}, {"Producer-Number", "1"}}));
  BOOST_TEST(code(http::verb::get, "/messages") == 405);
}

BOOST_FIXTURE_TEST_CASE(a_topic_needs_a_key, shards) {
  BOOST_TEST(ask(http::verb::post, "/messages", "tea").result_int() == 400U);
  BOOST_TEST(ask(http::verb::post, "/messages", "tea", {{"Message-Key", "smith"}}).result_int() == 201U);
}

BOOST_FIXTURE_TEST_CASE(without_a_connection_a_client_comes_again, served) {
  now.accepts = false;
  now.text = "suspended";
  const auto later = ask(http::verb::post, "/messages", "tea");
  BOOST_TEST(later.result_int() == 503U);
  BOOST_TEST(later[http::field::retry_after] == "1");
  BOOST_TEST(later.body() == "{\"error\":\"suspended\"}\n");
}

BOOST_FIXTURE_TEST_CASE(a_client_does_not_come_again_for_what_only_an_operator_can_mend, served) {
  const auto refusal = ask(http::verb::post, "/messages", "forbidden");
  BOOST_TEST(refusal.result_int() == 500U);
  BOOST_TEST(refusal[http::field::retry_after].empty());
  BOOST_TEST(refusal.body().starts_with("{\"error\":\""));
}

BOOST_FIXTURE_TEST_CASE(a_long_message_is_refused, served) {
  BOOST_TEST(ask(http::verb::post, "/messages", std::string(1'001, 'a')).result_int() == 413U);
}

BOOST_FIXTURE_TEST_CASE(a_client_that_asks_whether_to_send_its_message_is_told, served) {
  const auto told = [this](const std::string& version) {
    asio::ip::tcp::socket made(io);
    made.connect({asio::ip::make_address("127.0.0.1"), server.port()});
    const auto header = "POST /messages HTTP/" + version + "\r\nContent-Length: 3\r\nExpect: 100-Continue\r\n\r\n";
    asio::write(made, asio::buffer(header));
    if (version == "1.0") asio::write(made, asio::buffer("tea"sv));
    std::string line;
    bool is_told = false;
    asio::async_read_until(made, asio::dynamic_buffer(line), "\r\n", [&](auto, std::size_t) { is_told = true; });
    while (!is_told) io.run_one();
    return line.substr(0, line.find('\r'));
  };
  BOOST_TEST(told("1.1") == "HTTP/1.1 100 Continue");
  BOOST_TEST(told("1.0") == "HTTP/1.0 201 Created");  // it would take 100 for its answer
}

BOOST_FIXTURE_TEST_CASE(a_query_stands_beside_the_path, served) {
  http_request seen;
  http_server asked(io.get_executor(), "127.0.0.1", 0,
                    [&](const http_request& request) -> asio::awaitable<http_response> {
                      seen = request;
                      co_return http_response::text(200, "so\n");
                    });
  asked.start();
  client.connect({asio::ip::make_address("127.0.0.1"), asked.port()});
  BOOST_TEST(code(http::verb::get, "/a/b?c=d?e") == 200);
  BOOST_TEST(seen.target == "/a/b");
  BOOST_TEST(seen.query == "c=d?e");
}

// Not closed without a word: a proxy in between would take that for a service that is down.
BOOST_FIXTURE_TEST_CASE(garbage_and_long_headers_are_answered, served) {
  const auto told = [this](std::string_view words) {
    asio::ip::tcp::socket made(io);
    made.connect({asio::ip::make_address("127.0.0.1"), server.port()});
    asio::write(made, asio::buffer(words));
    std::string all;
    bool is_over = false;
    asio::async_read(made, asio::dynamic_buffer(all), [&](auto error, std::size_t) {
      BOOST_TEST(error == asio::error::eof);
      is_over = true;
    });
    while (!is_over) io.run_one();
    return all;
  };
  BOOST_TEST(told("no http at all\r\n\r\n").starts_with("HTTP/1.1 400 "));
  BOOST_TEST(told("GET / HTTP/1.1\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n").starts_with("HTTP/1.1 431 "));
  const auto endless = "POST /messages HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;" + std::string(100'000, 'x');
  BOOST_TEST(told(endless).starts_with("HTTP/1.1 431 "));
  BOOST_TEST(code(http::verb::get, "/healthz") == 200);
}

BOOST_FIXTURE_TEST_CASE(a_port_that_is_taken_is_named, served) {
  const auto port = server.port();
  const auto is_told = [&](const std::runtime_error& failure) {
    return std::string(failure.what()).find("127.0.0.1, port " + std::to_string(port)) != std::string::npos;
  };
  BOOST_CHECK_EXCEPTION(http_server(io.get_executor(), "127.0.0.1", port, {}), std::runtime_error, is_told);
}

BOOST_FIXTURE_TEST_CASE(the_server_closes_idle_connections_and_ends, served) {
  BOOST_TEST(code(http::verb::get, "/healthz") == 200);
  bool done = false;
  asio::co_spawn(io, server.close(), [&done](std::exception_ptr) { done = true; });
  while (!done) io.run_one();
  boost::system::error_code error;
  char byte = 0;
  client.read_some(asio::buffer(&byte, 1), error);
  BOOST_TEST(error == asio::error::eof);
}

BOOST_AUTO_TEST_CASE(a_client_that_does_not_read_does_not_keep_the_server_from_closing) {
  asio::io_context io(1);
  bool asked = false;
  const auto answer = [&asked](const http_request&) -> asio::awaitable<http_response> {
    asked = true;
    co_return http_response::text(200, std::string(50'000'000, 'a'));  // more than the buffers of both sockets
  };
  http_server server(io.get_executor(), "127.0.0.1", 0, answer, {.idle = 1h, .last_write = 20ms});
  server.start();
  asio::ip::tcp::socket client(io);
  client.connect({asio::ip::make_address("127.0.0.1"), server.port()});
  asio::write(client, asio::buffer("GET / HTTP/1.1\r\n\r\n", 18));
  while (!asked) io.run_one();
  bool done = false;
  asio::co_spawn(io, server.close(), [&done](std::exception_ptr) { done = true; });
  io.run_for(60s);
  BOOST_TEST(done);
}

BOOST_FIXTURE_TEST_CASE(an_exception_is_not_told_to_strangers, served) {
  http_server failing(io.get_executor(), "127.0.0.1", 0, [](const http_request&) -> asio::awaitable<http_response> {
    throw std::runtime_error("the password is sesame");
    co_return http_response();
  });
  failing.start();
  client.connect({asio::ip::make_address("127.0.0.1"), failing.port()});
  const auto answer = ask(http::verb::get, "/healthz");
  BOOST_TEST(answer.result_int() == 500U);
  BOOST_TEST(answer.body() == "internal error\n");
}

BOOST_FIXTURE_TEST_CASE(what_is_no_answer_becomes_500, served) {
  http_server wrong(io.get_executor(), "127.0.0.1", 0, [](const http_request&) -> asio::awaitable<http_response> {
    co_return http_response::text(204, "no content, and content");
  });
  wrong.start();
  client.connect({asio::ip::make_address("127.0.0.1"), wrong.port()});
  BOOST_TEST(ask(http::verb::get, "/").result_int() == 500U);
}

BOOST_AUTO_TEST_CASE(who_says_nothing_keeps_nobody_out) {
  asio::io_context io(1);
  std::size_t asked = 0;
  asio::steady_timer never(io, asio::steady_timer::time_point::max());
  const auto answer = [&](const http_request& request) -> asio::awaitable<http_response> {
    if (request.target == "/probe") co_return http_response();
    ++asked;
    co_await never.async_wait(asio::as_tuple(asio::use_awaitable));
    co_return http_response();
  };
  http_server server(io.get_executor(), "127.0.0.1", 0, answer, {.connections = 4, .idle = 1h});
  server.start();
  const auto connect = [&](std::string_view words) {
    asio::ip::tcp::socket made(io);
    made.connect({asio::ip::make_address("127.0.0.1"), server.port()});
    asio::write(made, asio::buffer(words));
    return made;
  };
  auto message = connect("POST /message HTTP/1.1\r\nContent-Length: 0\r\n\r\n");
  while (asked < 1) io.run_one();
  // Accepted in this order.
  auto first = connect(""), second = connect("GET"),
       third = connect("POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nhalf");
  auto probe = connect("GET /probe HTTP/1.1\r\n\r\n");
  std::array<char, 4> begin{};
  std::size_t read = 0;
  asio::async_read(probe, asio::buffer(begin), [&](auto, std::size_t size) { read = size; });
  boost::system::error_code end;
  char byte = 0;
  bool has_ended = false;
  first.async_read_some(asio::buffer(&byte, 1), [&](auto error, std::size_t) { end = error, has_ended = true; });
  while (read == 0 || !has_ended) io.run_one();
  BOOST_TEST(std::string(begin.data(), read) == "HTTP");
  BOOST_TEST(end == asio::error::eof, "the oldest has gone");
  for (auto* each : {&message, &second, &third}) {
    each->non_blocking(true);
    each->read_some(asio::buffer(&byte, 1), end);
    BOOST_TEST(end == asio::error::would_block, "the others stand");
  }
  never.cancel();
  bool done = false;
  asio::co_spawn(io, server.close(), [&done](std::exception_ptr) { done = true; });
  while (!done) io.run_one();
}

BOOST_AUTO_TEST_CASE(bodies_that_are_not_complete_take_no_more_memory_than_there_is) {
  asio::io_context io(1);
  std::size_t asked = 0;
  asio::steady_timer held(io, asio::steady_timer::time_point::max());
  const auto answer = [&](const http_request&) -> asio::awaitable<http_response> {
    if (++asked <= 3) co_await held.async_wait(asio::as_tuple(asio::use_awaitable));
    co_return http_response{201};
  };
  http_server server(io.get_executor(), "127.0.0.1", 0, answer, {.bodies = 1'000, .idle = 1h});
  server.start();
  const std::string head = "POST / HTTP/1.1\r\nContent-Length: 300\r\n\r\n", body(300, 'x');
  const auto connect = [&](const std::string& words) {
    asio::ip::tcp::socket made(io);
    made.connect({asio::ip::make_address("127.0.0.1"), server.port()});
    asio::write(made, asio::buffer(words));
    return made;
  };
  const auto first_line = [&](asio::ip::tcp::socket& of) {
    std::string line(12, ' ');
    bool is_there = false;
    asio::async_read(of, asio::buffer(line),
                     [&](auto error, std::size_t) { is_there = true, line = error ? "" : line; });
    while (!is_there) io.run_one();
    return line;
  };
  auto slow = connect(head);
  auto slower = connect(head), slowest = connect(head + "x");
  auto good = connect(head + body);
  while (asked < 1) io.run_one();
  BOOST_TEST(first_line(slow) == "", "the oldest has gone");
  asio::write(slower, asio::buffer(body));
  asio::write(slowest, asio::buffer(body));
  while (asked < 3) io.run_one();
  auto fourth = connect(head + body);
  BOOST_TEST(first_line(fourth) == "HTTP/1.1 503", "all that is there is being answered");
  held.cancel();
  for (auto* each : {&good, &slower, &slowest}) BOOST_TEST(first_line(*each) == "HTTP/1.1 201");
  auto fifth = connect(head + body);
  BOOST_TEST(first_line(fifth) == "HTTP/1.1 201");
}

BOOST_AUTO_TEST_CASE(without_a_descriptor_who_says_nothing_makes_room) {
  asio::io_context io(1);
  const auto answer = [](const http_request&) -> asio::awaitable<http_response> { co_return http_response(); };
  http_server server(io.get_executor(), "127.0.0.1", 0, answer, {.idle = 1h});
  server.start();
  asio::ip::tcp::socket silent(io), probe(io);
  for (auto* each : {&silent, &probe}) {
    each->connect({asio::ip::make_address("127.0.0.1"), server.port()});
    while (each == &silent && io.poll() > 0) {
    }
  }
  asio::write(probe, asio::buffer("GET / HTTP/1.1\r\n\r\n", 18));
  const no_descriptors none;
  std::array<char, 4> begin{}, nothing{};
  boost::system::error_code end;
  int done = 0;
  silent.async_read_some(asio::buffer(nothing), [&](auto error, std::size_t) { end = error, ++done; });
  asio::async_read(probe, asio::buffer(begin), [&](auto, std::size_t) { ++done; });
  for (const auto limit = std::chrono::steady_clock::now() + 60s; done < 2 && std::chrono::steady_clock::now() < limit;)
    io.run_one_for(1s);
  BOOST_TEST(std::string(begin.data(), begin.size()) == "HTTP");
  BOOST_TEST(end == asio::error::eof);
}

BOOST_AUTO_TEST_CASE(who_does_not_read_the_answer_takes_no_room_of_messages) {
  asio::io_context io(1);
  std::size_t asked = 0;
  const auto answer = [&](const http_request&) -> asio::awaitable<http_response> {
    if (++asked > 1) co_return http_response{201};
    co_return http_response::text(200, std::string(50'000'000, 'a'));  // more than the buffers of both sockets
  };
  http_server server(io.get_executor(), "127.0.0.1", 0, answer, {.bodies = 500, .idle = 1h});
  server.start();
  asio::ip::tcp::socket slow(io), good(io);
  for (auto* each : {&slow, &good}) {
    each->connect({asio::ip::make_address("127.0.0.1"), server.port()});
    asio::write(*each, asio::buffer("POST / HTTP/1.1\r\nContent-Length: 300\r\n\r\n" + std::string(300, 'x')));
    while (asked < 1) io.run_one();
  }
  std::string line(12, ' ');
  bool is_there = false;
  asio::async_read(good, asio::buffer(line), [&](auto, std::size_t) { is_there = true; });
  while (!is_there) io.run_one();
  BOOST_TEST(line == "HTTP/1.1 201");
}

// Both messages lie in the sockets when the server looks: it drops the first for the second, behind its last byte.
BOOST_AUTO_TEST_CASE(a_message_that_is_complete_when_it_is_dropped_is_not_put) {
  asio::io_context io(1);
  std::size_t asked = 0;
  const auto answer = [&](const http_request&) -> asio::awaitable<http_response> {
    ++asked;
    co_return http_response{201};
  };
  http_server server(io.get_executor(), "127.0.0.1", 0, answer, {.bodies = 500, .idle = 1h});
  server.start();
  asio::ip::tcp::socket first(io), second(io);
  for (auto* each : {&first, &second}) each->connect({asio::ip::make_address("127.0.0.1"), server.port()});
  while (io.poll() > 0) {
  }
  for (auto* each : {&first, &second})
    asio::write(*each, asio::buffer("POST / HTTP/1.1\r\nContent-Length: 300\r\n\r\n" + std::string(300, 'x')));
  std::string got, none;
  bool is_over = false, is_answered = false;
  asio::async_read(first, asio::dynamic_buffer(none), [&](auto, std::size_t) { is_over = true; });
  asio::async_read(second, asio::dynamic_buffer(got), asio::transfer_at_least(12),
                   [&](auto, std::size_t) { is_answered = true; });
  while (!is_over || !is_answered) io.run_one();
  BOOST_TEST(got.starts_with("HTTP/1.1 201"));
  BOOST_TEST(none == "");
  BOOST_TEST(asked == 1U);
}

BOOST_AUTO_TEST_SUITE_END()
