// What the file of a spooled producer keeps, and what it refuses.
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>

#include <sys/stat.h>

#include "spool/file_case.hpp"
#include "spool/spool_file.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;
using detail::spool_file;

BOOST_FIXTURE_TEST_SUITE(spool_files, file_case)

BOOST_AUTO_TEST_CASE(what_was_committed_is_there_when_it_is_opened_again) {
  {
    spool_file file(settings());
    const auto fresh = file.open({});
    BOOST_TEST(!fresh.error, fresh.trouble);
    BOOST_TEST(fresh.extent.last == 0u);
    auto first = rows(1, 5);
    first.unsent_from = 3;
    first.base = -7;
    BOOST_TEST(!file.commit(first).error);
    auto second = rows(6, 6, 2);
    second.base = -7;
    second.unsent_from = 3;
    BOOST_TEST(!file.commit(second).error);
  }
  spool_file file(settings());
  const auto found = file.open({});
  BOOST_TEST(!found.error, found.trouble);
  BOOST_TEST(found.extent.put == 2u);
  BOOST_TEST(found.extent.last == 6u);
  BOOST_TEST(found.extent.base == -7);
  BOOST_TEST(found.extent.unsent_from == 3u);
  BOOST_TEST(found.extent.bytes == 4 * (3u + 10u + 64u));
  const auto all = file.load(3, 2, 1'000'000);
  BOOST_TEST_REQUIRE(all.rows.size() == 2u);
  BOOST_TEST(all.rows[0].number == 3u);
  BOOST_TEST(all.rows[1].key == "key");
  BOOST_TEST(all.rows[1].data == "4.........");
  BOOST_TEST(file.load(3, 100, 1).rows.size() == 1u);
}

