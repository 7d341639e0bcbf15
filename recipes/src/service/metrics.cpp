#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <zkrecipes/service/metrics.hpp>

namespace zkrecipes::service {
namespace {

using labels = metrics_page::labels;

// Tables of figures: which member of a struct is which metric.

auto value_of(std::integral auto number) { return number; }
double value_of(double number) { return number; }
template <class Count, class Period>
double value_of(std::chrono::duration<Count, Period> length) {
  return std::chrono::duration<double>(length).count();
}
int value_of(bool is_so) { return is_so ? 1 : 0; }
int value_of(const error_code& error) { return error ? 1 : 0; }
/// A text is 1 if there is one. What it says is left to the log, because each new text would begin a new time series.
int value_of(const std::string& text) { return text.empty() ? 0 : 1; }
/// The number of the elements.
template <class Element>
std::size_t value_of(const std::vector<Element>& list) {
  return list.size();
}

/// A row of a table. By the convention of Prometheus the name ends with _total if the figure only grows.
template <class Status, class Member>
struct figure {
  const char* name;
  const char* help;
  Member Status::*member;
};

template <class Status, class... Members>
constexpr auto table_of(figure<Status, Members>... rows) {
  return std::tuple(rows...);
}

/// Adds all figures of a table; `prefix` goes in front of their names.
template <class Status, class Table>
void add_figures(metrics_page& page, const std::string& prefix, const Table& rows, const Status& now,
                 const labels& of) {
  const auto add = [&](const auto& row) {
    const auto name = prefix + row.name;
    const auto value = value_of(now.*row.member);
    name.ends_with("_total") ? page.counter(name, row.help, value, of) : page.gauge(name, row.help, value, of);
  };
  std::apply([&](const auto&... each) { (add(each), ...); }, rows);
}

constexpr auto session_figures = table_of(
    figure{"disturbed", "1 if there is a reason why the connection or session ended.", &session_status::reason},
    figure{"incarnation", "Number of the present ZooKeeper session.", &session_status::incarnation},
    figure{"id", "The server's id of the present ZooKeeper session; 0: there is none.", &session_status::session_id},
    figure{"timeout_seconds", "Session timeout as the server granted it.", &session_status::timeout},
    figure{"state_changes_total", "Changes of state.", &session_status::changes},
    figure{"failing_servers", "Servers whose last connection failed.", &session_status::failures},
    figure{"guarded", "1 if a guardian holds what the session has told it.", &session_status::is_guarded});

constexpr auto session_counter_figures =
    table_of(figure{"requests_total", "Requests sent.", &session_counters::requests},
             figure{"answers_total", "Answers received.", &session_counters::answers},
             figure{"retries_total", "Requests that were sent again.", &session_counters::retries},
             figure{"connects_total", "Connections established.", &session_counters::connects},
             figure{"incarnations_total", "ZooKeeper sessions established.", &session_counters::incarnations},
             figure{"watch_events_total", "Watch events received.", &session_counters::watch_events},
             figure{"heartbeats_total", "Heartbeats sent.", &session_counters::heartbeats},
             figure{"guardian_failures_total", "Failures of the guardian.", &session_counters::guardian_failures});

constexpr auto consumer_figures = table_of(
    figure{"received_total", "Messages read.", &queue_consumer_status::received},
    figure{"done_total", "Messages processed and acknowledged.", &queue_consumer_status::done},
    figure{"again_total", "Failed attempts.", &queue_consumer_status::again},
    figure{"parked_total", "Messages that became dead letters.", &queue_consumer_status::parked},
    figure{"passed_over_total", "Messages that another client removed.", &queue_consumer_status::passed_over},
    figure{"lost_total", "At most once: messages whose only attempt failed.", &queue_consumer_status::lost},
    figure{"declined_total", "Duplicates acknowledged without being processed.", &queue_consumer_status::declined},
    figure{"repeated_total", "Repeats of a producer acknowledged unprocessed.", &queue_consumer_status::repeated},
    figure{"forgotten_total", "Producers whose marks were dropped.", &queue_consumer_status::forgotten},
    figure{"evicted_total", "Calls given up because a duplicate waited.", &queue_consumer_status::evicted},
    figure{"waited_total", "Calls made after a wait for the limit.", &queue_consumer_status::waited},
    figure{"commits_total", "Transactions that settled messages.", &queue_consumer_status::commits},
    figure{"refused_total", "Transactions refused because of one message.", &queue_consumer_status::refused},
    figure{"in_hand", "Messages being processed.", &queue_consumer_status::in_hand},
    figure{"finished", "Messages processed and not committed yet.", &queue_consumer_status::finished},
    figure{"held_back", "Messages that wait for another one.", &queue_consumer_status::held_back},
    figure{"resting", "Messages that wait for their next attempt.", &queue_consumer_status::resting},
    figure{"limited", "Messages that wait for the limit.", &queue_consumer_status::limited},
    figure{"last_commit_messages", "Messages in the last transaction.", &queue_consumer_status::last_commit},
    figure{"held_off", "1 while all attempts fail, and nothing but probes is begun.", &queue_consumer_status::held_off},
    figure{"oldest_age_seconds", "Age of the oldest message in hand, since it was put.",
           &queue_consumer_status::oldest});

constexpr auto shard_figures = table_of(
    figure{"epoch", "Epoch of the last term of this member on the shard.", &shard_status::epoch},
    figure{"failures_total", "Failures of the career, its factory and its take-overs.", &shard_status::failures},
    figure{"failed", "1 if the shard has failed here.", &shard_status::last_failure});

constexpr auto group_figures = table_of(
    figure{"member", "1 while this process is a member of the shard group.", &shard_group_status::member},
    figure{"planner", "1 if this member plans for all.", &shard_group_status::is_planner},
    figure{"planner_failing", "1 if this member can not plan or stand for planner.",
           &shard_group_status::planner_error},
    figure{"troubled", "1 while this member waits until people let it into the group.", &shard_group_status::trouble},
    figure{"draining", "1 while this member gives its shards away.", &shard_group_status::is_draining},
    figure{"failing", "1 while most shards of this member fail, and it asks for none.", &shard_group_status::failing},
    figure{"plan", "Number of the plan that this member's shards were assigned by.", &shard_group_status::plan},
    figure{"shards", "Shards owned, awaited or being given up.", &shard_group_status::shards});

constexpr auto gate_figures =
    table_of(figure{"accepted_total", "Passes given.", &gate_statistics::accepted},
             figure{"waited_total", "Callers that began to wait.", &gate_statistics::waited},
             figure{"declined_total", "Callers that were declined because another caller of their key waited.",
                    &gate_statistics::declined},
             figure{"evicted_total", "Passes that were taken away.", &gate_statistics::evicted},
             figure{"active", "Keys being processed.", &gate_statistics::active},
             figure{"waiting", "Callers that wait.", &gate_statistics::waiting});

constexpr auto limiter_figures =
    table_of(figure{"acquired_total", "Calls let through.", &limiter_statistics::acquired},
             figure{"waited_total", "Calls let through after a wait.", &limiter_statistics::waited},
             figure{"declined_total", "Calls not let through.", &limiter_statistics::declined},
             figure{"held_off_total", "Hold-offs that delayed something.", &limiter_statistics::held_off},
             figure{"waiting", "Operations that wait.", &limiter_statistics::waiting},
             figure{"wait_seconds_total", "Time of all waits that ended with a call let through.",
                    &limiter_statistics::time_waited});

constexpr auto keyed_limiter_figures = table_of(
    figure{"acquired_total", "Calls let through.", &keyed_limiter_statistics::acquired},
    figure{"waited_total", "Calls let through after a wait.", &keyed_limiter_statistics::waited},
    figure{"declined_total", "Calls not let through.", &keyed_limiter_statistics::declined},
    figure{"coalesced_total", "Operations declined because another one waits.", &keyed_limiter_statistics::coalesced},
    figure{"held_off_total", "Hold-offs that delayed something.", &keyed_limiter_statistics::held_off},
    figure{"evicted_total", "Keys forgotten because the table was full.", &keyed_limiter_statistics::evicted},
    figure{"waiting", "Operations that wait.", &keyed_limiter_statistics::waiting},
    figure{"keys", "Keys remembered.", &keyed_limiter_statistics::keys},
    figure{"wait_seconds_total", "Time of all waits that ended with a call let through.",
           &keyed_limiter_statistics::time_waited});

constexpr auto shared_limiter_figures = table_of(
    figure{"slices", "Slices whose rate this process may use.", &shared_limiter_status::slices},
    figure{"all_slices", "Slices of the whole limit.", &shared_limiter_status::all},
    figure{"rate", "This process's part of the rate: cost in each period.", &shared_limiter_status::rate},
    figure{"unused_total", "Cost that came back while there was no room for it.", &shared_limiter_status::unused});

constexpr auto track_figures =
    table_of(figure{"steps_total", "Steps of a track.", &balance_track_status::steps},
             figure{"waiting", "1 if the track waits for slower ones.", &balance_track_status::waiting});

constexpr auto balance_figures =
    table_of(figure{"range", "Most steps that tracks may be apart.", &balance_status::range},
             figure{"limit", "Steps that a track may have made.", &balance_status::limit},
             figure{"spread", "Steps between the fastest and the slowest track.", &balance_status::spread},
             figure{"largest_spread", "The largest spread that was seen.", &balance_status::largest_spread});

constexpr auto shared_balance_figures = table_of(
    figure{"range", "Most steps that tracks may be apart.", &shared_balance_status::range},
    figure{"limit", "Steps that a track may have made.", &shared_balance_status::limit},
    figure{"floor", "Steps that this process has told to the others.", &shared_balance_status::floor},
    figure{"member", "1 if the tracks of this process take part.", &shared_balance_status::is_member},
    figure{"pacer", "1 if this process computes the limit.", &shared_balance_status::is_pacer},
    figure{"joins_total", "Times that this process has joined.", &shared_balance_status::joins},
    figure{"failing", "1 if the latest try to join or to move the limit failed.", &shared_balance_status::error});

constexpr auto spool_figures = table_of(
    figure{"open", "1 if the file is open.", &spool_status::is_open},
    figure{"accepted", "Number of the last message accepted.", &spool_status::accepted},
    figure{"spooled", "Number of the last message in the file.", &spool_status::spooled},
    figure{"put", "Number of the last message known to be in the queue.", &spool_status::put},
    figure{"memory_bytes", "Bytes of accepted messages in memory.", &spool_status::memory},
    figure{"waiting", "Puts that wait for room.", &spool_status::waiting},
    figure{"oldest_age_seconds", "Age of the first message not known to be in the queue.", &spool_status::oldest},
    figure{"gap", "Messages that the queue has and the file does not know.", &spool_status::gap},
    figure{"failing", "1 if the file or the queue fails.", &spool_status::error});

constexpr std::array states{session_state::connecting, session_state::connected, session_state::suspended,
                            session_state::expired, session_state::closed};
constexpr std::array phases{coordinator_phase::idle,        coordinator_phase::campaigning,
                            coordinator_phase::taking_over, coordinator_phase::inaugurating,
                            coordinator_phase::executing,   coordinator_phase::handing_over,
                            coordinator_phase::ending};

double seconds_since(lease_clock::time_point moment) { return value_of(lease_clock::now() - moment); }

labels with(labels of, const char* name, std::string value) {
  of.emplace_back(name, std::move(value));
  return of;
}

void add_shard(metrics_page& page, const shard_status& now, const labels& group) {
  const auto of = with(group, "shard", std::to_string(now.number));
  add_figures(page, "zkrecipes_shard_", shard_figures, now, of);
  page.gauge("zkrecipes_shard_phase", "1 for the phase in which the shard is at this member.", 1,
             with(of, "phase", to_string(now.phase)));
  page.gauge("zkrecipes_shard_phase_age_seconds", "Time since that phase began.", seconds_since(now.since), of);
}

void add_tracks(metrics_page& page, const std::string& prefix, const std::vector<balance_track_status>& tracks,
                const labels& of) {
  for (const auto& each : tracks) add_figures(page, prefix, track_figures, each, with(of, "track", each.name));
}

}  // namespace

void add_metrics(metrics_page& page, const session_status& now, const labels& of) {
  add_figures(page, "zkrecipes_session_", session_figures, now, of);
  for (const auto each : states)
    page.gauge("zkrecipes_session_state", "1 for the present state of the session, 0 for the others.",
               each == now.state ? 1 : 0, with(of, "state", to_string(each)));
  page.gauge("zkrecipes_session_connected", "1 if there is a connection.", value_of(now.server),
             with(of, "server", now.server));
}

void add_metrics(metrics_page& page, const session_counters& now, const labels& of) {
  add_figures(page, "zkrecipes_session_", session_counter_figures, now, of);
}

void add_metrics(metrics_page& page, const coordinator_status& now, const labels& of) {
  for (const auto each : phases)
    page.gauge("zkrecipes_coordinator_phase", "1 for the present phase of the coordinator, 0 for the others.",
               each == now.phase ? 1 : 0, with(of, "phase", to_string(each)));
  page.gauge("zkrecipes_coordinator_phase_age_seconds", "Time since the present phase began.", seconds_since(now.since),
             of);
  page.gauge("zkrecipes_coordinator_epoch", "Epoch of the term that was last seen.", now.epoch, of);
  page.gauge("zkrecipes_coordinator_leader", "1, with the leader of that term; 0 if it is not known.",
             value_of(now.leader), with(of, "leader", now.leader));
  if (now.ahead) page.gauge("zkrecipes_coordinator_ahead", "Candidates ahead in the line.", *now.ahead, of);
  page.gauge("zkrecipes_coordinator_troubled", "1 while the coordinator waits until people let it into the line.",
             value_of(now.trouble), of);
}

void add_metrics(metrics_page& page, const queue_consumer_status& now, const labels& of) {
  add_figures(page, "zkrecipes_consumer_", consumer_figures, now, of);
}

void add_metrics(metrics_page& page, const shard_group_status& now, const labels& of) {
  add_figures(page, "zkrecipes_group_", group_figures, now, of);
  for (const auto& each : now.shards) add_shard(page, each, of);
}

void add_metrics(metrics_page& page, const gate_statistics& now, const labels& of) {
  add_figures(page, "zkrecipes_gate_", gate_figures, now, of);
}

void add_metrics(metrics_page& page, const limiter_statistics& now, const labels& of) {
  add_figures(page, "zkrecipes_limiter_", limiter_figures, now, of);
}

void add_metrics(metrics_page& page, const keyed_limiter_statistics& now, const labels& of) {
  add_figures(page, "zkrecipes_keyed_limiter_", keyed_limiter_figures, now, of);
}

void add_metrics(metrics_page& page, const shared_limiter_status& now, const labels& of) {
  add_figures(page, "zkrecipes_shared_limiter_", shared_limiter_figures, now, of);
  page.gauge("zkrecipes_shared_limiter_lease_seconds",
             "Time for which the slices count if nothing is heard from the servers.",
             now.slices ? -seconds_since(now.valid_until) : 0., of);
  add_metrics(page, now.group, with(of, "group", "shared_limiter"));
}

void add_metrics(metrics_page& page, const balance_status& now, const labels& of) {
  add_tracks(page, "zkrecipes_balance_", now.tracks, of);
  add_figures(page, "zkrecipes_balance_", balance_figures, now, of);
}

void add_metrics(metrics_page& page, const shared_balance_status& now, const labels& of) {
  add_tracks(page, "zkrecipes_shared_balance_", now.tracks, of);
  add_figures(page, "zkrecipes_shared_balance_", shared_balance_figures, now, of);
  page.gauge("zkrecipes_shared_balance_lease_seconds",
             "Time for which the tracks may move if nothing is heard from the servers.",
             now.is_member ? -seconds_since(now.valid_until) : 0., of);
}

void add_metrics(metrics_page& page, const spool_status& now, const labels& of) {
  add_figures(page, "zkrecipes_spool_", spool_figures, now, of);
  if (now.lag == spool_status::unknown) return;
  page.gauge("zkrecipes_spool_lag", "Messages accepted and not known to be in the queue.", now.lag, of);
  page.gauge("zkrecipes_spool_lag_bytes", "Bytes of these messages.", now.lag_bytes, of);
}

}  // namespace zkrecipes::service
