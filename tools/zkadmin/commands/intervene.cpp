#include "commands/intervene.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <ostream>
#include <utility>
#include <vector>

#include "base/text.hpp"
#include "change/audit.hpp"
#include "commands/contact.hpp"
#include "report/check_report.hpp"
#include "settings/values.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;

/// The result of a task. The command and the task share it, because the task may go on after the command has stopped
/// waiting.
struct request : contact {
  using contact::contact;
  std::string path{};
  preparation prepare{};
  std::optional<std::string> yes{};
  std::optional<intervention> prepared{};
  std::string told{};  ///< Where the sequel stands.
};

asio::awaitable<void> prepare_request(std::shared_ptr<request> asked) {
  asked->prepared = co_await asked->prepare(*asked->session, asked->path);
}

asio::awaitable<void> make_ready(std::shared_ptr<request> asked) {
  co_await make_contact(asked);
  co_await prepare_request(asked);
}

asio::awaitable<void> carry_out(std::shared_ptr<request> asked) { co_await send(*asked->session, *asked->prepared); }

asio::awaitable<void> go_on(std::shared_ptr<request> asked, following follow) {
  co_await follow(*asked->session, asked->path, asked->told);
}

/// Throws `failure` if the end does not come in time.
void follow_to_end(surroundings& around, const std::shared_ptr<request>& asked, const sequel& then) {
  const deadline until = std::chrono::steady_clock::now() + then.limit;
  try {
    run_task(around.io, until, *asked, go_on(asked, then.follow));
  } catch (const failure& error) {
    const bool is_late = std::chrono::steady_clock::now() >= until && !asked->told.empty();
    if (is_late) throw failure(exit_code::error, printable(asked->told) + " after " + short_duration(then.limit));
    throw failure(error.code(), printable(error.what()));
  }
  around.out << printable(asked->told) << std::endl;
}

/// The user may have taken long to type, and has confirmed what was shown.
void require_confirmation(surroundings& around, const std::shared_ptr<request>& asked) {
  const auto path = asked->prepared->to_confirm;
  if (path.empty() || !require_path(around, path, asked->yes, "do this")) return;
  const auto shown = *asked->prepared;
  run_task(around.io, std::chrono::steady_clock::now() + asked->wanted.timeout, *asked, prepare_request(asked));
  const auto& present = *asked->prepared;
  if (present.same != shown.same || present.requests.operations() != shown.requests.operations())
    throw failure(exit_code::error, printable(path) + " has changed meanwhile: nothing was sent, look at it again");
}

exit_code ask(surroundings& around, const std::shared_ptr<request>& asked, bool read_write) {
  const auto requests = to_text(asked->prepared->requests);
  const auto& because = asked->prepared->because;
  const auto reason = because.empty() ? because : "# " + printable(because) + "\n";
  (read_write ? around.err : around.out) << reason << requests << audit_plan(asked->wanted) << std::flush;
  if (!read_write) {
    around.err << "zkadmin: nothing was sent; add --rw to send this\n";
    return exit_code::error;
  }
  require_confirmation(around, asked);
  const auto done = audited(around, asked, requests, [&] {
    // The log may have taken long. A task that is begun after its limit would be sent, and be told as failed.
    const deadline until = std::chrono::steady_clock::now() + asked->wanted.timeout;
    run_change(around.io, until, *asked, carry_out(asked));
    return asked->prepared->done;
  });
  around.out << printable(done) << std::endl;
  return exit_code::ok;
}

}  // namespace

exit_code intervene(surroundings& around, const settings& wanted, const std::string& path, bool read_write,
                    preparation prepare, sequel then, const std::optional<std::string>& yes) {
  const auto checked = parse_path_argument(path);
  const deadline limit = std::chrono::steady_clock::now() + wanted.timeout;
  const auto asked = std::make_shared<request>(wanted);
  asked->path = checked;
  asked->prepare = std::move(prepare);
  asked->yes = yes;
  return run_in_contact(around.io, *asked, limit, [&] {
    run_task(around.io, limit, *asked, make_ready(asked));
    const exit_code code = asked->prepared->requests.empty() ? exit_code::ok : ask(around, asked, read_write);
    if (then.follow && code == exit_code::ok) follow_to_end(around, asked, then);
    return code;
  });
}

