// The files of `tls_options`: refused at once if they are of no use, and read again when they change.
#include <algorithm>
#include <fstream>
#include <stdexcept>

#include <sys/stat.h>

#include <boost/test/unit_test.hpp>

#include "tls/tls_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct files_case : tls_case {
  testcluster::certificate_files own = authority.issue({.name = "client"});
  tls_server server{io, server_certificate()};

  session_options options() {
    auto made = options_for(server.address());
    made.tls->certificate = own.certificate.string();
    made.tls->key = own.key.string();
    return made;
  }
  /// What the constructor of a session says to these options.
  std::string refusal_of(const session_options& options) {
    try {
      session zk(io.get_executor(), options);
    } catch (const std::invalid_argument& refused) {
      return refused.what();
    }
    return {};
  }
  void write(const std::string& name, const std::string& text) { std::ofstream(folder.path() / name) << text; }
  void await_connects(std::size_t count) {
    BOOST_TEST_REQUIRE(run_until(io, [&] { return server.connects() == count; }));
  }
};

bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

}  // namespace

BOOST_FIXTURE_TEST_SUITE(tls_files, files_case)

BOOST_AUTO_TEST_CASE(a_missing_file_is_named) {
  auto with = options();
  with.tls->authorities = "/nowhere.pem";
  const auto text = refusal_of(with);
  BOOST_TEST(has(text, "session_options::tls.authorities: /nowhere.pem: No such file or directory"), text);
}

BOOST_AUTO_TEST_CASE(a_file_without_a_certificate_is_named) {
  write("empty.pem", "");
  auto with = options();
  with.tls->certificate = (folder.path() / "empty.pem").string();
  const auto text = refusal_of(with);
  BOOST_TEST(has(text, "session_options::tls.certificate: "), text);
}

BOOST_AUTO_TEST_CASE(a_file_that_everybody_may_change) {
  const auto with = options();
  for (const auto* each : {&with.tls->authorities, &with.tls->certificate, &with.tls->key}) {
    struct ::stat before {};
    BOOST_TEST_REQUIRE(::stat(each->c_str(), &before) == 0);
    BOOST_TEST_REQUIRE(::chmod(each->c_str(), before.st_mode | S_IWOTH) == 0);
    const auto text = refusal_of(with);
    BOOST_TEST(has(text, *each + ": everybody may change it"), text);
    BOOST_TEST_REQUIRE(::chmod(each->c_str(), before.st_mode) == 0);
  }
  BOOST_TEST(refusal_of(with) == "");
}

BOOST_AUTO_TEST_CASE(the_key_of_another_certificate) {
  auto with = options();
  with.tls->key = authority.issue({.name = "other"}).key.string();
  const auto text = refusal_of(with);
  BOOST_TEST(has(text, "session_options::tls.key: "), text);
  BOOST_TEST(has(text, "key values mismatch"), text);
}

// OpenSSL has a place for each kind of key, and does not compare across them.
BOOST_AUTO_TEST_CASE(the_key_of_another_certificate_of_another_kind) {
  const auto rsa = authority.issue({.name = "other", .rsa = true});
  auto with = options();
  with.tls->key = rsa.key.string();
  BOOST_TEST(has(refusal_of(with), "session_options::tls.key: "), "a key of RSA");
  with.tls->certificate = rsa.certificate.string();
  BOOST_TEST(refusal_of(with) == "", "both of RSA");
  with.tls->key = own.key.string();
  BOOST_TEST(has(refusal_of(with), "session_options::tls.key: "), "a certificate of RSA");
}

// OpenSSL would ask at the terminal.
BOOST_AUTO_TEST_CASE(the_password_of_a_certificate_is_not_asked_at_the_terminal) {
  write(
      "locked.pem",
      "-----BEGIN CERTIFICATE-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00112233445566778899AABBCCDDEEFF\n\n"
      "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n-----END CERTIFICATE-----\n");
  auto with = options();
  with.tls->certificate = (folder.path() / "locked.pem").string();
  int asked = 0;
  with.tls->key_password = [&] { return ++asked, std::string("guess"); };
  BOOST_TEST(has(refusal_of(with), "session_options::tls.certificate: "));
  BOOST_TEST(asked == 1);
}

