// `zkadmin queue letters`.
#include "cluster/letters.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <ostream>
#include <utility>

#include "base/tasks.hpp"
#include "base/text.hpp"
#include "change/intervention.hpp"
#include "change/letter_change.hpp"
#include "commands/commands.hpp"
#include "commands/contact.hpp"
#include "commands/intervene.hpp"
#include "report/message_report.hpp"
#include "settings/values.hpp"

namespace zkadmin {

namespace asio = boost::asio;

exit_code show_letters(surroundings& around, const settings& wanted, const queue_request& asked, output_format format) {
  const letter_source from{parse_path_argument(asked.path), asked.group};
  const auto list = std::make_shared<letter_list>();
  const auto trouble =
      run_errand(around, wanted, [list, from](zkrecipes::session session, deadline until) -> asio::awaitable<void> {
        *list = co_await read_dead_letters(std::move(session), from, until);
      });
  if (trouble) throw *trouble;
  around.out << formatted_letters(*list, format, std::chrono::system_clock::now());
  finish_output(around);
  if (list->not_read == 0) return exit_code::ok;
  around.err << "zkadmin: there are " << list->not_read << " more letters behind these\n";
  return exit_code::error;
}

// `zkadmin queue revive` and `zkadmin queue discard`.

namespace {

constexpr std::size_t most_steps_shown = 2;  // Before the question; without --rw all are shown.

const char* past_of(letter_fate fate) { return fate == letter_fate::discard ? "discarded" : "revived"; }

/// Throws `failure` if there is nothing to send.
void require_steps(const letter_plan& plan, const std::string& folder) {
  if (plan.letters > 0) return;
  if (plan.parked > 0) throw nothing_was_sent("the key is parked, so its letters are put back together or not at all");
  if (plan.strange > 0) throw nothing_was_sent("it is not of an item that this queue could have had");
  throw nothing_was_sent("there are no dead letters in " + folder);
}

/// The letters, and the ACL for items that are put back.
asio::awaitable<letter_list> read_letters(zkrecipes::session session, letter_source from, letter_fate fate,
                                          deadline until) {
  auto list = co_await read_dead_letters(session, from, until);
  if (fate == letter_fate::revive && !list.letters.empty()) list.access = co_await inherited_acl(session, from.path);
  co_return list;
}

asio::awaitable<intervention> prepare_one(zkrecipes::session session, letter_source from, letter_fate fate) {
  const auto list = co_await read_letters(std::move(session), from, fate, deadline::max());
  if (list.foreign > 0) throw nothing_was_sent(from.only + " holds no dead letter");
  auto plan = plan_letters(list, fate);
  require_steps(plan, list.folder);
  intervention change;
  change.requests = std::move(plan.steps.at(0).requests);
  change.same = {{list.folder + "/" + from.only, list.letters.at(0).czxid}};
  change.done = std::string(past_of(fate)) + " " + from.only + " of " + from.path;
  change.if_gone = "the letter has just been revived or discarded by another: nothing was done";
  change.if_changed = "the letter has just been written: nothing was done, look at it again";
  co_return change;
}

/// The command and its tasks share it, because a task may go on after the command has stopped waiting.
struct letter_errand : contact {
  letter_errand(const settings& with, letter_source whose, letter_fate which)
      : contact(with, "letters"), from(std::move(whose)), fate(which) {}
  letter_source from;
  letter_fate fate;
  letter_list listed{};
  letter_plan plan{};
  letter_result result{};
};
using letter_errand_ptr = std::shared_ptr<letter_errand>;

bool is_same_letter(const letter_status& a, const letter_status& b) {
  return a.letter.name == b.letter.name && a.czxid == b.czxid && a.version == b.version && a.is_parked == b.is_parked;
}

/// The user may have taken long to confirm. Throws `failure` unless the letters are those that were shown.
asio::awaitable<void> require_unchanged(letter_errand_ptr asked) {
  const auto present = co_await asked->session->async_sync(as_result);
  check(std::get<0>(present), "catching up");
  auto now = co_await read_dead_letters(*asked->session, asked->from, deadline::max());
  const auto& shown = asked->listed.letters;
  const bool is_shorter = now.letters.size() < shown.size();
  if (is_shorter || !std::equal(shown.begin(), shown.end(), now.letters.begin(), is_same_letter))
    throw failure(exit_code::error, "the letters have changed since they were shown: nothing was sent, try again");
}

asio::awaitable<void> carry_out(letter_errand_ptr asked) {
  co_await send_letters(*asked->session, asked->plan, asked->result);
}

std::string told(const letter_errand& asked) {
  return printable(std::string(past_of(asked.fate)) + " " + std::to_string(asked.result.done) + " of " +
                   counted(asked.plan.letters, "letter") + " of " + asked.from.path);
}

/// Returns what the user is told. Throws `failure`, also if not all was done.
std::string send_all(surroundings& around, const letter_errand_ptr& asked) {
  const auto limit = [&asked] { return std::chrono::steady_clock::now() + asked->wanted.timeout; };
  run_task(around.io, limit(), *asked, require_unchanged(asked));
  try {
    run_change(around.io, limit(), *asked, carry_out(asked));
  } catch (const failure& error) {
    throw failure(error.code(), told(*asked) + " for certain: " + error.what());
  }
  if (asked->result.is_changed)
    throw failure(exit_code::error,
                  told(*asked) + "; another has changed the next ones meanwhile, and the rest is as it was");
  return told(*asked);
}

std::string notes_of(const letter_errand& asked) {
  std::string text;
  const auto& plan = asked.plan;
  if (plan.parked > 0) text += "left out: " + counted(plan.parked, "letter") + " of parked keys\n";
  if (plan.strange > 0) text += "left out: " + counted(plan.strange, "letter") + " of no item of this queue\n";
  if (asked.listed.foreign > 0)
    text += "left out: nodes that are no letters, " + std::to_string(asked.listed.foreign) + "\n";
  if (asked.listed.not_read > 0)
    text += "left for later: " + std::to_string(asked.listed.not_read) + " newer letters\n";
  return text + counted(plan.letters, "letter") + "\n";
}

void list_all(surroundings& around, const letter_errand_ptr& asked) {
  const auto trouble =
      run_errand(around, asked->wanted, [asked](zkrecipes::session session, deadline until) -> asio::awaitable<void> {
        asked->listed = co_await read_letters(std::move(session), asked->from, asked->fate, until);
      });
  if (trouble) throw *trouble;
  asked->plan = plan_letters(asked->listed, asked->fate);
  require_steps(asked->plan, asked->listed.folder);
}

exit_code send_confirmed(surroundings& around, const letter_errand_ptr& asked, const std::string& requests) {
  const auto now = [] { return std::chrono::steady_clock::now(); };
  try {
    run_task(around.io, now() + asked->wanted.timeout, *asked, make_contact(asked));
    around.out << audited(around, asked, requests, [&] { return send_all(around, asked); }) << '\n';
    finish_output(around);
  } catch (const failure&) {
    end_contact(around.io, *asked, now());
    throw;
  }
  end_contact(around.io, *asked, now());
  return exit_code::ok;
}

exit_code change_all(surroundings& around, const settings& wanted, const queue_request& asked, letter_fate fate) {
  const auto path = parse_path_argument(asked.path);
  const auto work = std::make_shared<letter_errand>(wanted, letter_source{path, asked.group}, fate);
  list_all(around, work);
  const auto all = to_text(work->plan, work->plan.steps.size());
  const auto notes = notes_of(*work) + audit_plan(wanted);
  if (!asked.read_write) {
    around.out << all << notes;
    finish_output(around);
    around.err << "zkadmin: nothing was sent; add --rw to send this\n";
    return exit_code::error;
  }
  around.err << to_text(work->plan, most_steps_shown) << notes << std::flush;
  if (fate == letter_fate::discard)
    require_path(around, path, asked.yes, "discard " + counted(work->plan.letters, "letter"));
  return send_confirmed(around, work, all);
}

}  // namespace

exit_code change_letters(surroundings& around, const settings& wanted, const queue_request& asked, letter_fate fate) {
  if (asked.letter.empty() && !asked.all) throw failure(exit_code::usage, "expected the name of a letter, or --all");
  if (asked.yes && !asked.all) throw failure(exit_code::usage, "--yes needs --all");
  if (asked.all) return change_all(around, wanted, asked, fate);
  const letter_source from{{}, asked.group, asked.letter};
  return intervene(around, wanted, asked.path, asked.read_write,
                   [from, fate](zkrecipes::session session, std::string path) {
                     auto one = from;
                     one.path = std::move(path);
                     return prepare_one(std::move(session), std::move(one), fate);
                   });
}

// `zkadmin queue revive-key`.

exit_code revive_key(surroundings& around, const settings& wanted, const queue_request& asked) {
  const auto what = std::make_shared<key_to_revive>();
  const preparation prepare = [key = asked.key, what](zkrecipes::session session, std::string path) {
    return prepare_key_revival(std::move(session), std::move(path), key, what);
  };
  const following follow = [wanted, what](zkrecipes::session session, std::string path, std::string& told) {
    return revive_key(std::move(session), wanted, std::move(path), what, told);
  };
  return intervene(around, wanted, asked.path, asked.read_write, prepare, {follow, wanted.timeout});
}

}  // namespace zkadmin
