// The records, votes and names of the two-phase commit.

#include <boost/test/unit_test.hpp>

#include "commit/transaction_index.hpp"
#include "session/paths.hpp"

using namespace zkrecipes;
using namespace zkrecipes::detail;

BOOST_AUTO_TEST_SUITE(commit_records)

BOOST_AUTO_TEST_CASE(a_record_is_read_as_it_was_written) {
  commit_record record{"guid", {"a", "b"}, std::string("\xff\0\n\"data", 8), {decision::aborted, "b: no money"}};
  const auto read = parse_commit(serialize(record));
  BOOST_TEST_REQUIRE(read.has_value());
  BOOST_TEST(read->by == "guid");
  BOOST_TEST(read->participants == record.participants, boost::test_tools::per_element());
  BOOST_TEST((read->data == record.data));
  BOOST_TEST((read->outcome.decision == decision::aborted));
  BOOST_TEST(read->outcome.reason == "b: no money");
  BOOST_TEST(read->decided());
  BOOST_TEST(!commit_record{}.decided());
  BOOST_TEST(read->names("b"));
  BOOST_TEST(!read->names("c"));
}

BOOST_AUTO_TEST_CASE(other_data_is_no_record_and_no_vote) {
  for (const std::string data : {"", "x", "1", "[]", "{}", R"({"zkrecipes":"term"})", R"({"zkrecipes":"commit"})"}) {
    BOOST_TEST(!parse_commit(data).has_value(), data);
    BOOST_TEST(!parse_vote(data).has_value(), data);
  }
  commit_record record{"guid", {"a"}, "", {}};
  auto text = serialize(record);
  text.replace(text.find("pending"), 7, "perhaps");
  BOOST_TEST(!parse_commit(text).has_value());
}

BOOST_AUTO_TEST_CASE(a_vote_is_read_as_it_was_written) {
  for (auto which : {ballot::yes, ballot::no}) {
    const auto read = parse_vote(serialize(commit_vote{"a", which, "why"}));
    BOOST_TEST_REQUIRE(read.has_value());
    BOOST_TEST((read->ballot == which));
    BOOST_TEST(read->reason == "why");
  }
}

BOOST_AUTO_TEST_CASE(names_that_zookeeper_or_we_could_not_keep_are_told) {
  for (const std::string id : {"", ".", "..", "_coordinator", "a/b", "a\tb"}) BOOST_TEST(!is_transaction_id(id), id);
  BOOST_TEST(!is_transaction_id(std::string(257, 'x')));
  BOOST_TEST(is_transaction_id("order 7"));
  BOOST_TEST(is_participant("_me"));
  BOOST_TEST(!is_participant("a/b"));
}

BOOST_AUTO_TEST_CASE(missing_votes_are_named_in_the_order_of_the_participants) {
  const commit_record record{"guid", {"c", "a", "b"}, "", {}};
  const auto missing = missing_votes(record, {"vote-a", "vote-x", "note"});
  const std::vector<std::string> expected{"c", "b"};
  BOOST_TEST(missing == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_mark_stands_in_the_hour_in_which_its_transaction_was_begun) {
  BOOST_TEST(undecided_mark("/t", "x") == "/t/_undecided/x");
  BOOST_TEST(decided_mark("/t", "x", 3'600'000 * 7 + 5) == "/t/_decided/7/x");
  BOOST_TEST(hour_of("7").value() == 3'600'000 * 7);
  for (const std::string other : {"", "x", "7x", "-7", "99999999999999999999"}) BOOST_TEST(!hour_of(other), other);
  BOOST_TEST(!is_transaction_id(name_of(undecided_folder("/t"))), "the folders are no transactions");
  BOOST_TEST(!is_transaction_id(name_of(decided_folder("/t"))));
}

BOOST_AUTO_TEST_CASE(decisions_have_names) {
  BOOST_TEST(to_string(decision::pending) == std::string("pending"));
  BOOST_TEST(to_string(decision::committed) == std::string("committed"));
  BOOST_TEST(to_string(decision::aborted) == std::string("aborted"));
}

BOOST_AUTO_TEST_SUITE_END()
