// Answers that break the protocol. To the C client most of them are the end of the process, or wild pointers.
#include <limits>

#include <boost/test/unit_test.hpp>

#include <testcluster/op_code.hpp>

#include "hostile/frame.hpp"
#include "hostile/lying_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace op = testcluster::op;
using namespace zkrecipes::test::frame;

namespace {

constexpr std::int32_t highest = std::numeric_limits<std::int32_t>::max();
constexpr std::int32_t lowest = std::numeric_limits<std::int32_t>::min();

using request = lying_case::request;

asio::awaitable<error_code> get(session& zk) {
  auto result = co_await zk.async_get("/a", tuple);
  co_return std::get<0>(result);
}

asio::awaitable<error_code> exists(session& zk) {
  auto result = co_await zk.async_exists("/a", tuple);
  co_return std::get<0>(result);
}

asio::awaitable<error_code> set(session& zk) {
  auto result = co_await zk.async_set("/a", "new", any_version, tuple);
  co_return std::get<0>(result);
}

asio::awaitable<error_code> create(session& zk) {
  auto result = co_await zk.async_create("/a", "", create_mode::persistent, tuple);
  co_return std::get<0>(result);
}

asio::awaitable<error_code> children(session& zk) {
  auto result = co_await zk.async_children("/a", tuple);
  co_return std::get<0>(result);
}

asio::awaitable<error_code> get_acl(session& zk) {
  auto result = co_await zk.async_get_acl("/a", tuple);
  co_return std::get<0>(result);
}

asio::awaitable<error_code> commit(session& zk) {
  transaction all;
  all.create("/a").set("/b", "").remove("/c");
  auto result = co_await zk.async_commit(std::move(all), tuple);
  co_return std::get<0>(result);
}

/// What stands in the body of an answer, in place of the right body.
struct lying_body {
  const char* name;
  std::string body;
};

void check_bodies(std::int32_t op, const lying_case::step& ask, bool is_read, const std::vector<lying_body>& all) {
  for (const auto& each : all) {
    BOOST_TEST_CONTEXT(each.name) {
      lying_case server;
      const auto error = server.check_lie(
          op, [&](const request& asked) { return framed(head(asked.xid) + each.body); }, ask);
      BOOST_TEST((is_read ? !error : error == errc::connection_loss), error.message());
    }
  }
}

/// Bytes that come in place of the answer to a read.
void check_bytes(const char* name, const lying_case::lie& told) {
  BOOST_TEST_CONTEXT(name) {
    lying_case server;
    const auto error = server.check_lie(op::get_data, told, get);
    BOOST_TEST(!error, error.message());
  }
}

void check_event(const char* name, std::string body) {
  check_bytes(name, [body](const request&) { return framed(head(-1, 0, -1) + body); });
}

void check_tolerated(const char* name, const lying_case::lie& told) {
  BOOST_TEST_CONTEXT(name) {
    lying_case server;
    const auto error = server.check_tolerated(op::get_data, told, get);
    BOOST_TEST(!error, error.message());
  }
}

std::string good(const request& asked) { return framed(head(asked.xid) + text("data") + stat()); }

void check_before_answer(const char* name, const std::string& bytes) {
  check_tolerated(name, [bytes](const request& asked) { return bytes + good(asked); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lies)

BOOST_AUTO_TEST_CASE(lengths_of_frames) {
  for (const auto length : {-1, -4, -5, lowest, 0, 15, (64 << 20) + 1, highest}) {
    check_bytes(std::to_string(length).c_str(), [length](const request&) { return int32(length); });
  }
}

BOOST_AUTO_TEST_CASE(answers_to_nothing) {
  check_bytes("another request", [](const request& asked) { return framed(head(asked.xid + 7) + text("") + stat()); });
  check_bytes("a negative request", [](const request&) { return framed(head(-9) + text("") + stat()); });
  check_bytes("twice", [](const request& asked) { return good(asked) + good(asked); });
  check_bytes("credentials that we have not", [](const request&) { return framed(head(-4)); });
  check_bytes("credentials refused", [](const request&) { return framed(head(-4, -115)); });
}

// To the session such an error is a reply that was lost: it reads again. ClickHouse Keeper sends some of them.
BOOST_AUTO_TEST_CASE(errors_of_the_client_itself) {
  for (const auto code : {-4, -7, -9, -116, -118}) {
    const auto name = std::to_string(code);
    check_tolerated(name.c_str(), [code](const request& asked) { return framed(head(asked.xid, code)); });
  }
}

BOOST_AUTO_TEST_CASE(events) {
  check_event("no body", "");
  check_event("no path", int32(1) + int32(3));
  check_event("a negative path", int32(1) + int32(3) + int32(-1));
  check_event("an endless path", int32(1) + int32(3) + int32(highest) + "/a");
  check_event("the end of the session", int32(-1) + int32(-112) + text(""));
}

BOOST_AUTO_TEST_CASE(data) {
  check_bodies(op::get_data, get, true,
               {{"nothing", ""},
                {"negative", int32(-2) + stat()},
                {"most negative", int32(lowest) + stat()},
                {"huge", int32(highest) + stat()},
                {"longer than the frame", int32(65) + std::string(64, 'x')},
                {"half a stat", text("data") + stat().substr(1)},
                {"a list of children", int32(1) + text("a")}});
}

BOOST_AUTO_TEST_CASE(facts) {
  check_bodies(op::exists, exists, true, {{"nothing", ""}, {"half", stat().substr(1)}, {"children", int32(0)}});
  check_bodies(op::set_data, set, false, {{"nothing", ""}, {"half", stat().substr(1)}});
}

BOOST_AUTO_TEST_CASE(names) {
  check_bodies(op::get_children2, children, true,
               {{"nothing", ""},
                {"no list", int32(-1) + stat()},
                {"most negative", int32(lowest) + stat()},
                {"huge", int32(highest) + stat()},
                {"fewer than said", int32(3) + text("a") + text("b")},
                {"a negative name", int32(1) + int32(-1) + stat()},
                {"a huge name", int32(1) + int32(highest) + stat()},
                {"an empty name", int32(1) + text("") + stat()},
                {"a name with a slash", int32(1) + text("../a") + stat()},
                {"a name with a NUL", int32(1) + text(std::string("a\0b", 3)) + stat()},
                {"half a stat", int32(1) + text("a") + stat().substr(1)}});
}

BOOST_AUTO_TEST_CASE(paths) {
  check_bodies(op::create2, create, false,
               {{"nothing", ""}, {"negative", int32(-1) + stat()}, {"huge", int32(highest)}, {"no stat", text("/a")}});
  check_bodies(op::sync, get, true, {{"nothing", ""}, {"negative", int32(-1)}, {"huge", int32(highest)}});
}

BOOST_AUTO_TEST_CASE(access_lists) {
  check_bodies(op::get_acl, get_acl, true,
               {{"nothing", ""},
                {"negative", int32(-1) + stat()},
                {"huge", int32(highest) + stat()},
                {"no scheme", int32(1) + int32(31)},
                {"a negative scheme", int32(1) + int32(31) + int32(-1) + text("") + stat()},
                {"a huge id", int32(1) + int32(31) + text("world") + int32(highest)}});
}

BOOST_AUTO_TEST_CASE(results_of_a_transaction) {
  const auto created = part(1, false) + text("/a");
  const auto changed = part(5, false) + stat();
  const auto removed = part(2, false);
  const auto failed = part(-1, false, -101) + int32(-101);
  const auto end = part(-1, true, -1);
  check_bodies(op::multi, commit, false,
               {{"nothing", ""},
                {"none", end},
                {"too few", created + changed + end},
                {"too many", created + changed + removed + removed + end},
                {"a change in place of a create", changed + changed + removed + end},
                {"another type than the create's", part(15, false) + text("/a") + changed + removed + end},
                {"another type than the set's", created + part(14, false) + stat() + removed + end},
                {"a check in place of a delete", created + changed + part(13, false) + end},
                {"no type", created + changed + part(0, false) + end},
                {"a wrong type behind an error", failed + failed + part(13, false) + end},
                {"too many errors", failed + failed + failed + failed + end},
                {"no end", created + changed + removed},
                {"a negative path", part(1, false) + int32(-1) + changed + removed + end},
                {"half an error", failed + failed + part(-1, false, -101)}});
}

BOOST_AUTO_TEST_CASE(acceptances) {
  const auto good = granted(0x55, 5000);
  const auto check = [](const char* name, const std::string& bytes) {
    BOOST_TEST_CONTEXT(name) {
      lying_case server;
      server.check_first_lie(bytes);
    }
  };
  check("no session", granted(0, 0));
  check("session 0", granted(0, 5000));
  check("no time", granted(0x55, 0));
  check("a negative time", granted(0x55, -1));
  check("a time that the C client can not double", granted(0x55, highest));
  check("a negative length", int32(-1) + good.substr(4));
  check("a huge length", int32(highest) + good.substr(4));
  check("too short", framed(good.substr(4, 36)));
  check("too long", framed(good.substr(4) + "x"));
  check("a password of another length", good.substr(0, 20) + int32(highest) + good.substr(24));
  check("an answer before any question", framed(head(1) + text("") + stat()));
}

BOOST_AUTO_TEST_CASE(oddities_that_do_no_harm) {
  check_tolerated("more than the answer needs",
                  [](const request& asked) { return framed(head(asked.xid) + text("data") + stat() + "more"); });
  check_tolerated("no data", [](const request& asked) { return framed(head(asked.xid) + int32(-1) + stat()); });
  check_tolerated("a transaction of the past",
                  [](const request& asked) { return framed(head(asked.xid, 0, lowest) + text("") + stat()); });
  check_before_answer("an event for no watch", event(3, 3, "/other"));
  check_before_answer("an event of no type", event(99, 3, "/a") + event(-2, 3, "/a") + event(0, 0, "/a"));
  check_before_answer("an event of no state", event(3, 12345, "/a"));
  check_before_answer("an event of no path", event(3, 3, "") + event(3, 3, std::string("/a\0b", 4)));
  check_before_answer("a ping that was not asked for", framed(head(-2)));
  check_before_answer("watches that were not set", framed(head(-8)));
}

BOOST_AUTO_TEST_CASE(an_unknown_error_is_an_error_of_the_server) {
  for (const auto code : {-99, -9999, 1, highest, lowest}) {
    lying_case server;
    const auto error = server.check_tolerated(
        op::get_data, [code](const request& asked) { return framed(head(asked.xid, code)); }, get);
    BOOST_TEST((error == errc::server_error), error.message());
  }
}

BOOST_AUTO_TEST_SUITE_END()