BOOST_AUTO_TEST_CASE(certificate_and_key_need_each_other) {
  auto with = options();
  with.tls->key.clear();
  BOOST_TEST(refusal_of(with) == "session_options::tls: certificate and key need each other");
}

BOOST_AUTO_TEST_CASE(certificate_and_key_in_one_file) {
  auto with = options();
  with.tls->certificate = with.tls->key = own.both.string();
  session zk(io.get_executor(), with);
  await_connects(1);
}

BOOST_AUTO_TEST_CASE(the_password_of_a_key_is_asked_for_and_never_told) {
  own = authority.issue({.name = "client", .key_password = "open sesame"});
  auto with = options();
  BOOST_TEST(has(refusal_of(with), "passphrase"), "without a callback");
  with.tls->key_password = [] { return std::string("tell nobody"); };
  const auto text = refusal_of(with);
  BOOST_TEST(has(text, "bad decrypt"), text);
  BOOST_TEST(!has(text, "tell nobody"), text);
  with.tls->key_password = []() -> std::string { throw std::runtime_error("no vault"); };
  BOOST_TEST(!refusal_of(with).empty(), "a callback that throws");
  with.tls->key_password = [] { return std::string("open sesame"); };
  BOOST_TEST(refusal_of(with) == "");
}

BOOST_AUTO_TEST_CASE(a_new_certificate_is_shown_in_the_next_connection) {
  server.require_client(authority.certificate().string());
  session zk(io.get_executor(), options());
  await_connects(1);
  const auto first = server.client_serial();
  own = authority.issue({.name = "client"});
  server.drop_all();
  await_connects(2);
  BOOST_TEST((server.client_serial() != first));
  BOOST_TEST(count(session_event::certificates_reloaded) == 1u);
  server.drop_all();
  await_connects(3);
  BOOST_TEST(count(session_event::certificates_reloaded) == 1u, "nothing has changed since");
}

BOOST_AUTO_TEST_CASE(a_spoiled_file_changes_nothing) {
  server.require_client(authority.certificate().string());
  session zk(io.get_executor(), options());
  await_connects(1);
  const auto first = server.client_serial();
  write("client.pem", "half of a certi");
  server.drop_all();
  await_connects(2);
  BOOST_TEST((server.client_serial() == first));
  BOOST_TEST(count(session_event::certificates_unusable) == 1u);
  const auto said = std::ranges::find(*told, session_event::certificates_unusable, &told_event::event);
  BOOST_TEST((said->severity == log_severity::warning));
  BOOST_TEST(has(said->line, "session_options::tls.certificate"), said->line);
}

// Reading it would wait for somebody who writes.
BOOST_AUTO_TEST_CASE(a_fifo_in_the_place_of_a_file_changes_nothing) {
  server.require_client(authority.certificate().string());
  session zk(io.get_executor(), options());
  await_connects(1);
  const auto first = server.client_serial();
  std::filesystem::remove(own.key);
  BOOST_TEST_REQUIRE(::mkfifo(own.key.c_str(), 0600) == 0);
  server.drop_all();
  await_connects(2);
  BOOST_TEST((server.client_serial() == first));
  const auto said = std::ranges::find(*told, session_event::certificates_unusable, &told_event::event);
  BOOST_TEST_REQUIRE((said != told->end()));
  BOOST_TEST(has(said->line, "session_options::tls.key"), said->line);
}

BOOST_AUTO_TEST_CASE(a_server_is_not_trusted_any_more_once_its_authority_is_gone) {
  session zk(io.get_executor(), options());
  await_connects(1);
  testcluster::authority other(folder.path(), "other");
  std::filesystem::rename(other.certificate(), authority.certificate());
  server.drop_all();
  const auto is_refused = [&] {
    const auto failures = zk.status().failures;
    return !failures.empty() && failures.front().error == tls_errc::unknown_authority;
  };
  BOOST_TEST(run_until(io, is_refused));
}

BOOST_AUTO_TEST_SUITE_END()
