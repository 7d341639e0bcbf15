#include "problems/line_places.hpp"

#include "text.hpp"

namespace zkadmin {
namespace {

constexpr const char* default_id = "zkrecipes";
constexpr std::size_t many_sessions = 3;         // Two are a restart, until the first of them has expired.
constexpr std::chrono::minutes longest_life{1};  // of one that crashes soon after its start, until its session is over
constexpr std::size_t longest_ids_in_line = 200;

}  // namespace

void line_places::add(const std::string& id, std::int64_t session, std::optional<std::chrono::milliseconds> age) {
  if (session == 0) return;
  if (!seen_.insert(session).second) twice_.insert(id);
  if (age && *age < longest_life && !id.empty() && id != default_id) sessions_[id].insert(session);
}

void line_places::judge(const std::string& path, bool is_single, problem_list& into) const {
  std::string looping, twice;
  for (const auto& [id, sessions] : sessions_)
    if (sessions.size() >= many_sessions) append_to_list(looping, id + " (" + std::to_string(sessions.size()) + ")");
  for (const auto& each : twice_) append_to_list(twice, or_dash(each));
  if (!looping.empty())
    into.push_back(
        {"comes-again", severity::warning, path,
         "several sessions with one id have entered within a minute, the dead ones stay until they expire: " +
             shortened(looping, longest_ids_in_line)});
  if (is_single && !twice.empty())
    into.push_back({"same-session", severity::warning, path,
                    "a session has more than one place: " + shortened(twice, longest_ids_in_line)});
}

}  // namespace zkadmin
