// The transaction builder.
#include <boost/test/unit_test.hpp>

#include <zkrecipes/transaction.hpp>

using namespace zkrecipes;

BOOST_AUTO_TEST_SUITE(transactions)

BOOST_AUTO_TEST_CASE(operations_keep_their_order_and_arguments) {
  const acl access{{perm_read, "world", "anyone"}};
  auto made = transaction()
                  .check("/check", 4)
                  .create("/create", "data", create_mode::ephemeral_sequential, access)
                  .set("/set", "other", 5)
                  .remove("/remove", 6);
  const auto& all = made.operations();
  BOOST_TEST_REQUIRE(all.size() == 4u);
  BOOST_TEST((all[0].type == operation::kind::check && all[0].path == "/check" && all[0].version == 4));
  BOOST_TEST((all[1].type == operation::kind::create && all[1].path == "/create" && all[1].data == "data"));
  BOOST_TEST((all[1].mode == create_mode::ephemeral_sequential && all[1].acl == access));
  BOOST_TEST((all[2].type == operation::kind::set && all[2].path == "/set" && all[2].data == "other"));
  BOOST_TEST(all[2].version == 5);
  BOOST_TEST((all[3].type == operation::kind::remove && all[3].path == "/remove" && all[3].version == 6));
}

BOOST_AUTO_TEST_CASE(defaults_accept_any_version_and_leave_the_acl_to_the_session) {
  auto made = transaction().check("/a").create("/a").set("/a", "").remove("/a");
  for (const auto& each : made.operations()) {
    BOOST_TEST(each.version == any_version);
    BOOST_TEST(each.acl.empty());
  }
  BOOST_TEST((made.operations()[1].mode == create_mode::persistent));
}

BOOST_AUTO_TEST_CASE(another_transaction_is_appended_behind) {
  auto made = transaction().check("/a").append(transaction().set("/b", "").remove("/c"));
  BOOST_TEST_REQUIRE(made.operations().size() == 3u);
  BOOST_TEST(made.operations()[2].path == "/c");
  BOOST_TEST(!made.empty());
  BOOST_TEST(transaction().append({}).empty());
}

BOOST_AUTO_TEST_SUITE_END()
