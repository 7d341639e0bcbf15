// A file or a log of which the disk has changed a bit, the cure that is printed, and files of version 1.
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "spool/file_case.hpp"

namespace zkrecipes::test {

/// Want of descriptors.
/// While it lives, only so many descriptors can be opened.
class few_descriptors {
 public:
  explicit few_descriptors(int count) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    int last = 0;
    for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
      last = std::max(last, std::stoi(each.path().filename()));
    }
    while (others_.empty() || others_.back() < last) others_.push_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    const rlimit few{static_cast<rlim_t>(others_.back() + 1 + count), before_.rlim_max};
    BOOST_TEST_REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
  }
  few_descriptors(const few_descriptors&) = delete;
  few_descriptors& operator=(const few_descriptors&) = delete;
  ~few_descriptors() {
    ::setrlimit(RLIMIT_NOFILE, &before_);
    for (const int each : others_) ::close(each);
  }

 private:
  rlimit before_{};
  std::vector<int> others_;
};

}  // namespace zkrecipes::test

using namespace zkrecipes;
using namespace zkrecipes::test;
using detail::spool_file;

namespace {

std::string content_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_to(const std::string& path, const std::string& what) { std::ofstream(path, std::ios::binary) << what; }

std::size_t count_of(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (auto at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++count;
  return count;
}

/// What a shell writes to its standard output.
std::string output_of(const std::string& command) {
  std::string all;
  std::array<char, 4096> part;
  auto* shell = ::popen(command.c_str(), "r");
  BOOST_TEST_REQUIRE(shell != nullptr);
  for (std::size_t size; (size = ::fread(part.data(), 1, part.size(), shell)) > 0;) all.append(part.data(), size);
  const int status = ::pclose(shell);
  BOOST_TEST((WIFEXITED(status) && WEXITSTATUS(status) != 127), command << ": status " << status);
  return all;
}

struct damage_case : file_case {
  static constexpr std::uint64_t messages = 40;

  std::string log() const { return path() + "-wal"; }
  /// A file of 40 messages, each in a transaction of its own, closed or left as by a kill.
  void make(bool is_closed, spool_durability durability = spool_durability::power) {
    auto with = settings();
    with.durability = durability;
    spool_file file(with);
    BOOST_TEST_REQUIRE(!file.open({}).error);
    for (std::uint64_t i = 1; i <= messages; ++i) BOOST_TEST_REQUIRE(!file.commit(rows(i, i, 0, 300)).error);
    if (is_closed) BOOST_TEST_REQUIRE(!file.finish().error);
  }
  /// All of it is there and as it was.
  void expect_whole(const detail::spool_answer& opened, spool_file& file) {
    BOOST_TEST_REQUIRE(opened.extent.last == messages);
    const auto all = file.load(1, messages, 1'000'000);
    BOOST_TEST_REQUIRE(all.rows.size() == messages);
    const auto expected = rows(1, messages, 0, 300);
    for (std::size_t i = 0; i < messages; ++i) {
      BOOST_TEST(all.rows[i].key == "key");
      BOOST_TEST(all.rows[i].data == expected.rows[i]->data);
    }
  }
  /// With one bit of this file changed in turn, at places that are spread over all of it.
  struct verdicts {
    int refused = 0;
    int whole = 0;
  };
  verdicts change_bits(const std::string& which, std::size_t size, std::size_t step) {
    verdicts found;
    const auto good = content();
    const auto good_log = content_of(log());
    const auto& before = which == log() ? good_log : good;
    for (std::size_t at = 0; at < std::min(size, before.size()); at += step) {
      BOOST_TEST_CONTEXT("bit " << at % 8 << " of byte " << at) {
        write(good);
        write_to(log(), good_log);
        auto changed = before;
        changed[at] = static_cast<char>(changed[at] ^ 1 << at % 8);
        write_to(which, changed);
        const auto damaged = content();
        const auto damaged_log = content_of(log());
        spool_file file(settings());
        const auto answer = file.open({});
        if (answer.error) {
          ++found.refused;
          BOOST_TEST((content() == damaged && content_of(log()) == damaged_log), "left as it is");
        } else {
          ++found.whole;
          expect_whole(answer, file);
        }
      }
    }
    return found;
  }
  /// The file is refused, and both are left as they are, however few descriptors there are.
  void expect_corrupt_with_few_descriptors() {
    const auto before = content();
    const auto log_before = content_of(log());
    detail::spool_answer answer;
    for (int count = 0; answer.error != spool_errc::corrupt; ++count) {
      spool_file file(settings());
      {
        const few_descriptors now(count);
        answer = file.open({});
      }
      BOOST_TEST_REQUIRE(answer.error, "with " << count << " descriptors");
      BOOST_TEST_REQUIRE((content() == before && content_of(log()) == log_before), "with " << count << " descriptors");
      if (answer.error == spool_errc::corrupt) BOOST_TEST(count > 2);
      if (count == 0) BOOST_TEST((answer.error == spool_errc::io_failed), answer.trouble);
    }
  }
  /// The commands in the words, between the apostrophes.
  static std::string commands_in(const std::string& trouble) {
    const auto begin = trouble.find('`') + 1;
    return trouble.substr(begin, trouble.find('`', begin) - begin);
  }
  /// What the operator is told to do keeps both files, and reads the others.
  std::string follow_cure() {
    const auto before = content();
    const auto log_before = content_of(log());
    std::string trouble;
    {
      spool_file file(settings());
      const auto answer = file.open({});
      BOOST_TEST_REQUIRE((answer.error == spool_errc::corrupt), answer.trouble);
      trouble = answer.trouble;
    }
    BOOST_TEST(trouble.find("\"-wal\"") != trouble.npos, trouble);
    const auto said = output_of("command -v sqlite3");
    BOOST_TEST_REQUIRE(!said.empty(), "sqlite3 is missing: tools/install-dependencies test");
    const auto dump = output_of(commands_in(trouble));
    const auto kept = path() + ".damaged/spool.db";
    BOOST_TEST((content_of(kept) == before && content_of(kept + "-wal") == log_before), "both are kept");
    spool_file file(settings());
    const auto anew = file.open({});
    BOOST_TEST(!anew.error, anew.trouble);
    BOOST_TEST(anew.extent.last == 0u);
    return dump;
  }
};

constexpr auto version_1 = R"(PRAGMA application_id = 2053862256; PRAGMA user_version = 1;
  CREATE TABLE spool (id INTEGER PRIMARY KEY CHECK (id = 1), path TEXT NOT NULL, name TEXT NOT NULL,
    put INTEGER NOT NULL, last INTEGER NOT NULL, base INTEGER NOT NULL, unsent_from INTEGER NOT NULL);
  CREATE TABLE message (number INTEGER PRIMARY KEY, key BLOB NOT NULL, data BLOB NOT NULL);
  INSERT INTO spool VALUES (1, '/q', 'p', 2, 4, -7, 0);
  INSERT INTO message VALUES (3, X'6B6579', X'33'), (4, X'6B6579', X'34'); PRAGMA journal_mode = WAL;)";

}  // namespace

