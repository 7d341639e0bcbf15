// A disk without room: what was accepted is put and removed, and then there is room for more. What needs room has it
// before it begins.
#include "spool/failing_vfs.hpp"
#include "spool/file_case.hpp"
#include "spool/spooling.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

constexpr std::uintmax_t size_of_disk = 6u << 20;

/// Processes whose file is on a small disk, one after the other.
class small_disk {
 public:
  explicit small_disk(spool_durability durability = spool_durability::power, bool has_origins = false)
      : has_origins_(has_origins) {
    options_.durability = durability;
    options_.file = files_.path();
    options_.count = 64;
  }

  failing_vfs& vfs() { return vfs_; }
  simulated_items& items() { return *remains_.items; }
  std::string log() const { return files_.path() + "-wal"; }
  std::unique_ptr<spooling_process> begin() {
    return std::make_unique<spooling_process>(
        [this](boost::asio::any_io_executor strand, std::shared_ptr<step_plan> plan) {
          detail::spool_file_settings settings{options_.file, "/q", "p", options_.durability};
          settings.has_origins = has_origins_;
          return std::make_shared<file_disk>(std::move(strand), vfs_, std::move(plan), settings);
        },
        remains_.items, options_);
  }
  /// Puts until there have been failures for three seconds. Returns how many were accepted.
  std::size_t fill(spooling_process& life) {
    for (int second = 0; second < 3;) {
      std::vector<recorder<std::uint64_t>*> some;
      for (int i = 0; i < 256; ++i) some.push_back(&life.put(std::to_string(++last_) + ' ' + std::string(900, 'x')));
      life.pass(1s);
      life.settle();
      const bool have_failed =
          std::ranges::any_of(some, [](const auto* each) { return each->done() && each->error(); });
      second += have_failed ? 1 : 0;
    }
    const auto told = life.told();
    return static_cast<std::size_t>(std::ranges::count(told, "ok", &std::pair<std::string, std::string>::second));
  }
  void expect_put(spooling_process& life) {
    auto& put = life.put(std::to_string(++last_));
    life.pass(2s);
    life.pass(2s);
    BOOST_TEST_REQUIRE(put.done());
    BOOST_TEST(!put.error(), put.error().message() << " " << life.status().trouble);
  }
  /// So many at once, in one transaction if there is room.
  void expect_puts(spooling_process& life, std::size_t count) {
    std::vector<recorder<std::uint64_t>*> some;
    for (std::size_t i = 0; i < count; ++i) some.push_back(&life.put(std::to_string(++last_) + std::string(900, ' ')));
    for (int i = 0; i < 3; ++i) life.pass(2s);
    for (const auto* each : some) BOOST_TEST((each->done() && !each->error()), life.status().trouble);
  }
  void set_count(std::size_t count) { options_.count = count; }
  void note(spooling_process& life) { judge_.record_life(life); }
  void judge() { judge_.judge(items().all, true); }

 private:
  file_case files_;
  failing_vfs vfs_;
  bool has_origins_;
  spool_options options_ = small_spool();
  spool_remains remains_;
  spool_judge judge_;
  int last_ = 0;
};

constexpr std::array both_durabilities{spool_durability::process, spool_durability::power};

}  // namespace

BOOST_AUTO_TEST_SUITE(spool_room)

