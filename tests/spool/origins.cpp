// The origins of the messages in a file: where they are stored, and when there is another one.
#include <cstdint>
#include <limits>

#include "spool/file_case.hpp"
#include "spool/spool_file.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;
using detail::spool_file;
using detail::spool_origins;

namespace {

struct origins_case : file_case {
  detail::spool_file_settings with_origins() const {
    auto all = settings();
    all.has_origins = true;
    return all;
  }
  /// Opens the file, appends messages that follow, and closes it.
  std::uint64_t append(std::uint64_t from, std::uint64_t to, std::uint64_t put = 0) {
    spool_file file(with_origins());
    const auto found = file.open({});
    BOOST_TEST(!found.error, found.trouble);
    BOOST_TEST(found.extent.origin > 0u);
    BOOST_TEST(!file.commit(rows(from, to, put)).error);
    return found.extent.origin;
  }
  std::vector<std::uint64_t> load(std::uint64_t from) {
    spool_file file(with_origins());
    const auto found = file.open({});
    BOOST_TEST(!found.error, found.trouble);
    std::vector<std::uint64_t> all;
    for (const auto& each : file.load(from, 100, 1'000'000).rows) all.push_back(each.origin);
    return all;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(spool_file_origins, origins_case)

BOOST_AUTO_TEST_CASE(each_opening_has_another_one_and_messages_keep_theirs) {
  const auto first = append(1, 2), second = append(3, 3), third = append(4, 5);
  BOOST_TEST(first < second);
  BOOST_TEST(second < third);
  BOOST_TEST(load(1) == std::vector<std::uint64_t>({first, first, second, third, third}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(an_opening_that_appends_nothing_leaves_none) {
  const auto first = append(1, 2);
  load(1);
  load(1);
  const auto second = append(3, 3);
  BOOST_TEST(load(1) == std::vector<std::uint64_t>({first, first, second}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(those_of_messages_that_were_put_are_forgotten) {
  append(1, 2);
  append(3, 3);
  const auto third = append(4, 5, 3);
  BOOST_TEST(load(4) == std::vector<std::uint64_t>({third, third}), boost::test_tools::per_element());
  meddle("INSERT INTO origin (first, number) VALUES (1, 5), (3, 6)");  // there are none
}

BOOST_AUTO_TEST_CASE(a_file_that_is_opened_anew_after_a_failure_has_another_one) {
  spool_file file(with_origins());
  const auto first = file.open({}).extent.origin;
  BOOST_TEST(!file.commit(rows(1, 5)).error);
  const auto found = file.open(3);
  BOOST_TEST(!found.error, found.trouble);
  BOOST_TEST(found.extent.origin > first);
  BOOST_TEST(!file.commit(rows(4, 5)).error);
  const auto all = file.load(1, 100, 1'000'000).rows;
  BOOST_TEST_REQUIRE(all.size() == 5u);
  for (const auto& each : all) BOOST_TEST(each.origin == (each.number <= 3 ? first : found.extent.origin));
}

BOOST_AUTO_TEST_CASE(a_file_that_had_none_gets_one_for_all_its_messages) {
  {
    spool_file file(settings());
    BOOST_TEST(!file.open({}).error);
    BOOST_TEST(!file.commit(rows(1, 4, 2)).error);
  }
  const auto all = load(3);
  BOOST_TEST_REQUIRE(all.size() == 2u);
  BOOST_TEST(all[0] > 0u);
  BOOST_TEST(all[0] == all[1]);
}

BOOST_AUTO_TEST_CASE(a_file_of_another_target_has_none) {
  {
    spool_file file(settings());
    BOOST_TEST(file.open({}).extent.origin == 0u);
    BOOST_TEST(!file.commit(rows(1, 1)).error);
    BOOST_TEST(file.load(1, 1, 1'000).rows.front().origin == 0u);
  }
  meddle("INSERT INTO origin (first, number) VALUES (1, 1)");  // there is none for it
}

BOOST_AUTO_TEST_CASE(a_file_with_origins_can_be_read_without_them) {
  append(1, 3);
  spool_file file(settings());
  const auto found = file.open({});
  BOOST_TEST(!found.error, found.trouble);
  BOOST_TEST(!file.commit(rows(4, 4, 1)).error);
}

BOOST_AUTO_TEST_CASE(damaged_origins_are_refused) {
  for (const auto* sql : {"UPDATE origin SET number = 0", "UPDATE origin SET number = -5",
                          "UPDATE origin SET first = first + 10", "DROP TABLE origin; CREATE TABLE origin (a)"}) {
    std::filesystem::remove(path());
    append(1, 3);
    meddle(sql);
    meddle("PRAGMA wal_checkpoint(TRUNCATE)");
    spool_file file(with_origins());
    const auto answer = file.open({});
    BOOST_TEST((answer.error == spool_errc::corrupt), sql << ": " << answer.trouble);
  }
}

BOOST_AUTO_TEST_CASE(they_grow_and_begin_again_at_the_end) {
  spool_origins all;
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  constexpr auto largest = (std::uint64_t{1} << 63) - 1;
  BOOST_TEST(all.next(0) == std::uint64_t{1} << 62);
  BOOST_TEST(all.next(most) < std::uint64_t{3} << 61);
  BOOST_TEST(all.add(1, all.next(5)));
  BOOST_TEST(all.next(0) > all.of(1));
  BOOST_TEST(all.next(0) != all.next(1));
  BOOST_TEST(all.add(10, largest - 7));
  BOOST_TEST(all.next(most) < largest);
  BOOST_TEST(all.next(0) == std::uint64_t{1} << 62);
  BOOST_TEST(all.of(0) == 0u);
  BOOST_TEST(all.of(9) == all.of(1));
  BOOST_TEST(all.of(10) == largest - 7);
  BOOST_TEST(!all.add(10, 5));
  BOOST_TEST(!all.add(11, 0));
  BOOST_TEST(!all.add(11, largest + 1));
}

BOOST_AUTO_TEST_SUITE_END()