BOOST_FIXTURE_TEST_SUITE(spool_damage, damage_case)

BOOST_AUTO_TEST_CASE(a_bit_of_the_log_that_has_changed_loses_nothing) {
  make(false);
  const auto good = content_of(log());
  spool_file(settings()).open({});
  const auto frames = static_cast<std::size_t>(messages * 2 * (24 + 4096));  // at least so much of it is in use
  BOOST_TEST_REQUIRE(good.size() > frames);
  write_to(log(), good);
  const auto found = change_bits(log(), frames, 2'477);
  BOOST_TEST(found.refused > 100);
  BOOST_TEST(found.whole == 0);
  const auto in_head = change_bits(log(), 32, 1);
  BOOST_TEST(in_head.refused == 32);
}

BOOST_AUTO_TEST_CASE(a_bit_of_the_file_that_has_changed_loses_and_alters_nothing) {
  make(true);
  const auto found = change_bits(path(), 36'000, 97);  // most of what is in use
  BOOST_TEST(found.refused > 100);
  BOOST_TEST(found.whole > 0, "some bytes are not in use");
}

BOOST_AUTO_TEST_CASE(a_message_that_was_altered_is_found_when_it_is_read) {
  make(true);
  const auto offset = content().find("7....................");
  BOOST_TEST_REQUIRE(offset != std::string::npos);
  spool_file file(settings());
  BOOST_TEST(!file.open({}).error);
  {
    std::fstream disk(path(), std::ios::in | std::ios::out | std::ios::binary);
    disk.seekp(static_cast<std::streamoff>(offset) + 5);
    disk << '!';
  }
  spool_file unread(settings());
  file.close();
  const auto answer = unread.open({});
  BOOST_TEST((answer.error == spool_errc::corrupt), answer.trouble);
  BOOST_TEST(answer.trouble.find(" is damaged; ") != answer.trouble.npos, answer.trouble);
}

BOOST_AUTO_TEST_CASE(an_empty_key_of_which_one_bit_makes_a_number_is_damage) {
  {
    auto change = rows(1, 1);
    change.rows.front() = std::make_shared<detail::spool_row>(detail::spool_row{1, "", "tea"});
    spool_file file(settings());
    BOOST_TEST_REQUIRE(!file.open({}).error);
    BOOST_TEST_REQUIRE(!file.commit(change).error);
    BOOST_TEST_REQUIRE(!file.finish().error);
  }
  meddle("UPDATE message SET key = 0");
  expect_refusal(settings(), spool_errc::corrupt, "message 1 is damaged");
}

BOOST_AUTO_TEST_CASE(numbers_that_were_altered_are_refused) {
  for (const auto* sql :
       {"UPDATE spool SET base = 5", "UPDATE spool SET unsent_from = 2", "UPDATE spool SET put = 1"}) {
    std::filesystem::remove(path());
    std::filesystem::remove(log());
    make(true);
    meddle(sql);
    expect_refusal(settings(), spool_errc::corrupt, "");
  }
}

BOOST_AUTO_TEST_CASE(the_cure_of_a_damaged_file_keeps_both_files_and_reads_the_rest) {
  make(true);
  auto damaged = content();
  const auto offset = damaged.find("7....................");
  BOOST_TEST_REQUIRE(offset != std::string::npos);
  damaged[offset + 5] = '!';
  write(damaged);
  const auto dump = follow_cure();
  BOOST_TEST(count_of(dump, "INSERT INTO message ") == messages, dump);
  // As the page tells it.
  BOOST_TEST(count_of(dump, "INSERT INTO message VALUES(7,X'6b6579',X'37") == 1u, dump);
  BOOST_TEST(count_of(dump, "INSERT INTO spool VALUES(1,X'2f71',X'70',0,40,") == 1u, dump);
}

BOOST_AUTO_TEST_CASE(the_cure_of_a_file_with_a_lost_page_reads_the_others) {
  make(true);
  auto damaged = content();
  BOOST_TEST_REQUIRE(damaged.size() > 7 * 4096u);
  for (std::size_t i = 6 * 4096; i < 7 * 4096; ++i) damaged[i] = static_cast<char>(i * 7);
  write(damaged);
  const auto count = count_of(follow_cure(), "INSERT INTO message ");
  BOOST_TEST((count >= messages - 15 && count < messages), count);
}

BOOST_AUTO_TEST_CASE(the_cure_of_a_damaged_log_reads_what_is_in_front_of_the_damage) {
  make(false);
  auto damaged = content_of(log());
  const auto half = static_cast<std::size_t>(messages / 2 * 2 * (24 + 4096));
  damaged[half] = static_cast<char>(damaged[half] ^ 1);
  write_to(log(), damaged);
  const auto count = count_of(follow_cure(), "INSERT INTO message ");
  BOOST_TEST((count >= messages / 3 && count < messages), count);
}

// Nothing was promised of what is behind the frame: it was not synced.
BOOST_AUTO_TEST_CASE(a_log_that_was_not_synced_ends_at_a_bad_frame_whatever_the_durability_is_now) {
  for (const auto before : {spool_durability::process, spool_durability::power}) {
    std::filesystem::remove(path());
    std::filesystem::remove(log());
    spool_file(settings()).open({});
    make(false, before);
    auto damaged = content_of(log());
    const auto half = static_cast<std::size_t>(messages / 2 * 2 * (24 + 4096));
    damaged[half] = static_cast<char>(damaged[half] ^ 1);
    write_to(log(), damaged);
    spool_file file(settings());
    const auto answer = file.open({});
    if (before == spool_durability::power) {
      BOOST_TEST((answer.error == spool_errc::corrupt), answer.error.message());
    } else {
      BOOST_TEST(!answer.error, answer.trouble);
      BOOST_TEST((answer.extent.last > 10 && answer.extent.last < messages), answer.extent.last);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_log_without_its_file_is_refused_and_kept) {
  make(false);
  const auto before = content_of(log());
  std::filesystem::remove(path());
  for (int i = 0; i < 2; ++i) {
    spool_file file(settings());
    const auto answer = file.open({});
    BOOST_TEST((answer.error == spool_errc::corrupt), answer.trouble);
    BOOST_TEST(answer.trouble.find("is missing or empty") != answer.trouble.npos, answer.trouble);
    BOOST_TEST((content_of(log()) == before));
  }
}

BOOST_AUTO_TEST_CASE(a_log_that_can_not_be_opened_for_want_of_descriptors_is_not_taken_for_none) {
  make(false);
  auto damaged = content_of(log());
  const auto half = static_cast<std::size_t>(messages / 2 * 2 * (24 + 4096));
  damaged[half] = static_cast<char>(damaged[half] ^ 1);
  write_to(log(), damaged);
  expect_corrupt_with_few_descriptors();
  write("");
  expect_corrupt_with_few_descriptors();
}

BOOST_AUTO_TEST_CASE(a_file_of_version_1_is_read_and_goes_on_as_version_2) {
  meddle(version_1);
  {
    spool_file file(settings());
    const auto found = file.open({});
    BOOST_TEST_REQUIRE(!found.error, found.trouble);
    BOOST_TEST(found.extent.put == 2u);
    BOOST_TEST(found.extent.last == 4u);
    BOOST_TEST(found.extent.base == -7);
    BOOST_TEST(!file.commit(rows(5, 6, 2)).error);
    const auto all = file.load(3, 100, 1'000'000);
    BOOST_TEST_REQUIRE(all.rows.size() == 4u, all.trouble);
    BOOST_TEST(all.rows[0].data == "3");
    BOOST_TEST(all.rows[3].data == "6.........");
    BOOST_TEST(!file.finish().error);
  }
  {
    spool_file file(settings());
    const auto found = file.open({});
    BOOST_TEST(!found.error, found.trouble);
    BOOST_TEST(file.load(3, 100, 1'000'000).rows.size() == 4u);
    BOOST_TEST(!file.finish().error);
  }
  meddle("UPDATE message SET data = X'00' WHERE number = 5");
  expect_refusal(settings(), spool_errc::corrupt, "message 5 is damaged");
  meddle("UPDATE message SET data = X'00', sum = NULL WHERE number = 5");
  expect_refusal(settings(), spool_errc::corrupt, "message 5 is damaged");
}

BOOST_AUTO_TEST_CASE(a_file_of_version_1_with_origins_keeps_them) {
  meddle(version_1);
  meddle(
      "CREATE TABLE origin (first INTEGER PRIMARY KEY, number INTEGER NOT NULL);"
      "INSERT INTO origin VALUES (3, 4611686018427387905)");
  auto with = settings();
  with.has_origins = true;
  {
    spool_file file(with);
    const auto found = file.open({});
    BOOST_TEST_REQUIRE(!found.error, found.trouble);
    BOOST_TEST(found.extent.origin > 4'611'686'018'427'387'905u);
    BOOST_TEST(file.load(3, 100, 1'000).rows.at(1).origin == 4'611'686'018'427'387'905u);
    BOOST_TEST(!file.finish().error);
  }
  meddle("UPDATE origin SET number = number + 1 WHERE first = 3");
  expect_refusal(with, spool_errc::corrupt, "a malformed row in its table of origins");
}

BOOST_AUTO_TEST_SUITE_END()
