#include "scenario/redis/stream_rules.hpp"

#include <algorithm>
#include <utility>

#include "queue/queue_layout.hpp"
#include "source/source_core.hpp"

namespace zkrecipes::simulation {

put_mark put_mark::of(const std::string& text) {
  const auto point = text.find('.');
  return {std::stoull(text.substr(0, point)), std::stoull(text.substr(point + 1))};
}

void put_rules::arrived(const std::string& place, const std::string& text) {
  const auto mark = put_mark::of(text);
  const bool is_twice = std::ranges::any_of(there_, [&](const auto& each) { return each.second.contains(mark); });
  in_.require(!is_twice, "a message is put once", text);
  in_.require(!refused_.contains(mark), "what was refused is not put", text);
  auto& all = there_[place];
  const auto next = all.upper_bound(mark);
  const bool is_late = next != all.end() && next->origin == mark.origin;
  in_.require(!is_late, "messages are put in order", text);
  all.insert(mark);
  ever_.insert(mark);
  // The numbers of the name grow, and hide the loss from the other objects.
  if (mark.origin != bare) std::erase_if(untold_, [&](std::uint64_t each) { return each != mark.origin; });
}

void put_rules::lost(const std::string& place, const std::string& text) {
  const auto mark = put_mark::of(text);
  there_[place].erase(mark);
  if (mark.origin != bare && acknowledged_.contains(mark)) untold_.insert(mark.origin);
}

void put_rules::removed(const std::string& place, const std::string& text) { there_[place].erase(put_mark::of(text)); }

/// One that was put before the loss may be acknowledged behind it.
void put_rules::acknowledged(const std::string& text) {
  const auto mark = put_mark::of(text);
  in_.require(ever_.contains(mark), "what is acknowledged was put", text);
  acknowledged_.insert(mark);
  const bool is_there = std::ranges::any_of(there_, [&](const auto& each) { return each.second.contains(mark); });
  in_.require(!is_there || !untold_.contains(mark.origin), "a producer tells what was lost", text);
}

void put_rules::refused(const std::string& text) {
  const auto mark = put_mark::of(text);
  const bool is_there = std::ranges::any_of(there_, [&](const auto& each) { return each.second.contains(mark); });
  in_.require(!is_there, "what was refused is not put", text);
  refused_.insert(mark);
}

using detail::stream_id;
using kind = change::kind;

namespace {

const detail::source_layout& redis_layout() {
  static const detail::source_layout where{stream_rules::root};
  return where;
}

/// "<epoch> <id> <data>"
struct stream_effect {
  std::int64_t epoch = 0;
  std::optional<stream_id> id{};
  std::string data{};
};

stream_effect parse_effect(const std::string& text) {
  const auto first = text.find(' ');
  const auto second = text.find(' ', first + 1);
  const auto id = text.substr(first + 1, second - first - 1);
  return {std::stoll(text.substr(0, first)), detail::parse_stream_id(id), text.substr(second + 1)};
}

}  // namespace

stream_rules::stream_rules(stage& in, const redis_options& broker, std::vector<std::string> groups,
                           const queue_consumer_options& consuming, const std::deque<term_rules>& terms)
    : in_(in),
      broker_(broker),
      groups_(std::move(groups)),
      consuming_(consuming),
      terms_(terms),
      puts_(in),
      states_(static_cast<std::size_t>(feeds())) {}

std::string stream_rules::position_of(int feed) const {
  return redis_layout().position(shard_of(feed), group_of(feed));
}

std::vector<int> stream_rules::feeds_of(const std::string& stream) const {
  std::vector<int> all;
  for (int feed = 0; feed < feeds(); ++feed) {
    if (stream_of(feed) == stream) all.push_back(feed);
  }
  return all;
}

void stream_rules::added(const std::string& stream, const stream_id& id, const redis_fields& fields) {
  record which;
  for (const auto& [name, value] : fields) (name == broker_.key_field ? which.key : which.data) = value;
  which.born = ++births_;
  in_.notes().note(journal::ensemble, "entry", stream + ' ' + to_string(id) + ' ' + which.data);
  puts_.arrived(stream, which.data);
  records_[stream].emplace(id, std::move(which));
}

void stream_rules::trimmed(const std::string& stream, const std::vector<stream_id>& ids) {
  for (const auto& id : ids) {
    in_.notes().note(journal::ensemble, "trimmed", stream + ' ' + to_string(id));
    for (const auto feed : feeds_of(stream)) {
      const auto& which = records_[stream].at(id);
      const auto& position = states_[static_cast<std::size_t>(feed)].position;
      const bool is_named = std::ranges::count(broker_.groups, group_of(feed)) > 0;
      const bool is_consumed = which.settled.contains(feed) || which.excused.contains(feed);
      const bool was_needed = !which.sought.contains(feed) && !(is_consumed && position && position->is_settled(id));
      in_.require(!is_named || !was_needed, "what a named group has not consumed is not removed",
                  stream + ' ' + to_string(id));
    }
  }
}

void stream_rules::deleted(const std::string& stream) {
  in_.notes().note(journal::ensemble, "stream is deleted", stream);
  lossy_.insert(stream);  // consumers may know entries that were trimmed
  for (auto& [id, each] : records_[stream]) {
    if (each.is_lost) continue;
    each.is_lost = true;
    each.is_told = false;
    puts_.removed(stream, each.data);
  }
}

/// What the copy has of a stream that was deleted since comes back.
void stream_rules::went_back(const redis_data& to) {
  in_.notes().note(journal::ensemble, "the broker goes back");
  for (auto& [stream, all] : records_) {
    const auto kept = to.streams.find(stream);
    const auto last = kept == to.streams.end() ? stream_id() : kept->second.last;
    for (auto& [id, each] : all) {
      const bool is_kept = kept != to.streams.end() && kept->second.entries.contains(id);
      if (each.is_lost && is_kept) {
        each.is_lost = false;
        each.returned.insert(each.settled.begin(), each.settled.end());
        for (const auto feed : feeds_of(stream)) each.excused.insert(feed);
      } else if (!each.is_lost && id > last) {
        each.is_lost = true;
        each.is_told = false;
        lossy_.insert(stream);
        puts_.lost(stream, each.data);
        for (const auto feed : each.settled) states_[static_cast<std::size_t>(feed)].untold = births_;
      }
    }
  }
}

void stream_rules::told(const std::string& stream) {
  in_.require(was_lost(stream), "no loss is told where nothing was lost", stream);
  for (auto& [id, each] : records_[stream]) {
    if (!each.is_lost) continue;
    each.is_told = true;
    each.begun.clear();  // if it comes back, consumers do not know it
  }
  for (const auto feed : feeds_of(stream)) {
    states_[static_cast<std::size_t>(feed)].untold.reset();
    for (auto& [id, each] : records_[stream]) {
      if (!each.settled.contains(feed)) each.excused.insert(feed);
    }
  }
}

void stream_rules::begun(int feed, const term& present, const message& item) {
  in_.require(!present.ending(), "nothing is begun after the end of the term", item.name);
  in_.require(item.attempts <= consuming_.retry.attempts, "attempts keep to their limit", item.name);
  const auto id = detail::parse_stream_id(item.name);
  auto& all = records_[stream_of(feed)];
  const auto found = id ? all.find(*id) : all.end();
  const bool is_known = found != all.end();
  in_.require(is_known, "what is handed out was put", item.name);
  if (!is_known) return;
  in_.require(found->second.data == item.data && found->second.key == item.key, "a message is what was put", item.name);
  found->second.begun[feed] = present.epoch();
}

void stream_rules::committed(const entry& what) {
  if (what.type != entry::kind::request) return;
  std::map<int, results> done;
  for (const auto& each : what.changes) record_result(each, done);
  for (const auto& each : what.changes) {
    if (each.type == kind::remove) continue;
    for (int feed = 0; feed < feeds(); ++feed) {
      if (each.path == position_of(feed)) move(feed, each.data, done[feed]), done.erase(feed);
    }
  }
  in_.require(done.empty(), "the position moves with the effects");
}

void stream_rules::record_result(const change& what, std::map<int, results>& into) const {
  for (int feed = 0; feed < feeds(); ++feed) {
    if (what.type == kind::set && what.path == results_of(feed)) {
      const auto effect = parse_effect(what.data);
      const bool is_new = effect.id && into[feed].emplace(*effect.id, what.data).second;
      in_.require(is_new, "once in effect, or parked, never both", what.data);
    }
    if (what.type != kind::create || !what.path.starts_with(redis_layout().dead(group_of(feed)) + "/letter-")) continue;
    const auto letter = detail::read_letter(what.data);
    in_.require(letter.has_value(), "a letter can be read", what.data);
    const auto prefix = detail::shard_name(shard_of(feed)) + '/';
    if (!letter || !letter->item.starts_with(prefix)) continue;
    const auto id = detail::parse_stream_id(std::string_view(letter->item).substr(prefix.size()));
    const bool is_new = id && into[feed].emplace(*id, std::string()).second;
    in_.require(is_new, "once in effect, or parked, never both", what.data);
  }
}

/// After a loss new entries can have ids in front of the position, which falls back when what is in hand is done. Until
/// then it says nothing of them.
void stream_rules::move(int feed, const std::string& text, const results& done) {
  auto& state = states_[static_cast<std::size_t>(feed)];
  const auto position = detail::parse_stream_position(text);
  in_.require(position.has_value(), "a position can be read", text);
  if (!position) return;
  in_.notes().note(journal::ensemble, "position", stream_of(feed) + ' ' + group_of(feed) + ' ' + text);
  const bool is_sought = state.position ? position->seek != state.position->seek : !position->seek.empty();
  const auto before = std::exchange(state.position, position);
  auto& all = records_[stream_of(feed)];
  const auto last = all.find(position->last);
  const bool is_behind_loss = is_sought && (last == all.end() || !last->second.is_lost);
  if (is_behind_loss) state.untold.reset();  // an operator has named an entry that is there
  for (const auto& [id, each] : all) {
    if (each.is_lost && position->is_settled(id)) state.beyond = std::max(state.beyond, id);
  }
  for (const auto& [id, effect] : done) in_.require(all.contains(id), "nothing comes of what was not put", effect);
  for (auto& [id, each] : all) {
    const auto result = done.find(id);
    const bool is_done = result != done.end();
    const bool is_settled = each.settled.contains(feed);
    if (is_sought) each.begun.erase(feed);  // the consumer begins anew from there
    if (!position->is_settled(id)) {
      in_.require(!is_done, "the position moves with the effects", to_string(id));
      record_open(feed, each, is_sought, text);
      continue;
    }
    in_.require(!is_done || !is_settled, "once in effect, or parked, never both", to_string(id));
    if (is_settled || (!is_done && !is_sought && !each.is_lost && id <= state.beyond)) continue;
    const bool was_stored = before && before->is_settled(id);
    in_.require(!is_done || !was_stored, "what is consumed is behind the stored position", to_string(id));
    if (is_done) check_result(feed, id, each, result->second);
    if (!is_done && !is_sought) check_passed(feed, id, each);
    const bool may_be_passed = is_sought || each.is_lost || each.excused.contains(feed) || each.sought.contains(feed);
    in_.require(is_done || may_be_passed, "nothing is passed over", stream_of(feed) + ' ' + to_string(id));
    each.settled.insert(feed);
    each.returned.erase(feed);
    if (is_done) ++settled_;
  }
}

/// The position of the feed is in front of this entry. It may have gone back there because the entry was lost, or an
/// operator says so: then the entry is consumed again once the broker has it. An entry that is excused for another
/// reason is not, because it may have had its effect.
void stream_rules::record_open(int feed, record& which, bool is_sought, const std::string& text) const {
  const bool is_settled = which.settled.contains(feed);
  const bool may_be_open = !is_settled || which.is_lost || which.excused.contains(feed) || is_sought;
  in_.require(may_be_open, "a position never moves back", text);
  const bool may_come_again = is_sought || which.is_lost || which.returned.contains(feed);
  if (!is_settled || !may_come_again) return;
  which.settled.erase(feed);
  if (is_sought) which.sought.insert(feed);
}

/// A consumer knows the entries that it has begun. Others may be lost before they are read.
void stream_rules::check_passed(int feed, const stream_id& id, const record& which) const {
  const auto begun = which.begun.find(feed);
  const auto epoch = terms_[static_cast<std::size_t>(feed)].epoch();
  const bool is_known = begun != which.begun.end() && begun->second == epoch;
  in_.require(!which.is_lost || which.is_told || !is_known, "a lost entry is not taken for one that was removed",
              stream_of(feed) + ' ' + to_string(id));
}

void stream_rules::check_result(int feed, const stream_id& id, const record& which, const std::string& effect) {
  const auto& state = states_[static_cast<std::size_t>(feed)];
  in_.require(!state.untold || which.born <= *state.untold, "lost entries are told",
              stream_of(feed) + ' ' + to_string(id));
  check_order(feed, id, which);
  if (effect.empty()) return;
  const auto read = parse_effect(effect);
  const auto& terms = terms_[static_cast<std::size_t>(feed)];
  in_.require(read.epoch == terms.epoch() && !terms.is_finished(), "effects belong to the present term", effect);
  in_.require(read.data == which.data, "the effect is that of the entry", effect);
}

/// The entries in front of it, of its key or all, are settled before it. Those that were put behind a loss can have
/// lower ids than those that are lost.
void stream_rules::check_order(int feed, const stream_id& id, const record& which) const {
  if (consuming_.order == message_order::none || which.is_lost) return;
  for (const auto& [other, each] : records_.at(stream_of(feed))) {
    if (other >= id) return;
    const bool counts = consuming_.order == message_order::strict || each.key == which.key;
    const bool is_known = each.settled.contains(feed) || each.excused.contains(feed) || each.sought.contains(feed);
    const bool is_open = !each.is_lost && !is_known;
    in_.require(!counts || !is_open, "in order", to_string(other) + " before " + to_string(id));
  }
}

std::string stream_rules::unsettled() const {
  for (int feed = 0; feed < feeds(); ++feed) {
    const auto found = records_.find(stream_of(feed));
    if (found == records_.end()) continue;
    for (const auto& [id, each] : found->second) {
      const bool is_known = each.settled.contains(feed) || each.excused.contains(feed) || each.sought.contains(feed);
      if (each.is_lost || is_known) continue;
      return stream_of(feed) + ' ' + to_string(id) + " of group " + group_of(feed);
    }
  }
  return {};
}

}  // namespace zkrecipes::simulation
