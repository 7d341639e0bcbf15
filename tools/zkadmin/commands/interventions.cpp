#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "backend/zookeeper/real_world.hpp"
#include "base/tasks.hpp"
#include "base/text.hpp"
#include "change/commit_decision.hpp"
#include "change/group_change.hpp"
#include "change/node_change.hpp"
#include "change/resignation.hpp"
#include "change/waiting_line.hpp"
#include "commands/commands.hpp"
#include "commands/contact.hpp"
#include "commands/follow.hpp"
#include "commands/intervene.hpp"
#include "guardian/dead_session.hpp"
#include "servers/prober.hpp"
#include "session/core.hpp"
#include "sessions/session_end.hpp"
#include "sessions/session_reader.hpp"
#include "settings/values.hpp"

namespace zkadmin {

namespace {

namespace asio = boost::asio;
namespace backend = zkrecipes::backend;
namespace detail = zkrecipes::detail;
using zkrecipes::errc;
using namespace std::chrono_literals;

/// A session that is taken up needs a timeout of its own.
constexpr auto timeout_while_ending = 10s;

/// The command and its tasks share it, because a task may go on after the command has stopped waiting.
struct expiry : contact {
  expiry(const settings& with, std::int64_t which) : contact(with), session_id(which) {}
  std::int64_t session_id;
  led_terms terms;
  std::optional<session_status> connected;  ///< If a server says that it is connected there.
  std::vector<std::string> silent_servers;  ///< Those that have not told who is connected.
  detail::dead_session_result result;
};

std::string shown(std::int64_t session) { return hexadecimal(static_cast<std::uint64_t>(session)); }

detail::dead_session to_dead_session(const expiry& asked) {
  detail::dead_session dead{{asked.session_id, password_of(asked.session_id), timeout_while_ending}, {}, {}, {}, {}};
  dead.tls = secure_connections(asked.wanted);
  for (const auto& each : asked.wanted.servers) dead.servers.push_back({each.host, each.port});
  const auto& digest = asked.wanted.digest;
  if (digest) dead.digest.push_back({digest->user, digest->password});
  const auto prefix = chroot_of(asked.wanted);
  for (const auto& each : asked.terms.found)
    dead.terms.push_back({prefix + each.record, each.node, prefix + each.seat});
  return dead;
}

/// A third of the time is enough for servers that answer.
asio::awaitable<void> look_for_connection(std::shared_ptr<expiry> asked, deadline limit) {
  const auto now = std::chrono::steady_clock::now();
  const auto until = now + (limit - now) / 3;
  const auto& wanted = asked->wanted;
  const auto tls = secure_connections(wanted);
  std::vector<server_answers> answers(wanted.servers.size());
  const auto ask_one = [&](std::size_t i) -> asio::awaitable<void> {
    auto told = co_await ask_about_sessions(wanted.servers[i], wanted.admin_port, tls, until);
    answers[i] = std::move(told);
  };
  co_await for_each_index(answers.size(), answers.size(), ask_one);
  const auto all = sessions_of(std::move(answers), chroot_of(wanted));
  for (const auto& each : all.servers)
    if (!each.sessions) asked->silent_servers.push_back(each.server);
  for (const auto& each : all.found)
    if (each.id == asked->session_id && !each.server.empty()) asked->connected = each;
}

asio::awaitable<void> look(std::shared_ptr<expiry> asked, deadline limit) {
  co_await make_contact(asked);
  co_await look_for_connection(asked, limit);
  asked->terms = co_await find_led_terms(*asked->session, asked->wanted.root, asked->session_id, limit);
}

asio::awaitable<void> end(std::shared_ptr<expiry> asked, detail::scheduler_ptr on) {
  const auto until = on->now() + asked->wanted.timeout;
  asked->result = co_await asio::co_spawn(on->strand, detail::end_dead_session(on, to_dead_session(*asked), until),
                                          asio::use_awaitable);
}

/// Its process may be alive, or its machine may not have closed the connection.
std::string connection_text(const session_status& session) {
  auto text = "session " + shown(session.id) + " is connected: " + or_dash(session.client) + " at " + session.server;
  if (session.idle) text += ", idle for at least " + short_duration(*session.idle);
  return printable(text);
}

std::string plan_of(const expiry& asked) {
  std::string text;
  for (const auto& each : asked.terms.found) {
    text += "set " + printable(each.record) + " phase=died, if it names " + printable(each.node) + "\n";
  }
  for (const auto& each : asked.terms.waits_at) text += "leave the line of " + printable(each) + "\n";
  return text + "close session " + shown(asked.session_id) + "\n";
}

/// What was done, for the user. Throws `failure`, also if not all was done.
std::string report(surroundings& around, const expiry& asked, const std::string& because) {
  const auto& result = asked.result;
  const auto session = shown(asked.session_id);
  if (result.error == errc::session_expired)
    throw failure(exit_code::error, "session " + session + " is over already, or was never there: nothing was written");
  if (!result.is_closed) throw failure(exit_code::error, "ending session " + session + ": " + result.error.message());
  const auto done = "ended session " + session + ", because: " + printable(because) + "; " +
                    std::to_string(result.died) + " terms have died, " + std::to_string(result.passed_over) +
                    " were left alone";
  around.out << done << std::endl;
  if (result.error == errc::connection_loss)
    throw failure(
        exit_code::error,
        "not all records were written: each connection was lost. A process that lives takes its session back: "
        "fence it before its session is ended");
  if (result.error) throw failure(exit_code::error, "not all records were written: " + result.error.message());
  return done;
}

exit_code look_and_end(surroundings& around, deadline limit, const std::shared_ptr<expiry>& asked,
                       const std::string& because, bool read_write, const std::optional<std::string>& yes) {
  run_task(around.io, limit, *asked, look(asked, middle(limit)));
  const auto plan = plan_of(*asked);
  const auto about = asked->connected ? "# " + connection_text(*asked->connected) + "\n" : "";
  (read_write ? around.err : around.out) << about << plan << audit_plan(asked->wanted) << std::flush;
  for (const auto& each : asked->silent_servers)
    around.err << "zkadmin: note: " << printable(each) << " has not told whether the session is connected there\n";
  if (!asked->terms.complete) around.err << "zkadmin: note: the session may lead more than these\n";
  if (!read_write) {
    around.err
        << "zkadmin: nothing was sent; add --rw to end the session. Its process must not be able to act any more\n";
    return exit_code::error;
  }
  if (asked->connected)
    require_typed(around, "session", shown(asked->session_id), yes, "end it although it is connected");
  auto on = detail::make_scheduler("zkadmin", around.io.get_executor(), &backend::make_real_world);
  audited(around, asked, plan, [&] {
    run_task(around.io, std::chrono::steady_clock::now() + asked->wanted.timeout + 1s, *asked, end(asked, on));
    return report(around, *asked, because);
  });
  return exit_code::ok;
}

}  // namespace

exit_code expire_session(surroundings& around, const settings& wanted, const std::string& session,
                         const std::string& because, bool read_write, const std::optional<std::string>& yes) {
  if (because.empty()) throw failure(exit_code::usage, "--because: expected a reason");
  const deadline limit = std::chrono::steady_clock::now() + wanted.timeout;
  const auto asked = std::make_shared<expiry>(wanted, parse_session(session));
  const auto named = yes ? std::optional(shown(parse_session(*yes))) : yes;
  return run_in_contact(around.io, *asked, limit,
                        [&] { return look_and_end(around, limit, asked, because, read_write, named); });
}

namespace {

constexpr std::chrono::milliseconds default_wait = std::chrono::minutes(1);

/// A preparation that takes more than the path.
template <class... Told>
preparation with(boost::asio::awaitable<intervention> (*prepare)(zkrecipes::session, std::string, Told...),
                 std::type_identity_t<Told>... told) {
  return [=](zkrecipes::session session, std::string path) {
    return prepare(std::move(session), std::move(path), told...);
  };
}

sequel sequel_of(const wait_options& how, following follow) {
  if (how.limit && !how.wait) throw failure(exit_code::usage, "--for needs --wait");
  if (!how.wait) return {};
  return {std::move(follow), how.limit.value_or(default_wait)};
}

following until_drained(const std::string& member) {
  return [member](zkrecipes::session session, std::string group, std::string& told) {
    return follow_drain(std::move(session), std::move(group), member, told);
  };
}

following until_transferred(std::uint32_t shard, const std::string& member) {
  return [shard, member](zkrecipes::session session, std::string group, std::string& told) {
    return follow_transfer(std::move(session), std::move(group), shard, member, told);
  };
}

preparation prepare_revocation_of(const settings& wanted, const line_request& how) {
  const revocation_choice choice{how.of, how.grace, how.in_curators_form};
  return [choice, query = query_of_line(wanted, how), timeout = wanted.timeout](zkrecipes::session session,
                                                                                std::string at) {
    return prepare_revocation(std::move(session), std::move(at), query, choice,
                              std::chrono::steady_clock::now() + timeout);
  };
}

preparation prepare_eviction_of(const settings& wanted, const line_request& how) {
  const eviction_choice choice{how.node, how.id, how.force};
  return [choice, query = query_of_line(wanted, how), timeout = wanted.timeout](zkrecipes::session session,
                                                                                std::string at) {
    return prepare_eviction(std::move(session), std::move(at), query, choice,
                            std::chrono::steady_clock::now() + timeout);
  };
}

}  // namespace

recipe_query query_of_line(const settings& wanted, const line_request& how) {
  recipe_query query{std::nullopt, wanted.recipes};
  if (!how.kind.empty()) query.kind = parse_kind_argument(how.kind);
  return query;
}

exit_code change_recipe(surroundings& around, const settings& wanted, const invocation& asked) {
  const auto& path = asked.path;
  const bool read_write = asked.read_write;
  const auto& [member, shard, how] = asked.group;
  const auto& line = asked.line;
  const auto send = [&](preparation prepare, sequel then = {}) {
    return intervene(around, wanted, path, read_write, std::move(prepare), std::move(then));
  };
  switch (asked.command) {
    case command::resign:
      require_consistent(asked.resignation);
      if (asked.resignation.wait) return follow_resignation(around, wanted, path, read_write, asked.resignation);
      return send(prepare_resignation);
    case command::freeze: return send(prepare_freeze);
    case command::thaw: return send(prepare_thaw);
    case command::release:
      return send(asked.all_shards ? preparation(prepare_release_of_all) : with(prepare_release, asked.shard));
    case command::drain: {
      auto then = sequel_of(how, until_drained(member));
      return send(with(prepare_drain, member, how.wait), std::move(then));
    }
    case command::undrain: return send(with(prepare_undrain, member));
    case command::transfer: {
      auto then = sequel_of(how, until_transferred(shard, member));
      return send(with(prepare_transfer, shard, member, how.wait), std::move(then));
    }
    case command::unpin: return send(with(prepare_unpin, shard));
    case command::decide:
      return send(with(prepare_decision, asked.transaction, wanted.limits.transaction_limit, read_write));
    case command::revoke:
      require_revocation(line);
      if (line.wait) return follow_revocation(around, wanted, path, read_write, line);
      return send(prepare_revocation_of(wanted, line));
    case command::evict:
      require_eviction(line);
      return intervene(around, wanted, path, read_write, prepare_eviction_of(wanted, line), {}, line.yes);
    case command::drain_instance: return send(with(prepare_instance_drain, line.instance));
    case command::undrain_instance: return send(with(prepare_instance_undrain, line.instance));
    default: return exit_code::usage;
  }
}

}  // namespace zkadmin
