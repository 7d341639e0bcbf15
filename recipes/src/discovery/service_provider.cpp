#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include <zkrecipes/service_provider.hpp>

#include "discovery/service_snapshot.hpp"
#include "group/children_reader.hpp"
#include "session/make.hpp"

namespace zkrecipes {

namespace detail {

class instance_chooser : public std::enable_shared_from_this<instance_chooser> {
 public:
  instance_chooser(children_reader_ptr reader, service_provider_options options)
      : reader_(std::move(reader)), options_(std::move(options)) {
    options_.accept = guarded(*reader_->get_scheduler(), std::move(options_.accept));
    options_.weight = guarded(*reader_->get_scheduler(), std::move(options_.weight));
  }

  const children_reader_ptr& reader() const noexcept { return reader_; }

  awaitable<outcome<service_instance>> pick() {
    auto seen = co_await reader_->current();
    auto& [error, nodes] = seen;
    if (error) co_return outcome<service_instance>(error, service_instance());
    learn(nodes);
    auto fit = candidates();
    const bool none = fit.empty();
    std::erase_if(fit, [this](const candidate& each) { return rests(each.instance->id); });
    if (fit.empty()) co_return outcome<service_instance>(none ? errc::no_node : errc::busy, service_instance());
    const auto& chosen = choose(fit);
    co_return outcome<service_instance>(error_code(), *chosen.instance);
  }

  void note_error(const std::string& id) {
    const auto now = reader_->get_scheduler()->now();
    auto& [count, last] = strikes_[id];
    if (count > 0 && now - last >= options_.rest) count = 0;
    ++count;
    last = now;
  }

 private:
  struct strikes {
    int count = 0;
    lease_clock::time_point last{};
  };
  struct candidate {
    const service_instance* instance;
    // Asked for once in a pick, because the user's function may return another value the next time.
    std::uint64_t weight;
  };
  using candidate_list = std::vector<candidate>;

  void learn(const children_snapshot& nodes) {
    if (known_.nodes.nodes == nodes.nodes) return;
    auto change = interpret(known_.nodes, nodes);
    known_ = std::move(change.now);
    // An instance that comes again begins without errors, also if we have not seen it gone.
    for (const auto& each : change.removed) strikes_.erase(each.id);
    std::erase_if(strikes_, [this](const auto& each) { return !is_known(each.first); });
  }
  bool is_known(const std::string& id) const {
    return std::any_of(known_.instances.begin(), known_.instances.end(),
                       [&](const service_instance& each) { return each.id == id; });
  }

  candidate_list candidates() const {
    candidate_list fit;
    for (const auto& each : known_.instances) {
      if (!each.enabled || (options_.accept && !options_.accept(each))) continue;
      const auto weighs = weight(each);
      if (weighs > 0) fit.push_back({&each, weighs});
    }
    return fit;
  }
  std::uint64_t weight(const service_instance& each) const {
    return options_.strategy == service_strategy::weighted && options_.weight ? options_.weight(each) : 1;
  }
  bool rests(const std::string& id) const {
    auto found = strikes_.find(id);
    return found != strikes_.end() && found->second.count >= options_.errors_until_rest &&
           reader_->get_scheduler()->now() < found->second.last + options_.rest;
  }

  const candidate& choose(const candidate_list& fit) {
    switch (options_.strategy) {
      case service_strategy::round_robin: return fit[turn_++ % fit.size()];
      case service_strategy::random: break;
      case service_strategy::sticky: return stick(fit);
      case service_strategy::weighted: return by_weight(fit);
    }
    return fit[random() % fit.size()];
  }
  const candidate& stick(const candidate_list& fit) {
    auto same =
        std::find_if(fit.begin(), fit.end(), [this](const auto& each) { return each.instance->id == favourite_; });
    const auto& chosen = same != fit.end() ? *same : fit[random() % fit.size()];
    favourite_ = chosen.instance->id;
    return chosen;
  }
  const candidate& by_weight(const candidate_list& fit) {
    std::uint64_t sum = 0;
    for (const auto& each : fit) sum += each.weight;
    auto left = random() % sum;
    auto chosen = fit.begin();
    for (; left >= chosen->weight; ++chosen) left -= chosen->weight;
    return *chosen;
  }
  std::uint64_t random() { return reader_->get_scheduler()->world->random(); }

  children_reader_ptr reader_;
  service_provider_options options_;
  service_snapshot known_;
  std::map<std::string, strikes> strikes_;  // by id
  std::uint64_t turn_ = 0;
  std::string favourite_;
};

}  // namespace detail

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
                                   service_provider_options options) {
  check(options);
  if (!is_name(service)) throw std::invalid_argument("service \"" + service + "\": it can not be a node's name");
  auto reader = std::make_shared<children_reader>(require_session(in.get_session()), join(in.base(), service),
                                                  children_view_options());
  chooser_ = std::make_shared<instance_chooser>(reader, std::move(options));
  reader->start();
}

service_provider::service_provider(service_provider&&) noexcept = default;

service_provider& service_provider::operator=(service_provider&& other) noexcept {
  if (chooser_ && chooser_ != other.chooser_) chooser_->reader()->stop_later();
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

void service_provider::start_pick(handler_for<void(error_code, service_instance)> h, chooser_ptr chooser) {
  launch(*chooser->reader()->get_scheduler(), std::move(h), owning(chooser, &instance_chooser::pick));
}

}  // namespace zkrecipes