// The sizes differ by a page each: whether the last page of the file has its own block in time depends on that.
BOOST_AUTO_TEST_CASE(a_spool_that_has_filled_its_disk_puts_what_it_has_and_goes_on) {
  for (int i = 0; i < 8; ++i) {
    const auto durability = both_durabilities[i % 2];
    small_disk all(durability);
    all.vfs().limit_room(size_of_disk - static_cast<std::uintmax_t>(i / 2) * 4'096);
    all.items().is_away = true;
    auto life = all.begin();
    const auto accepted = all.fill(*life);
    BOOST_TEST(accepted > 500u);
    BOOST_TEST((life->status().error == spool_errc::disk_full), life->status().error.message());
    BOOST_TEST(life->status().is_open);
    BOOST_TEST(life->status().lag >= accepted);
    all.items().is_away = false;
    life->recover();
    BOOST_TEST(life->status().lag == 0u);
    BOOST_TEST(all.items().all.size() == accepted);
    BOOST_TEST(!life->status().error, life->status().trouble);
    for (int put = 0; put < 20; ++put) all.expect_put(*life);
    all.note(*life);
    all.judge();
  }
}

// The log has given its room to the file, where it is free then.
BOOST_AUTO_TEST_CASE(messages_for_which_the_log_has_no_room_together_go_in_one_after_the_other) {
  small_disk all;
  all.set_count(512);
  all.vfs().limit_room(size_of_disk);
  all.items().is_away = true;
  auto life = all.begin();
  all.fill(*life);
  all.items().is_away = false;
  life->recover();
  BOOST_TEST(life->status().lag == 0u);
  all.expect_puts(*life, 512);
  all.note(*life);
  all.judge();
}

BOOST_AUTO_TEST_CASE(a_process_that_begins_on_the_disk_that_the_last_one_filled_puts_what_it_has) {
  for (const bool has_origins : {false, true}) {
    small_disk all(spool_durability::power, has_origins);
    all.vfs().limit_room(size_of_disk);
    all.items().is_away = true;
    auto first = all.begin();
    const auto accepted = all.fill(*first);
    all.note(*first);
    first.reset();
    all.vfs().limit_room(all.vfs().bytes());  // others have taken what was left
    auto second = all.begin();
    BOOST_TEST((second->status().lag == spool_status::unknown));
    second->pass(1s);
    BOOST_TEST(second->status().is_open, second->status().trouble);
    BOOST_TEST(second->status().lag == accepted);
    all.items().is_away = false;
    second->recover();
    BOOST_TEST(second->status().lag == 0u);
    BOOST_TEST(all.items().all.size() == accepted);
    for (int i = 0; i < 20; ++i) all.expect_put(*second);
    all.note(*second);
    all.judge();
  }
}

// Nothing was reserved: the log has no place on the disk. With origins there is something to be written at the start.
BOOST_AUTO_TEST_CASE(without_any_room_messages_are_put_and_removed_when_there_is_some) {
  for (const bool has_origins : {false, true}) {
    small_disk all(spool_durability::power, has_origins);
    {
      auto first = all.begin();
      first->pass(1s);  // it asks how far the queue is
      all.items().is_away = true;
      for (int i = 1; i <= 100; ++i) first->put(std::to_string(i));
      first->pass(1s);
      auto end = first->close(1s);
      for (int i = 0; i < 3; ++i) first->pass(1s);
      BOOST_TEST(end.done());
      all.note(*first);
    }
    std::filesystem::remove(all.log());
    all.vfs().limit_room(all.vfs().bytes());
    all.items().is_away = false;
    auto second = all.begin();
    second->recover();
    BOOST_TEST(all.items().all.size() == 100u);
    BOOST_TEST(second->status().lag == 0u);
    BOOST_TEST((second->status().error == spool_errc::disk_full), second->status().error.message());
    auto& refused = second->put("101");
    second->pass(2s);
    BOOST_TEST_REQUIRE(refused.done());
    BOOST_TEST((refused.error() == spool_errc::disk_full), refused.error().message());
    all.vfs().limit_room(0);
    second->pass(2s);
    auto& put = second->put("102");
    second->pass(2s);
    BOOST_TEST_REQUIRE(put.done());
    BOOST_TEST(!put.error(), put.error().message());
    second->pass(2s);
    BOOST_TEST(!second->status().error, second->status().trouble);
    all.note(*second);
    all.judge();
    second.reset();
    auto third = all.begin();
    third->pass(1s);
    BOOST_TEST(third->status().lag == 0u);
  }
}

// The rest of the log must not be copied over what comes later.
BOOST_AUTO_TEST_CASE(a_power_failure_while_a_long_log_gives_its_room_to_the_file_loses_nothing) {
  constexpr std::uint64_t messages = 100;
  int changes = 0;
  for (int before_end = 0; before_end < 20; ++before_end) {
    BOOST_TEST_CONTEXT("end " << before_end << " changes before that of the transaction") {
      file_case files;
      failing_vfs vfs(static_cast<unsigned>(before_end) + 1);
      {
        detail::spool_file file(files.settings());
        BOOST_TEST_REQUIRE(!file.open({}).error);
        for (std::uint64_t last = 0; last < messages; last += 10) {
          BOOST_TEST_REQUIRE(!file.commit(file_case::rows(last + 1, last + 10, 0, 10'000)).error);
        }
        vfs.limit_room(vfs.bytes());
        const auto log = std::filesystem::file_size(files.path() + "-wal");
        const auto begin = vfs.changes();
        if (before_end > 0) vfs.end_behind(changes - before_end);
        detail::spool_change one;
        one.room = 250'000;
        one.unsent_from = messages + 1;
        const auto answer = file.commit(one);
        if (before_end == 0) {
          BOOST_TEST(!answer.error, answer.trouble);
          BOOST_TEST(std::filesystem::file_size(files.path() + "-wal") < log);
          changes = vfs.changes() - begin;
        }
      }
      vfs.lose_power();
      vfs.begin_again();
      vfs.limit_room(0);
      detail::spool_file file(files.settings());
      const auto found = file.open({});
      BOOST_TEST_REQUIRE(!found.error, found.trouble);
      BOOST_TEST(found.extent.last >= messages);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_file_system_that_does_not_say_what_it_has_is_not_taken_for_full) {
  small_disk all;
  all.vfs().say_nothing();
  auto life = all.begin();
  all.expect_put(*life);
}

BOOST_AUTO_TEST_CASE(a_file_that_could_not_be_closed_for_want_of_room_is_not_open) {
  bool fails = true;
  int failures = 0;
  for (int at = 0; fails; ++at) {
    BOOST_TEST_CONTEXT("write " << at) {
      small_disk all;
      auto life = all.begin();
      all.expect_put(*life);
      BOOST_TEST(life->status().is_open);
      all.vfs().begin_again();
      all.vfs().fail(failing_vfs::call::write, at, SQLITE_FULL, true);
      auto end = life->close();
      life->pass(2s);
      fails = all.vfs().has_failed();
      failures += fails;
      BOOST_TEST_REQUIRE(end.done());
      BOOST_TEST((end.error() == (fails ? make_error_code(spool_errc::disk_full) : error_code())),
                 end.error().message());
      BOOST_TEST(!life->status().is_open);
    }
  }
  BOOST_TEST(failures > 3, "those of the transaction and of the copy of the log");
}

BOOST_AUTO_TEST_CASE(a_corrupt_file_is_read_ever_more_rarely_and_puts_are_refused_within_seconds) {
  small_disk all;
  std::ofstream(all.log()) << "a log without its file";
  auto life = all.begin();
  for (int i = 0; i < 120; ++i) life->pass(1s);
  const auto looks = all.vfs().calls(failing_vfs::call::open);
  BOOST_TEST((looks > 3 && looks < 10), looks);
  auto& put = life->put("1");
  life->pass(2s);
  BOOST_TEST_REQUIRE(put.done());
  BOOST_TEST((put.error() == spool_errc::corrupt), put.error().message());
  std::filesystem::remove(all.log());
  for (int i = 0; i < 120; ++i) life->pass(1s);
  BOOST_TEST(life->status().is_open, life->status().trouble);
}

BOOST_AUTO_TEST_CASE(the_lag_of_a_file_that_could_not_be_opened_is_unknown) {
  small_disk all;
  std::ofstream(all.log()) << "a log without its file";
  auto life = all.begin();
  life->pass(5s);
  BOOST_TEST((life->status().error == spool_errc::corrupt), life->status().trouble);
  BOOST_TEST((life->status().lag == spool_status::unknown));
  BOOST_TEST((life->status().lag_bytes == spool_status::unknown));
}

BOOST_AUTO_TEST_SUITE_END()
