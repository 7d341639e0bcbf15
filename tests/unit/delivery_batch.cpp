// What one commit sends for many messages.
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "delivery/delivery_committer.hpp"

using namespace zkrecipes;
using namespace zkrecipes::detail;

namespace {

struct batches {
  explicit batches(bool merges = true) : batch(merges) {}

  void add(const transaction& effects, transaction settling = {}) {
    batch.add({&messages[batch.members().size()], {}}, std::move(settling), effects);
  }
  std::vector<std::string> sealed(transaction more = {}) {
    std::vector<std::string> all;
    const auto made = batch.seal(std::move(more));
    for (const auto& each : made.operations()) all.push_back(each.path + '=' + each.data);
    return all;
  }
  std::size_t owner(std::size_t operation) {
    const auto* found = batch.owner_of(batch.place_of(operation));
    return found ? static_cast<std::size_t>(found->whose - messages) : 99;
  }

  message_in_hand messages[8];
  delivery_batch batch;
};

transaction set(const std::string& path, const std::string& data) { return transaction().set(path, data); }

using strings = std::vector<std::string>;

}  // namespace

BOOST_AUTO_TEST_SUITE(delivery_batches)

BOOST_AUTO_TEST_CASE(operations_belong_to_their_messages) {
  batches all;
  all.add(transaction().create("/a", "1").create("/b", "2"), transaction().remove("/q/1"));
  all.add(transaction().create("/c", "3"), transaction().remove("/q/2"));
  BOOST_TEST(all.sealed(set("/position", "x")) == strings({"/q/1=", "/a=1", "/b=2", "/q/2=", "/c=3", "/position=x"}),
             boost::test_tools::per_element());
  const std::size_t owners[] = {0, 0, 0, 1, 1, 99};
  for (std::size_t i = 0; i < 6; ++i) BOOST_TEST(all.owner(i) == owners[i]);
  BOOST_TEST(all.batch.place_of(5) == all.batch.end_of_members());
  BOOST_TEST(!all.batch.is_merged());
}

BOOST_AUTO_TEST_CASE(of_unconditional_sets_of_a_path_only_the_last_is_sent) {
  batches all;
  all.add(set("/sum", "1").set("/other", "a"));
  all.add(set("/sum", "2").create("/c"));
  all.add(set("/sum", "3"));
  BOOST_TEST(all.sealed(set("/position", "x")) == strings({"/other=a", "/c=", "/sum=3", "/position=x"}),
             boost::test_tools::per_element());
  BOOST_TEST(all.batch.is_merged());
  const std::size_t owners[] = {0, 1, 2, 99};
  for (std::size_t i = 0; i < 4; ++i) BOOST_TEST(all.owner(i) == owners[i]);
}

BOOST_AUTO_TEST_CASE(a_path_that_something_else_touches_is_left_as_it_is) {
  const transaction touches[] = {transaction().check("/sum"), transaction().check("/sum", 3),
                                 transaction().set("/sum", "x", 7), transaction().create("/sum", "x"),
                                 transaction().remove("/sum")};
  for (const auto& touch : touches) {
    for (std::size_t place = 0; place < 3; ++place) {
      batches all;
      for (std::size_t i = 0; i < 3; ++i) {
        if (i == place) all.add(touch);
        all.add(set("/sum", std::to_string(i)));
      }
      BOOST_TEST(all.sealed().size() == 4u);
      BOOST_TEST(!all.batch.is_merged());
    }
  }
}

BOOST_AUTO_TEST_CASE(the_operations_of_the_source_are_never_merged) {
  batches all;
  for (int i = 0; i < 3; ++i) all.add({}, set("/q/1", std::to_string(i)));
  BOOST_TEST(all.sealed(set("/q/1", "more")).size() == 4u);
}

BOOST_AUTO_TEST_CASE(while_a_culprit_is_searched_for_all_are_sent) {
  batches all(false);
  for (int i = 0; i < 3; ++i) all.add(set("/sum", std::to_string(i)));
  BOOST_TEST(all.sealed() == strings({"/sum=0", "/sum=1", "/sum=2"}), boost::test_tools::per_element());
  BOOST_TEST(!all.batch.is_merged());
}

BOOST_AUTO_TEST_CASE(merged_sets_take_the_room_of_one) {
  batches all;
  const auto large = set("/sum", std::string(1'000, 'x'));
  BOOST_TEST(all.batch.more_bytes({}, large) > 1'000u);
  all.add(large);
  const auto bytes = all.batch.bytes();
  BOOST_TEST(bytes > 1'000u);
  BOOST_TEST(all.batch.more_bytes({}, large) == 0u);
  all.add(large);
  BOOST_TEST(all.batch.bytes() == bytes);
  BOOST_TEST(all.batch.more_bytes({}, set("/else", "")) > 0u);
}

BOOST_AUTO_TEST_SUITE_END()
