// Faults of the file system below the real file: each call of SQLite fails once, or from then on, and the power fails
// behind it.
#include <set>

#include "spool/failing_vfs.hpp"
#include "spool/file_case.hpp"
#include "spool/spooling.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;
using call = failing_vfs::call;

namespace {

struct io_fault {
  call which;
  int result;
  spool_errc told;
};

constexpr std::array all_io_faults{
    io_fault{call::sync, SQLITE_IOERR_FSYNC, spool_errc::io_failed},
    io_fault{call::write, SQLITE_FULL, spool_errc::disk_full},
    io_fault{call::write, SQLITE_IOERR_WRITE, spool_errc::io_failed},
    io_fault{call::read, SQLITE_IOERR_READ, spool_errc::io_failed},
    io_fault{call::truncate, SQLITE_IOERR_TRUNCATE, spool_errc::io_failed},
    io_fault{call::size, SQLITE_IOERR_FSTAT, spool_errc::io_failed},
    io_fault{call::open, SQLITE_CANTOPEN, spool_errc::no_access},
    io_fault{call::remove, SQLITE_IOERR_DELETE, spool_errc::io_failed},
};

/// A folder, a file system and a queue, and the processes that use them one after the other.
class io_history {
 public:
  explicit io_history(spool_durability durability, unsigned seed = 1, bool has_origins = false)
      : vfs_(seed), has_origins_(has_origins) {
    options_.durability = durability;
    options_.file = files_.path();
  }

  failing_vfs& vfs() { return vfs_; }
  spool_remains& remains() { return remains_; }

  /// Puts ten messages in two groups. What failed has told why by then.
  void live(const io_fault& fault, bool may_lose = false) {
    spooling_process life(maker(), remains_.items, options_);
    for (int i = 1; i <= 10; ++i) {
      life.put(std::to_string(i) + ' ' + std::string(900, 'x'));  // some fill a page, so the tree of pages grows
      if (i == 6) pass(life, fault);
    }
    pass(life, fault);
    for (int i = 0; i < 5 && !life.plan().is_crashed; ++i) life.pass(1s);
    vfs_.heal();
    life.recover();
    if (!life.plan().is_crashed) BOOST_TEST(life.status().is_open, life.status().trouble);
    judge_.record_life(life, may_lose);
  }

  /// Another process goes on with what is left, without faults.
  void live_on(bool no_failed_one) {
    vfs_.begin_again();
    remains_.items->is_away = false;
    spooling_process next(maker(), remains_.items, options_);
    next.put("100");
    auto end = next.flush();
    next.recover();
    BOOST_TEST_REQUIRE(end.done());
    BOOST_TEST(!end.error(), end.error().message() << " " << next.status().trouble);
    BOOST_TEST(next.status().lag == 0u);
    BOOST_TEST(next.status().gap == 0u);
    judge_.record_life(next);
    judge_.judge(remains_.items->all, no_failed_one);
    BOOST_TEST_REQUIRE(!remains_.items->all.empty());
    BOOST_TEST(remains_.items->all.back() == "100");
  }

 private:
  spooling_process::disk_maker maker() {
    return [this](boost::asio::any_io_executor strand, std::shared_ptr<step_plan> plan) {
      detail::spool_file_settings settings{options_.file, "/q", "p", options_.durability};
      settings.has_origins = has_origins_;
      return std::make_shared<file_disk>(std::move(strand), vfs_, std::move(plan), settings);
    };
  }
  /// A put that fails now does so with the error of the fault, and the status names the file.
  void pass(spooling_process& life, const io_fault& fault) {
    life.pass(20ms);
    const auto expected = make_error_code(fault.told).message();
    for (const auto& [name, what] : life.told()) {
      if (what == "ok" || what.empty() || !failed_.insert(name).second) continue;
      BOOST_TEST(what == expected, name << ": " << what);
      BOOST_TEST(life.status().trouble.starts_with(options_.file + ": "), life.status().trouble);
    }
  }