namespace {

asio::awaitable<void> log_in_node(std::shared_ptr<contact> with, audit_entry entry) {
  co_await write_audit_node(*with->session, with->wanted.audit_path, std::move(entry));
}

/// Throws `failure`, as the next. False if there is no such log.
bool write_file(surroundings& around, const contact& with, const audit_entry& entry) {
  const auto& file = with.wanted.audit_file;
  if (file.empty()) return false;
  const auto doubt = append_audit_line(file, entry);
  if (!doubt.empty() && entry.state == audit_state::begun)
    around.err << "zkadmin: note: audit_file: " << printable(file) << ": " << doubt << std::endl;
  return true;
}

void write_node(surroundings& around, const std::shared_ptr<contact>& with, const audit_entry& entry) {
  if (with->wanted.audit_path.empty()) return;
  const deadline limit = std::chrono::steady_clock::now() + with->wanted.timeout;
  run_task(around.io, limit, *with, log_in_node(with, entry));
}

audit_entry ended(audit_entry entry, audit_state state, const std::string& result) {
  entry.state = state;
  entry.result = result;
  return entry;
}

/// What has been done can not be taken back, so a log that can not be written now is told, and no more.
template <class Write>
void write_end(surroundings& around, Write write) {
  try {
    write();
  } catch (const failure& error) {
    around.err << "zkadmin: note: the result is not in the audit log: " << error.what() << std::endl;
  }
}

void write_end(surroundings& around, const std::shared_ptr<contact>& with, const audit_entry& entry) {
  write_end(around, [&] {
    write_file(around, *with, entry);
    write_node(around, with, entry);
  });
}

/// If the file has the beginning and the node can not be written, the file gets the end, too.
void write_beginning(surroundings& around, const std::shared_ptr<contact>& with, const audit_entry& entry) {
  bool is_in_file = false;
  try {
    is_in_file = write_file(around, *with, entry);
    write_node(around, with, entry);
  } catch (const failure& error) {
    const auto why = std::string(error.what()) + ": nothing was sent";
    if (is_in_file) write_end(around, [&] { write_file(around, *with, ended(entry, audit_state::failed, why)); });
    throw failure(error.code(), why);
  }
}

struct audit_request : contact {
  using contact::contact;
  audit_log log;
};

asio::awaitable<void> read_node(std::shared_ptr<audit_request> asked) {
  co_await make_contact(asked);
  asked->log = co_await read_audit_node(*asked->session, asked->wanted.audit_path);
}

audit_log log_of_node(surroundings& around, const settings& wanted) {
  const deadline limit = std::chrono::steady_clock::now() + wanted.timeout;
  const auto asked = std::make_shared<audit_request>(wanted, "interventions");
  try {
    run_task(around.io, limit, *asked, read_node(asked));
    end_contact(around.io, *asked, limit);
  } catch (const failure&) {
    end_contact(around.io, *asked, limit);
    throw;
  }
  const auto unreadable = asked->log.unreadable;
  if (unreadable > 0)
    around.err << "zkadmin: note: " << printable(wanted.audit_path) << ": " << unreadable
               << " entries of a later version are not shown\n";
  return std::move(asked->log);
}

audit_log log_of_file(surroundings& around, const settings& wanted) {
  auto lines = read_audit_lines(wanted.audit_file);
  const auto print = [&](const std::string& text) {
    around.err << "zkadmin: note: " << printable(wanted.audit_file) << ": " << text << '\n';
  };
  if (lines.is_cut) print("only the last MiB was read");
  if (lines.unreadable > 0) print(std::to_string(lines.unreadable) + " lines are no entries");
  return {std::move(lines.entries), lines.unreadable};
}

/// An entry that is in both logs may have its end in one of them only.
void merge(std::vector<audit_entry>& all, std::vector<audit_entry> more) {
  for (auto& each : more) {
    const auto is_it = [&each](const auto& other) { return other.id == each.id; };
    const bool is_known = std::any_of(all.begin(), all.end(), is_it);
    if (!is_known || each.state != audit_state::begun) put(all, std::move(each));
  }
}

}  // namespace

std::string audit_plan(const settings& wanted) {
  std::string text;
  if (!wanted.audit_file.empty()) text += "audit file " + printable(wanted.audit_file) + "\n";
  if (!wanted.audit_path.empty()) text += "audit node " + printable(wanted.audit_path) + "\n";
  return text;
}

std::string audited(surroundings& around, const std::shared_ptr<contact>& with, const std::string& requests,
                    const std::function<std::string()>& act) {
  const auto entry = new_entry(with->wanted.name, around.command, requests);
  write_beginning(around, with, entry);
  try {
    auto done = act();
    write_end(around, with, ended(entry, audit_state::done, done));
    return done;
  } catch (const failure& error) {
    write_end(around, with, ended(entry, audit_state::failed, error.what()));
    throw;
  }
}

exit_code show_audit(surroundings& around, const settings& wanted, output_format format) {
  if (wanted.audit_file.empty() && wanted.audit_path.empty())
    throw failure(exit_code::usage, "there is no audit log: set audit_file or audit_path");
  audit_log all;
  if (!wanted.audit_path.empty()) all = log_of_node(around, wanted);
  if (!wanted.audit_file.empty()) {
    auto more = log_of_file(around, wanted);
    merge(all.entries, std::move(more.entries));
    all.unreadable += more.unreadable;
  }
  std::stable_sort(all.entries.begin(), all.entries.end(),
                   [](const auto& a, const auto& b) { return a.at_ms < b.at_ms; });
  around.out << formatted_audit(all.entries, format, all.unreadable == 0) << std::flush;
  if (!around.out) throw failure(exit_code::error, "the output could not be written");
  if (all.unreadable > 0) throw failure(exit_code::error, "there are more interventions than these");
  return exit_code::ok;
}

}  // namespace zkadmin