BOOST_AUTO_TEST_CASE(bytes_of_all_values_are_kept) {
  std::string every;
  for (int i = 0; i < 256; ++i) every.push_back(static_cast<char>(i));
  spool_file file(settings());
  BOOST_TEST(!file.open({}).error);
  detail::spool_change change;
  for (const auto& each : {every, std::string()}) {
    change.rows.push_back(std::make_shared<detail::spool_row>(detail::spool_row{change.rows.size() + 1, each, each}));
  }
  BOOST_TEST(!file.commit(change).error);
  const auto found = file.load(1, 2, 1'000);
  BOOST_TEST_REQUIRE(found.rows.size() == 2u);
  BOOST_TEST((found.rows[0].key == every && found.rows[0].data == every));
  BOOST_TEST((found.rows[1].key.empty() && found.rows[1].data.empty()));
}

BOOST_AUTO_TEST_CASE(what_had_failed_is_removed_when_it_is_opened_again) {
  spool_file file(settings());
  BOOST_TEST(!file.open({}).error);
  BOOST_TEST(!file.commit(rows(1, 5)).error);
  const auto found = file.open(3);
  BOOST_TEST(!found.error, found.trouble);
  BOOST_TEST(found.extent.last == 3u);
  BOOST_TEST(!file.commit(rows(4, 4, 1)).error);
  BOOST_TEST(file.load(2, 100, 1'000).rows.size() == 3u);
  const auto size = std::filesystem::file_size(path() + "-wal");
  BOOST_TEST(!file.open(4).error);
  BOOST_TEST(std::filesystem::file_size(path() + "-wal") == size, "the log keeps its place on the disk");
}

BOOST_AUTO_TEST_CASE(only_the_owner_may_read_what_is_made) {
  using std::filesystem::perms;
  const auto before = umask(0);
  spool_file file(settings());
  BOOST_TEST(!file.open({}).error);
  BOOST_TEST(!file.commit(rows(1, 1)).error);
  umask(before);
  const auto owner_s = perms::owner_read | perms::owner_write;
  BOOST_TEST((std::filesystem::status(path()).permissions() == owner_s));
  BOOST_TEST((std::filesystem::status(path() + "-wal").permissions() == owner_s));
  file.close();
  std::filesystem::permissions(path(), owner_s | perms::group_read);
  BOOST_TEST(!file.open({}).error);
  BOOST_TEST((std::filesystem::status(path()).permissions() == (owner_s | perms::group_read)), "the operator's choice");
}

BOOST_AUTO_TEST_CASE(a_file_is_one_object_s) {
  spool_file file(settings());
  BOOST_TEST(!file.open({}).error);
  spool_file second(settings());
  const auto refused = second.open({});
  BOOST_TEST((refused.error == spool_errc::locked), refused.trouble);
  BOOST_TEST(refused.trouble.find("end the other process") != std::string::npos);
  BOOST_TEST(!file.commit(rows(1, 1)).error);
  file.close();
  BOOST_TEST(!second.open({}).error);
}

BOOST_AUTO_TEST_CASE(files_of_others_are_refused_and_left_as_they_are) {
  write("some text that is not a database, and longer than the header of one, which has a hundred bytes ...........");
  expect_refusal(settings(), spool_errc::foreign_file, "give this producer another file");
  std::filesystem::remove(path());
  meddle("CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)");
  expect_refusal(settings(), spool_errc::foreign_file, "of another program");
}

BOOST_AUTO_TEST_CASE(files_of_other_producers_are_refused) {
  {
    spool_file file(settings());
    BOOST_TEST(!file.open({}).error);
    BOOST_TEST(!file.finish().error);
  }
  auto other = settings();
  other.name = "q";
  expect_refusal(other, spool_errc::foreign_file, "producer \"p\" for /q, not those of \"q\" for /q");
  other = settings();
  other.path = "/r";
  expect_refusal(other, spool_errc::foreign_file, "not those of \"p\" for /r");
  meddle("PRAGMA user_version = 3");
  expect_refusal(settings(), spool_errc::foreign_file, "version 3 of the format");
}

BOOST_AUTO_TEST_CASE(a_damaged_file_is_refused_and_left_as_it_is) {
  {
    spool_file file(settings());
    BOOST_TEST(!file.open({}).error);
    BOOST_TEST(!file.commit(rows(1, 500)).error);
    BOOST_TEST(!file.finish().error);
  }
  const auto whole = content();
  BOOST_TEST_REQUIRE(whole.size() > 5 * 4096u);
  auto damaged = whole;
  for (std::size_t i = 4 * 4096; i < 5 * 4096; ++i) damaged[i] = static_cast<char>(i * 7);
  write(damaged);
  expect_refusal(settings(), spool_errc::corrupt, "read a copy of both");
  write(whole.substr(0, 4 * 4096));
  expect_refusal(settings(), spool_errc::corrupt, "read a copy of both");
  write(whole);
  spool_file file(settings());
  BOOST_TEST(!file.open({}).error);
}

BOOST_AUTO_TEST_CASE(messages_that_are_missing_are_noticed) {
  for (const auto* sql : {"DELETE FROM message WHERE number = 3", "DELETE FROM message WHERE number = 5",
                          "DELETE FROM message", "DELETE FROM spool", "DROP TABLE message"}) {
    std::filesystem::remove(path());
    {
      spool_file file(settings());
      BOOST_TEST(!file.open({}).error);
      BOOST_TEST(!file.commit(rows(1, 5)).error);
      BOOST_TEST(!file.finish().error);
    }
    meddle(sql);
    meddle("PRAGMA wal_checkpoint(TRUNCATE)");
    spool_file file(settings());
    const auto answer = file.open({});
    BOOST_TEST((answer.error == spool_errc::corrupt), sql << ": " << answer.trouble);
  }
}

BOOST_AUTO_TEST_CASE(a_full_disk_keeps_what_was_there) {
  auto small = settings();
  small.most_pages = 20;
  spool_file file(small);
  BOOST_TEST(!file.open({}).error);
  BOOST_TEST(!file.commit(rows(1, 10)).error);
  const auto full = file.commit(rows(11, 200, 0, 1'000));
  BOOST_TEST((full.error == spool_errc::disk_full), full.trouble);
  BOOST_TEST(full.trouble.find("make room") != std::string::npos);
  BOOST_TEST(full.stays_open);
  const auto left = file.load(1, 100, 1'000'000);
  BOOST_TEST(left.rows.size() == 10u, "what it has can be read");
  BOOST_TEST(!file.commit(rows(1, 0, 10)).error, "and removed");
  const auto next = file.commit(rows(11, 12, 10));
  BOOST_TEST(!next.error, next.trouble);
  const auto found = file.open({});
  BOOST_TEST(!found.error, found.trouble);
  BOOST_TEST(found.extent.last == 12u);
}

BOOST_AUTO_TEST_CASE(a_missing_folder_is_told) {
  auto nowhere = settings();
  nowhere.file = path() + "/missing/spool.db";
  spool_file file(nowhere);
  const auto answer = file.open({});
  BOOST_TEST((answer.error == spool_errc::no_access), answer.trouble);
  BOOST_TEST(answer.trouble.find("its folder has to exist") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_page_has_the_commands_that_are_printed_for_a_damaged_file) {
  std::ifstream in(ZKRECIPES_DOCS "/recipes/spooled-producer.md");
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  const auto printed = detail::cure_of(spool_errc::corrupt, "/var/spool/billing.db");
  auto commands = printed.substr(printed.find('`') + 1);
  commands.resize(commands.find('`'));
  for (std::size_t at; (at = commands.find("; ")) != commands.npos;) commands.replace(at, 2, "\n");
  BOOST_TEST(page.find("```sh\n" + commands + "\n```") != page.npos, commands);
}

BOOST_AUTO_TEST_SUITE_END()

// Memory that runs out at any allocation while the file is used: an error, and the file can be opened again.

namespace {

thread_local int allocations_left = -1;  // -1: any number

void* allocate(std::size_t size) {
  if (allocations_left == 0) {
    allocations_left = -1;
    throw std::bad_alloc();
  }
  if (allocations_left > 0) --allocations_left;
  void* made = std::malloc(size == 0 ? 1 : size);
  if (!made) throw std::bad_alloc();
  return made;
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size); }
void* operator new[](std::size_t size) { return allocate(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return allocate(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* which) noexcept { std::free(which); }
void operator delete(void* which, std::size_t) noexcept { std::free(which); }
void operator delete[](void* which) noexcept { std::free(which); }
void operator delete[](void* which, std::size_t) noexcept { std::free(which); }

BOOST_FIXTURE_TEST_SUITE(spool_memory, file_case)

BOOST_AUTO_TEST_CASE(an_allocation_that_fails_is_an_error_and_not_the_end) {
  spool_file file(settings());
  BOOST_TEST_REQUIRE(!file.open({}).error);
  BOOST_TEST_REQUIRE(!file.commit(rows(1, 3)).error);
  const auto change = rows(4, 4);
  int failures = 0;
  for (int at = 0, in_vain = 0; in_vain < 3; ++at) {
    const auto fail = [&](auto work) {
      allocations_left = at;
      const error_code error = work().error;
      allocations_left = -1;
      const bool is_good = !error || error == boost::system::errc::not_enough_memory;
      BOOST_TEST(is_good, "allocation " << at << ": " << error.message());
      failures += error ? 1 : 0;
      if (!error) return false;
      const auto again = file.open(3);
      BOOST_TEST_REQUIRE(!again.error, again.trouble);
      return true;
    };
    in_vain = 0;
    if (!fail([&] { return file.open(3); })) ++in_vain;
    if (!fail([&] { return file.load(1, 3, 1'000); })) ++in_vain;
    if (!fail([&] { return file.commit(change); })) ++in_vain;
    BOOST_TEST_REQUIRE(!file.open(3).error);
  }
  BOOST_TEST(failures > 20);
  BOOST_TEST(file.load(1, 3, 1'000).rows.size() == 3u);
}

BOOST_AUTO_TEST_SUITE_END()

// The origins of the messages in a file: where they are stored, and when there is another one.

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
