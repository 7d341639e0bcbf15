#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/service_provider.hpp>

#include "discovery/service_instance.hpp"
#include "group/children_view.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

// Chooses one of the instances of a service.

class instance_chooser : public std::enable_shared_from_this<instance_chooser> {
 public:
  instance_chooser(children_reader_ptr reader, service_provider_options options);

  const children_reader_ptr& reader() const noexcept { return reader_; }
  const scheduler_ptr& get_scheduler() const noexcept { return reader_->get_scheduler(); }

  awaitable<outcome<service_instance>> pick();
  void note_error(const std::string& id);

 private:
  /// The errors of an instance, and its rest, which grows from one to the next.
  struct error_streak {
    int count = 0;  // since the last rest
    lease_clock::time_point last{};
    std::chrono::milliseconds rest{0};
    lease_clock::time_point until{};
  };
  struct candidate {
    const service_instance* instance;
    // Asked for once in a pick, because the user's function may return another value the next time.
    std::uint64_t weight;
  };
  using candidate_list = std::vector<candidate>;

  void learn(const children_snapshot& nodes);
  bool is_known(const std::string& id) const;
  candidate_list candidates() const;
  std::uint64_t weight(const service_instance& each) const;
  lease_clock::time_point end_of_rest(const candidate& each, lease_clock::time_point now) const;
  void leave_out_resting(candidate_list& fit);
  void renew();
  const candidate& choose(const candidate_list& fit);
  const candidate& stick(const candidate_list& fit);
  const candidate& by_weight(const candidate_list& fit);
  std::uint64_t random() { return get_scheduler()->world->random(); }

  children_reader_ptr reader_;
  service_provider_options options_;
  service_snapshot known_;
  std::map<std::string, error_streak> streaks_;  // by id
  // The instances that may be chosen, kept until an instance comes, goes, begins or ends a rest, unless the user's
  // functions decide: they are asked in each pick.
  candidate_list fit_;
  lease_clock::time_point fit_until_{};
  std::uint64_t turn_ = 0;
  std::string favourite_;
  std::size_t favourite_at_ = 0;  // where it was in `fit_`
};

namespace {
constexpr std::chrono::milliseconds first_rest{1'000};
}

instance_chooser::instance_chooser(children_reader_ptr reader, service_provider_options options)
    : reader_(std::move(reader)), options_(std::move(options)) {
  options_.accept = guarded(*get_scheduler(), std::move(options_.accept));
  options_.weight = guarded(*get_scheduler(), std::move(options_.weight));
}

/// Once there was a view, its instances can be chosen for as long as there is no other one, whatever keeps it from
/// being read.
awaitable<outcome<service_instance>> instance_chooser::pick() {
  auto seen = co_await reader_->current();
  auto& [error, nodes] = seen;
  if (error && !forbids_retry(error) && reader_->had_view()) {
    nodes = reader_->snapshot();
    error.clear();
  }
  if (error) co_return outcome<service_instance>(error, service_instance());
  learn(nodes);
  if (options_.accept || options_.weight || get_scheduler()->now() >= fit_until_) renew();
  if (fit_.empty()) co_return outcome<service_instance>(errc::no_node, service_instance());
  const auto& chosen = choose(fit_);
  co_return outcome<service_instance>(error_code(), *chosen.instance);
}

void instance_chooser::renew() {
  fit_ = candidates();
  fit_until_ = never;
  if (!fit_.empty()) leave_out_resting(fit_);
}

/// Calls that were begun before the rest, and fail during it, say nothing new.
void instance_chooser::note_error(const std::string& id) {
  const auto now = get_scheduler()->now();
  auto& each = streaks_[id];
  if (now < each.until) return;
  if (now - std::max(each.last, each.until) >= options_.rest) each = {};
  each.last = now;
  if (++each.count < options_.errors_until_rest) return;
  each.count = 0;
  each.rest = std::min(std::max(each.rest * 2, first_rest), options_.rest);
  each.until = now + each.rest;
  fit_until_ = {};
}

void instance_chooser::learn(const children_snapshot& nodes) {
  if (known_.nodes.nodes == nodes.nodes) return;
  auto change = interpret(known_.nodes, nodes);
  known_ = std::move(change.now);
  fit_until_ = {};
  // An instance that comes again begins without errors, also if we have not seen it gone.
  for (const auto& each : change.removed) streaks_.erase(each.id);
  std::erase_if(streaks_, [this](const auto& each) { return !is_known(each.first); });
}

bool instance_chooser::is_known(const std::string& id) const {
  return std::any_of(known_.instances.begin(), known_.instances.end(),
                     [&](const service_instance& each) { return each.id == id; });
}

instance_chooser::candidate_list instance_chooser::candidates() const {
  candidate_list fit;
  for (const auto& each : known_.instances) {
    if (!each.enabled || (options_.accept && !options_.accept(each))) continue;
    const auto weighs = weight(each);
    if (weighs > 0) fit.push_back({&each, weighs});
  }
  return fit;
}

std::uint64_t instance_chooser::weight(const service_instance& each) const {
  return options_.strategy == service_strategy::weighted && options_.weight ? options_.weight(each) : 1;
}

/// `now` for one that does not rest.
lease_clock::time_point instance_chooser::end_of_rest(const candidate& each, lease_clock::time_point now) const {
  const auto found = streaks_.find(each.instance->id);
  return found == streaks_.end() ? now : std::max(found->second.until, now);
}

/// At most half of them rest, those whose rest ends last: where more have failed at the same time, it is our own
/// network or what they all need that is at fault, and somebody has to be asked.
void instance_chooser::leave_out_resting(candidate_list& fit) {
  const auto now = get_scheduler()->now();
  std::vector<lease_clock::time_point> ends;
  for (const auto& each : fit) ends.push_back(end_of_rest(each, now));
  const auto last_to_stay = ends.begin() + static_cast<std::ptrdiff_t>((ends.size() - 1) / 2);
  std::nth_element(ends.begin(), last_to_stay, ends.end());
  const auto limit = *last_to_stay;
  std::erase_if(fit, [&](const candidate& each) {
    const auto end = end_of_rest(each, now);
    if (end > limit) fit_until_ = std::min(fit_until_, end);
    return end > limit;
  });
}

const instance_chooser::candidate& instance_chooser::choose(const candidate_list& fit) {
  switch (options_.strategy) {
    case service_strategy::round_robin: return fit[turn_++ % fit.size()];
    case service_strategy::random: break;
    case service_strategy::sticky: return stick(fit);
    case service_strategy::weighted: return by_weight(fit);
  }
  return fit[random() % fit.size()];
}

const instance_chooser::candidate& instance_chooser::stick(const candidate_list& fit) {
  const auto is_favourite = [this](const candidate& each) { return each.instance->id == favourite_; };
  if (favourite_at_ < fit.size() && is_favourite(fit[favourite_at_])) return fit[favourite_at_];
  auto same = std::ranges::find_if(fit, is_favourite);
  if (same == fit.end()) same = fit.begin() + static_cast<std::ptrdiff_t>(random() % fit.size());
  favourite_ = same->instance->id;
  favourite_at_ = static_cast<std::size_t>(same - fit.begin());
  return *same;
}

const instance_chooser::candidate& instance_chooser::by_weight(const candidate_list& fit) {
  if (!options_.weight) return fit[random() % fit.size()];
  std::uint64_t sum = 0;
  for (const auto& each : fit) sum += each.weight;
  auto left = random() % sum;
  auto chosen = fit.begin();
  for (; left >= chosen->weight; ++chosen) left -= chosen->weight;
  return *chosen;
}

}  // namespace zkrecipes::detail

