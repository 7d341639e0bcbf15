// `check --security`: what servers answer, and what it means that they do not.
#include <string>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include "report/check_report.hpp"
#include "security/security_verdict.hpp"
#include "security/server_exposure.hpp"

using namespace zkadmin;

namespace {

const word_answer forbidden{"", "conf is not executed because it is not in the whitelist.\n"};
const word_answer settings_told{"", "clientPort=-1\nsecureClientPort=2281\n"}, mask{"", "306\n"};
const word_answer lost_answers[] = {
    {"no answer in time"}, {"Connection reset by peer"}, {"its answer is too long"}, {"Connection refused"}, {"", ""},
    {"", "Something else"}};

server_exposure told_by(const word_answer& conf, const word_answer& gtmk) {
  server_exposure seen{"a:2181"};
  add_words(seen, conf, gtmk);
  return seen;
}

admin_answer admin_body(std::string body) { return {{}, std::move(body)}; }

const admin_answer configuration = admin_body(R"({"command":"configuration","error":null,"client_port":-1})");

security_findings findings_of(std::vector<server_exposure> exposures) {
  security_findings seen;
  for (const auto& each : exposures) {
    seen.servers.emplace_back().server = each.server;
    seen.servers.back().reachable = true;
  }
  seen.exposures = std::move(exposures);
  return seen;
}

wanted_kinds only_servers() {
  wanted_kinds kinds{};
  kinds.elections = kinds.groups = kinds.topics = kinds.commits = kinds.recipes = false;
  kinds.servers = true;
  return kinds;
}

verdict verdict_on(std::vector<server_exposure> exposures) {
  return judge_security(findings_of(std::move(exposures)), only_servers());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(security_rules)

BOOST_AUTO_TEST_CASE(only_a_server_that_says_so_has_closed_a_word) {
  BOOST_TEST((told_by(forbidden, forbidden) == server_exposure{"a:2181"}));
  BOOST_TEST((told_by(settings_told, forbidden).all_words == false));
  BOOST_TEST((told_by(settings_told, mask).all_words == true));
  BOOST_TEST((told_by(forbidden, mask).all_words == true));
  for (const auto& each : lost_answers) {
    const auto seen = told_by(settings_told, each);
    BOOST_TEST(!seen.all_words.has_value(), each.trouble);
    BOOST_TEST(seen.gaps.size() == 1u, each.trouble);
    BOOST_TEST(told_by(each, forbidden).gaps.size() == 1u, each.trouble);
    BOOST_TEST((state_of(verdict_on({told_by(each, forbidden)})) == check_state::unknown), each.trouble);
  }
  BOOST_TEST((state_of(verdict_on({told_by(forbidden, forbidden)})) == check_state::ok));
}

// Its port may be -1, or not known: over TLS, or where `conf` is not allowed.
BOOST_AUTO_TEST_CASE(whose_admin_server_it_is_does_not_matter) {
  for (const char* port : {"-1", "2181", "9999"}) {
    server_exposure seen{"a:2181"};
    const auto body = std::string(R"({"command":"configuration","error":null,"client_port":)") + port + "}";
    BOOST_TEST(add_admin_server(seen, "a:8080", admin_body(body)));
    BOOST_TEST(seen.admin_server == "a:8080");
    BOOST_TEST(problems_of(seen, true).size() == 1u);
  }
}

BOOST_AUTO_TEST_CASE(an_admin_server_is_closed_if_nothing_listens) {
  server_exposure closed{"a:2181"};
  admin_answer refused{"Connection refused"};
  refused.is_refused = true;
  BOOST_TEST(!add_admin_server(closed, "a:8080", refused));
  BOOST_TEST((closed == server_exposure{"a:2181"}));
  for (const auto& each : {admin_answer{"no answer in time"}, admin_answer{"it answers with the status 403"},
                           admin_body("<html>"), admin_body(R"({"command":"dump"})"), admin_body("")}) {
    server_exposure seen{"a:2181"};
    BOOST_TEST(!add_admin_server(seen, "a:8080", each));
    BOOST_TEST((state_of(verdict_on({seen})) == check_state::unknown), each.trouble + each.body);
  }
}

// A port of this machine at which nothing listens.
BOOST_AUTO_TEST_CASE(a_refused_connection_is_told_apart) {
  boost::asio::io_context io;
  boost::asio::ip::tcp::acceptor taken(io, {boost::asio::ip::address_v4::loopback(), 0});
  const auto port = taken.local_endpoint().port();
  taken.close();
  admin_answer got;
  boost::asio::co_spawn(io,
                        ask_admin_server({"127.0.0.1", port, "here"}, "/", 100,
                                         std::chrono::steady_clock::now() + std::chrono::seconds(20)),
                        [&got](std::exception_ptr error, admin_answer answer) {
                          if (!error) got = std::move(answer);
                        });
  io.run();
  BOOST_TEST(got.is_refused, got.trouble);
}

BOOST_AUTO_TEST_CASE(an_admin_server_at_a_loopback_address_is_a_remark) {
  server_exposure seen{"a:2181"};
  auto local = configuration;
  local.is_local = true;
  BOOST_TEST(add_admin_server(seen, "127.0.0.1:8080", local));
  BOOST_TEST(to_lines(verdict_on({seen})) ==
             "ZKADMIN OK - 1 server\n"
             "note a:2181: the AdminServer at 127.0.0.1:8080 answers this machine; whether it answers others is not "
             "known\n");
  seen.secrets = {"zookeeper.ssl.keyStore.password"};
  BOOST_TEST((state_of(verdict_on({seen})) == check_state::warning));
}

BOOST_AUTO_TEST_CASE(one_admin_server_beside_several_servers_is_told_once) {
  server_exposure one{"a:2181"}, other{"a:2182"};
  one.admin_server = other.admin_server = "a:8080";
  const auto judged = verdict_on({one, other});
  BOOST_TEST(judged.problems.size() == 1u);
  BOOST_TEST(judged.remarks.empty());
}

BOOST_AUTO_TEST_CASE(why_there_is_no_connection_is_told_without_recipes_too) {
  security_findings seen;
  seen.trouble = "ca.pem: No such file";
  BOOST_TEST(to_lines(judge_security(seen, only_servers())) ==
             "ZKADMIN UNKNOWN - 1 thing not known\nunknown servers: ca.pem: No such file\n");
}

BOOST_AUTO_TEST_SUITE_END()
