#include "frame_filter.hpp"

#include <set>

#include <boost/test/unit_test.hpp>

#include <testcluster/error.hpp>
#include <testcluster/op_code.hpp>

#include "connection.hpp"
#include "jute/messages.hpp"

using testcluster::detail::drop_rules;
using testcluster::detail::frame_filter;
using testcluster::detail::loopback_address;
namespace jute = testcluster::jute;
namespace op = testcluster::op;
using lost = drop_rules::what;

namespace {

const std::string hello = jute::connect_request({.timeout_ms = 1000});
const std::string welcome = jute::writer{}.int32(0).int32(1000).int64(7).string(std::string(16, 'x')).frame();

std::string create(int xid) { return jute::create_request(xid, "/a", "", 0); }
std::string reply(int xid) { return jute::writer{}.int32(xid).int64(1).int32(0).frame(); }

/// A filter on a connection whose handshake is done.
struct talking {
  drop_rules rules;
  frame_filter filter{rules};
  talking() {
    filter.requests(hello);
    filter.replies(welcome);
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(frame_filter_suite)

BOOST_AUTO_TEST_CASE(passes_everything_on_however_it_is_chopped) {
  drop_rules rules;
  frame_filter filter(rules);
  const std::string stream = hello + create(1) + jute::exists_request(2, "/a");
  std::string passed;
  for (char byte : stream) passed += filter.requests(std::string_view(&byte, 1)).pass;
  BOOST_TEST(passed == stream);
}

BOOST_AUTO_TEST_CASE(leaves_other_protocols_alone) {
  drop_rules rules;
  frame_filter filter(rules);
  BOOST_TEST(filter.requests("srvr").pass == "srvr");
  BOOST_TEST(filter.replies("Zookeeper version").pass == "Zookeeper version");
}

BOOST_AUTO_TEST_CASE(loses_the_reply_to_the_kth_request_only) {
  talking to;
  to.rules.add(lost::reply, op::create, 2);
  const std::string requests = create(1) + jute::exists_request(2, "/") + create(3) + create(4);
  BOOST_TEST(to.filter.requests(requests).pass == requests);
  const auto judged = to.filter.replies(reply(1) + reply(2) + reply(3) + reply(4));
  BOOST_TEST(judged.pass == reply(1) + reply(2));
  BOOST_TEST(judged.cut);
}

BOOST_AUTO_TEST_CASE(loses_the_kth_request_only) {
  talking to;
  to.rules.add(lost::request, op::create, 2);
  const auto judged = to.filter.requests(create(1) + jute::exists_request(2, "/") + create(3) + create(4));
  BOOST_TEST(judged.pass == create(1) + jute::exists_request(2, "/"));
  BOOST_TEST(judged.cut);
}

BOOST_AUTO_TEST_CASE(counts_over_all_connections) {
  drop_rules rules;
  frame_filter one(rules), two(rules);
  one.requests(hello);
  two.requests(hello);
  rules.add(lost::request, op::create, 2);
  BOOST_TEST(!one.requests(create(1)).cut);
  BOOST_TEST(two.requests(create(1)).cut);
  BOOST_TEST(!one.requests(create(2)).cut);
}

BOOST_AUTO_TEST_CASE(each_request_with_a_text_in_it_is_lost) {
  drop_rules rules;
  rules.add_each(lost::request, op::exists, "/mine/");
  BOOST_TEST(rules.describe().front() == "drop-request exists /mine/");
  for (const bool is_mine : {true, false, true}) {
    frame_filter filter(rules);
    filter.requests(hello);
    BOOST_TEST(filter.requests(jute::exists_request(1, is_mine ? "/mine/1" : "/other")).cut == is_mine);
    BOOST_TEST(!filter.requests(create(2)).cut);
  }
}

BOOST_AUTO_TEST_CASE(a_notification_is_no_reply) {
  talking to;
  to.rules.add(lost::reply, op::create, 1);
  to.filter.requests(create(5));
  const auto notification = reply(-1);
  BOOST_TEST(to.filter.replies(notification).pass == notification);
  BOOST_TEST(to.filter.replies(reply(5)).cut);
}

BOOST_AUTO_TEST_CASE(the_handshake_counts_as_create_session) {
  drop_rules rules;
  rules.add(lost::reply, op::create_session, 1);
  frame_filter filter(rules);
  BOOST_TEST(filter.requests(hello).pass == hello);
  BOOST_TEST(filter.replies(welcome).cut);
}

BOOST_AUTO_TEST_CASE(a_truncated_reply_is_an_error) {
  jute::reader in(std::string_view("\0\0\0\5abc", 7));
  BOOST_CHECK_THROW(in.string(), testcluster::error);
}

BOOST_AUTO_TEST_CASE(leased_addresses_differ) {
  std::vector<loopback_address> leased(200);
  std::set<std::string> distinct;
  for (const auto& each : leased) distinct.insert(each.text());
  BOOST_TEST(distinct.size() == leased.size());
}

BOOST_AUTO_TEST_SUITE_END()