namespace zkrecipes {

using namespace detail;

namespace {

void check(const service_provider_options& options) {
  if (options.errors_until_rest < 1 || options.errors_until_rest > 1'000) {
    throw std::invalid_argument("service_provider_options::errors_until_rest is " +
                                std::to_string(options.errors_until_rest) + "; it must be from 1 to 1000");
  }
  if (options.rest < std::chrono::milliseconds(1) || options.rest > std::chrono::hours(24)) {
    throw std::invalid_argument("service_provider_options::rest is " + std::to_string(options.rest.count()) +
                                " ms; it must be from 1 ms to 24 h");
  }
}

}  // namespace

service_provider::service_provider(const service_discovery& in, const std::string& service,
                                   service_provider_options options)
    : session_(in.get_session()), options_(std::move(options)) {
  check(options_);
  if (!is_name(service)) throw std::invalid_argument("service \"" + service + "\": it can not be a node's name");
  auto reader =
      std::make_shared<children_reader>(require_session(session_), join(in.path(), service), children_view_options());
  chooser_ = std::make_shared<instance_chooser>(reader, options_);
  reader->start();
}

service_provider::service_provider() noexcept = default;
service_provider::service_provider(service_provider&&) noexcept = default;

service_provider& service_provider::operator=(service_provider&& other) noexcept {
  if (chooser_ && chooser_ != other.chooser_) chooser_->reader()->stop_later();
  session_ = std::move(other.session_);
  options_ = std::move(other.options_);
  chooser_ = std::move(other.chooser_);
  return *this;
}

service_provider::~service_provider() {
  if (chooser_) chooser_->reader()->stop_later();
}

void service_provider::note_error(const service_instance& instance) {
  if (!chooser_) return;
  asio::post(chooser_->reader()->get_scheduler()->strand,
             [chooser = chooser_, id = instance.id] { chooser->note_error(id); });
}

const std::string& service_provider::path() const noexcept { return chooser_ ? chooser_->reader()->path() : no_path(); }

void service_provider::start_pick(handler_for<void(error_code, service_instance)> h, chooser_ptr chooser) {
  launch(std::move(h), std::move(chooser), &instance_chooser::pick);
}

}  // namespace zkrecipes