  file_case files_;
  failing_vfs vfs_;
  bool has_origins_;
  spool_options options_ = small_spool();
  spool_remains remains_;
  spool_judge judge_;
  std::set<std::string> failed_;
};

constexpr std::array durabilities{spool_durability::process, spool_durability::power};
constexpr io_fault no_fault{call::sync, SQLITE_OK, spool_errc::io_failed};

/// So many calls there are without a fault.
int calls_without_faults(spool_durability durability, call which, bool has_origins = false) {
  io_history all(durability, 1, has_origins);
  all.live(no_fault);
  return all.vfs().calls(which);
}

/// Once, and from then on.
void fail_each_call(spool_durability durability, const io_fault& fault, bool has_origins) {
  const int calls = calls_without_faults(durability, fault.which, has_origins);
  int failures = 0;
  for (int at = 0; at < calls; ++at) {
    for (const bool lasts : {false, true}) {
      BOOST_TEST_CONTEXT("durability " << static_cast<int>(durability) << ", result " << fault.result << " at call "
                                       << at << (lasts ? " and behind it" : "")) {
        io_history all(durability, 1, has_origins);
        all.vfs().fail(fault.which, at, fault.result, lasts);
        all.live(fault);
        failures += all.vfs().has_failed();
        all.live_on(true);
      }
    }
  }
  BOOST_TEST(failures == 2 * calls, "each has failed once");
  BOOST_TEST_MESSAGE("durability " << static_cast<int>(durability) << ", result " << fault.result << ": " << calls
                                   << " calls");
}

constexpr std::uint64_t messages_of_commit = 12;

/// The pages of each differ from those of the 94 before it.
constexpr std::size_t large = 100'000;
std::string message_of(std::uint64_t number, std::size_t size) {
  return std::to_string(number) + std::string(size, static_cast<char>(' ' + number % 95));
}

/// Transactions of 1.2 MB, so that the log is copied after each fourth one. Three of them stay, so pages are
/// used again that were copied into the file long before. Returns what was confirmed last.
std::uint64_t write_much(detail::spool_file& file, int transactions) {
  std::uint64_t last = 0;
  for (int i = 0; i < transactions; ++i) {
    detail::spool_change change;
    for (std::uint64_t k = 1; k <= messages_of_commit; ++k) {
      change.rows.push_back(
          std::make_shared<detail::spool_row>(detail::spool_row{last + k, "", message_of(last + k, large)}));
    }
    constexpr auto kept = 2 * messages_of_commit;
    change.put = last > kept ? last - kept : 0;
    const auto answer = file.commit(change);
    if (!answer.error) last += messages_of_commit;
    if (answer.error) {
      BOOST_TEST((answer.error == spool_errc::io_failed), answer.trouble);
      const auto again = file.open(last);
      BOOST_TEST(!again.error, again.trouble);
    }
  }
  return last;
}

/// What the file has is what was written.
void expect_whole(detail::spool_file& file, std::uint64_t least, std::uint64_t most, std::size_t size) {
  const auto found = file.open({});
  BOOST_TEST_REQUIRE(!found.error, found.trouble);
  BOOST_TEST(found.extent.last >= least);
  BOOST_TEST(found.extent.last <= most);
  for (auto next = found.extent.put + 1; next <= found.extent.last; ++next) {
    const auto one = file.load(next, 1, 1);
    BOOST_TEST_REQUIRE(!one.error, one.trouble);
    BOOST_TEST((one.rows[0].data == message_of(next, size)), next << " has other bytes");
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(spool_io_faults)

BOOST_AUTO_TEST_CASE(a_failure_of_any_call_loses_nothing_and_repeats_nothing) {
  for (const auto durability : durabilities) {
    for (const auto& fault : all_io_faults) fail_each_call(durability, fault, false);
  }
}

BOOST_AUTO_TEST_CASE(a_failure_of_any_call_on_a_file_with_origins_loses_nothing_and_repeats_nothing) {
  for (const auto& fault : all_io_faults) fail_each_call(spool_durability::power, fault, true);
}

// The messages stay in the file, because the queue is away, and the power fails when the file has been repaired.
BOOST_AUTO_TEST_CASE(a_power_failure_behind_a_sync_that_failed_loses_nothing) {
  for (const auto durability : durabilities) {
    const int calls = calls_without_faults(durability, call::sync);
    for (int at = 0; at < calls; ++at) {
      BOOST_TEST_CONTEXT("durability " << static_cast<int>(durability) << ", sync " << at) {
        io_history all(durability, static_cast<unsigned>(at) + 1);
        all.remains().items->is_away = true;
        all.vfs().fail(call::sync, at, SQLITE_IOERR_FSYNC);
        all.live(all_io_faults[0], durability == spool_durability::process);
        all.vfs().lose_power();
        all.live_on(true);
      }
    }
  }
}

// Also during the repair.
BOOST_AUTO_TEST_CASE(a_power_failure_at_any_change_behind_a_sync_that_failed_loses_nothing) {
  for (const auto durability : durabilities) {
    const int calls = calls_without_faults(durability, call::sync);
    for (int at = 0; at < calls; ++at) {
      bool has_ended = true;
      for (int end = 0; has_ended; ++end) {
        BOOST_TEST_CONTEXT("durability " << static_cast<int>(durability) << ", sync " << at << ", end at " << end) {
          io_history all(durability, static_cast<unsigned>(at * 1'000 + end) + 1);
          all.remains().items->is_away = true;
          all.vfs().fail(call::sync, at, SQLITE_IOERR_FSYNC);
          all.vfs().end_behind_failure(end);
          all.live(all_io_faults[0], durability == spool_durability::process);
          has_ended = all.vfs().has_ended();
          all.vfs().lose_power();
          all.live_on(false);
        }
      }
    }
  }
}

// What a process leaves of its log must not be copied over what the next one writes.
BOOST_AUTO_TEST_CASE(a_power_failure_at_any_change_of_processes_that_end_in_order_loses_nothing) {
  constexpr int transactions = 5;
  constexpr std::size_t small = 900;
  for (const auto durability : durabilities) {
    bool has_ended = true;
    for (int end = 0; has_ended; ++end) {
      BOOST_TEST_CONTEXT("durability " << static_cast<int>(durability) << ", end at " << end) {
        file_case files;
        failing_vfs vfs(static_cast<unsigned>(end) + 1);
        auto settings = files.settings();
        settings.durability = durability;
        vfs.end_behind(end);
        std::uint64_t last = 0;
        std::uint64_t durable = 0;
        for (int life = 0; life < 3 && !vfs.has_ended(); ++life) {
          detail::spool_file file(settings);
          if (file.open({}).error) break;
          for (int i = 0; i < transactions && !vfs.has_ended(); ++i) {
            detail::spool_change change;
            change.rows = {
                std::make_shared<detail::spool_row>(detail::spool_row{last + 1, "", message_of(last + 1, small)})};
            if (file.commit(change).error) break;
            ++last;
            if (durability == spool_durability::power) durable = last;
          }
          if (!vfs.has_ended() && !file.finish().error) durable = last;
        }
        has_ended = vfs.has_ended();
        vfs.lose_power();
        vfs.begin_again();
        detail::spool_file file(settings);
        expect_whole(file, durable, last + 1, small);
      }
    }
  }
}

// Without a sync of each transaction the log is synced when it is copied into the file.
BOOST_AUTO_TEST_CASE(a_sync_that_failed_while_a_long_log_is_copied_is_not_relied_on) {
  constexpr int transactions = 9;  // the log is copied behind the fourth, the eighth, and the ninth
  constexpr int runs_of_each = 8;
  int failures = 0;
  for (int run = 0, calls = 1; run < runs_of_each * calls; ++run) {
    BOOST_TEST_CONTEXT("run " << run) {
      file_case files;
      failing_vfs vfs(static_cast<unsigned>(run) + 1);
      auto settings = files.settings();
      settings.durability = spool_durability::process;
      detail::spool_file file(settings);
      BOOST_TEST_REQUIRE(!file.open({}).error);
      vfs.begin_again();
      vfs.fail(call::sync, run / runs_of_each, SQLITE_IOERR_FSYNC);
      const auto last = write_much(file, transactions);
      calls = std::max(calls, vfs.calls(call::sync));
      failures += vfs.has_failed();
      vfs.heal();
      file.close();
      vfs.lose_power();
      expect_whole(file, 0, last, large);
    }
  }
  BOOST_TEST(failures >= runs_of_each * 6, "each sync of a run without failures");
}

BOOST_AUTO_TEST_SUITE_END()
