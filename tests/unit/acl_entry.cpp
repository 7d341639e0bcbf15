// Entries of access control lists: what servers would not understand is refused.
#include <string>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/node.hpp>

#include "unit/refusal.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

std::string subject_refused(const std::string& subject) {
  return refusal([&] { x509_entry(subject); });
}
std::string address_refused(const std::string& address) {
  return refusal([&] { ip_entry(address); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(acl_entries)

BOOST_AUTO_TEST_CASE(entries_in_the_words_of_the_servers) {
  BOOST_TEST((auth_entry() == acl_entry{perm_all, "auth", ""}));
  BOOST_TEST((auth_entry(perm_read) == acl_entry{perm_read, "auth", ""}));
  BOOST_TEST((creator_acl() == acl{auth_entry()}));
  BOOST_TEST((x509_entry("CN=app,O=Example", perm_read | perm_write) ==
              acl_entry{perm_read | perm_write, "x509", "CN=app,O=Example"}));
  BOOST_TEST((ip_entry("10.1.0.0/16") == acl_entry{perm_all, "ip", "10.1.0.0/16"}));
}

// Computed with DigestAuthenticationProvider.generateDigest of ZooKeeper 3.8.0.
BOOST_AUTO_TEST_CASE(a_digest_is_that_of_the_servers) {
  BOOST_TEST(digest_id({"super", "test"}) == "super:D/InIHSb7yEEbrWz8b9l71RjZJU=");
  BOOST_TEST((digest_entry({"super", "test"}, perm_read) ==
              acl_entry{perm_read, "digest", "super:D/InIHSb7yEEbrWz8b9l71RjZJU="}));
  BOOST_TEST(digest_id({"u", "a:b"}) != digest_id({"u", "a"}));
}

BOOST_AUTO_TEST_CASE(bad_digests_are_refused_and_no_password_is_told) {
  const std::string cut("hu\0sh", 5);
  for (const auto& bad : {credentials{"", "hush"}, {"a:b", "hush"}, {cut, "hush"}, {"u", cut}}) {
    const auto message = refusal([&] { digest_entry(bad); });
    BOOST_TEST(message.starts_with("digest_id: "), message);
    BOOST_TEST(message.find("hu") == std::string::npos, message);
  }
}

BOOST_AUTO_TEST_CASE(permissions_are_a_sum_of_bits) {
  for (const std::int32_t bad : {0, -1, 32, 63}) {
    BOOST_TEST(refusal([&] { auth_entry(bad); }).starts_with("auth_entry: permissions"));
    BOOST_TEST(refusal([&] { x509_entry("CN=a", bad); }).starts_with("x509_entry: permissions"));
    BOOST_TEST(refusal([&] { ip_entry("10.0.0.1", bad); }).starts_with("ip_entry: permissions"));
    BOOST_TEST(refusal([&] { digest_entry({"u", "p"}, bad); }).starts_with("digest_entry: permissions"));
  }
}

BOOST_AUTO_TEST_CASE(subjects_as_java_writes_them) {
  for (const auto* good : {"CN=app", "CN=a b,OU=ops,O=Example\\, Inc.,L=X,ST=Y,C=DE", "CN=a+UID=7,DC=example,DC=org",
                           "1.2.840.113549.1.9.1=#160161,CN=a", "CN=\\ b", "CN=", "CN=M\u00fcller", "CN=a\\=b\\#1",
                           R"(CN=\"a\"\;\<b\>\\)", "CN=b\\ ", R"(CN=\ \ a  b\ \ )", R"(CN=\ )", R"(CN=a\\\ )"})
    BOOST_TEST(subject_refused(good) == "", good);
  for (const auto* bad : {"", "app", "/C=DE/CN=app", "CN = app", "CN=app, O=Example", "CN= app", "cn=app",
                          "emailAddress=a@b,CN=app", "CN=app,", ",CN=app", "CN=a,Example"})
    BOOST_TEST(subject_refused(bad).find("openssl x509") != std::string::npos, bad);
  BOOST_TEST(!subject_refused(std::string("CN=a\0b", 6)).empty());
}

// Servers take some of them, and no certificate has them.
BOOST_AUTO_TEST_CASE(subjects_as_openssl_writes_them_are_refused) {
  for (const auto* bad : {R"(CN=M\C3\BCller)", "CN=a=b", "CN=a#b", "CN=a ", "CN=a\\", "CN=a;b", "CN=a<b", "CN=\"a\"",
                          R"(CN=a\09b)", "1.2.3=a", "1.2.3=#1", "1.2.3=#0G", R"(CN=a \ )", R"(CN=\  a)", R"(CN=a\\ )"})
    BOOST_TEST(subject_refused(bad).find("-esc_msb") != std::string::npos, bad);
}

BOOST_AUTO_TEST_CASE(addresses_are_numbers) {
  for (const auto* good : {"10.1.2.3", "10.1.0.0/16", "0.0.0.0/0", "10.1.2.3/32", "::1", "2001:db8::/32", "::1/128"})
    BOOST_TEST(address_refused(good) == "", good);
  for (const auto* bad : {"", "localhost", "10.1.2", "10.1.2.3/33", "10.1.2.3/", "10.1.2.3/-1", "/8", "10.1.2.3/8/8",
                          "10.1.2.3 ", "::1/129", "10.1.2.3:80", "10.1.2.3/255.0.0.0", "010.1.2.300"})
    BOOST_TEST(address_refused(bad).find("10.1.0.0/16") != std::string::npos, bad);
  BOOST_TEST(!address_refused(std::string("10.1.2.3\0", 9)).empty());
}

BOOST_AUTO_TEST_SUITE_END()
