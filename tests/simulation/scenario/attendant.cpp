#include "scenario/discovery.hpp"

namespace zkrecipes::simulation {

using namespace std::chrono_literals;

attendant::attendant(discovery_scenario& of, stage& in, int client, session with)
    : routine(in, client, with),
      of_(of),
      services_(with, services_path),
      view_(services_.watch(own_service)),
      provider_(std::in_place, services_, shared_service) {
  longest_rest = 2s;
  begin();
  follow();
}

asio::awaitable<void> attendant::round() {
  auto first = enrol(own_, own_service, name());
  co_await std::move(first);
  if (!own_.held) co_return;
  if (dice().one_in(2)) {
    auto second = enrol(shared_, shared_service, "one");
    co_await std::move(second);
  }
  const auto changes = dice().below(3);
  for (std::uint64_t i = 0; i < changes; ++i) {
    co_await rest(0ms, 2s);
    auto changing = change(shared_.held && dice().one_in(2) ? shared_ : own_);
    co_await std::move(changing);
  }
  do {
    co_await rest(0ms, 4s);
    co_await choose();
  } while (of_.is_healed && !stopping());
  if (shared_.held) {
    auto giving_back = withdraw(shared_, "one");
    co_await std::move(giving_back);
  }
  auto leaving = withdraw(own_, name());
  co_await std::move(leaving);
}

asio::awaitable<void> attendant::enrol(desk& at, std::string service, std::string who) {
  at.said = service_instance();
  at.said.name = service;
  at.said.id = of_.id_of(who);
  at.said.address = name();
  at.said.registration_time = 1;
  if (&at == &own_ && of_.has_static) at.said.type = service_type::static_node;
  at.describe();
  at.wanted = true;
  auto registering =
      waits<service_registration>([&](auto token) { services_.async_register(at.said, std::move(token)); });
  auto [error, made] = co_await std::move(registering);
  at.wanted = at.steady = !error;
  if (error) {
    unclear_.insert(at.path);
    if (error != errc::busy) of_.use_another_id(who);
    co_return;
  }
  at.held = std::move(made);
  of_.check_said(*this, at);
}

asio::awaitable<void> attendant::change(desk& at) {
  at.steady = false;
  const bool drain = dice().one_in(3);
  if (drain) {
    at.said.enabled = !at.said.enabled;
  } else {
    at.said.payload = std::to_string(dice().below(1000));
  }
  at.describe();
  auto changing = waits<>([&](auto token) {
    if (drain) {
      at.held->async_set_enabled(at.said.enabled, std::move(token));
    } else {
      at.held->async_update(at.said, std::move(token));
    }
  });
  auto [error] = co_await std::move(changing);
  at.steady = !error;
  if (!error) of_.check_said(*this, at);
}

asio::awaitable<void> attendant::withdraw(desk& at, std::string who) {
  at.steady = false;
  if (dice().one_in(4)) {
    unclear_.insert(at.path);
    of_.use_another_id(who);
  } else {
    const auto since = in().clock().now();
    auto unregistering = does<>([&](auto token) { at.held->async_unregister(std::move(token)); });
    auto [error] = co_await std::move(unregistering);
    // A process that has slept for longer than the retry limit has had no connection for that long.
    const bool has_slept = error == errc::connection_loss && in().what().is_paused(client(), since, in().clock().now());
    in().require(!error || has_slept, "an operation ends for a reason", error.message());
    if (error) {
      unclear_.insert(at.path);
      of_.use_another_id(who);
    } else {
      of_.check_gone(*this, at);
    }
  }
  at.held.reset();
  at.wanted = false;
}

asio::awaitable<void> attendant::choose() {
  auto choosing = waits<service_instance>([&](auto token) { provider_->async_pick(std::move(token)); });
  auto [error, one] = co_await std::move(choosing);
  if (error && error != errc::no_node) co_return;
  chosen_.clear();
  if (error) co_return;
  chosen_ = *to_json(one);
  of_.check_chosen(one, chosen_);
}

void attendant::follow() {
  aside<service_change>([&](auto token) { view_->async_change(seen_, std::move(token)); },
                        [this](error_code error, service_change change) {
                          if (error) return;
                          learn(change);
                          if (!stopping()) follow();
                        });
}

/// Checks that the change, applied to the instances seen before, gives the present instances.
void attendant::learn(const service_change& change) {
  std::map<std::string, service_instance> applied;
  for (const auto& each : seen_.instances) applied[each.id] = each;
  for (const auto& each : change.removed) {
    in().require(applied.erase(each.id) == 1, "differences add up", each.id + " was not there");
  }
  for (const auto& each : change.changed) {
    in().require(applied.contains(each.id), "differences add up", each.id + " is new");
    applied[each.id] = each;
  }
  for (const auto& each : change.added) {
    in().require(applied.emplace(each.id, each).second, "differences add up", each.id + " twice");
  }
  std::map<std::string, service_instance> wanted;
  for (const auto& each : change.now.instances) wanted[each.id] = each;
  in().require(applied == wanted && change.now.broken.empty(), "differences add up");
  seen_ = change.now;
}

bool attendant::sees_the_truth(const tree& nodes) const {
  const auto* parent = nodes.find(path_of(own_service));
  if (!parent || seen_.instances.size() != parent->children.size()) return false;
  return std::all_of(seen_.nodes.nodes.begin(), seen_.nodes.nodes.end(), [&](const child_ptr& each) {
    const auto* there = nodes.find(path_of(own_service) + '/' + each->name);
    return there && there->stat.czxid == each->stat.czxid && there->stat.mzxid == each->stat.mzxid &&
           there->data == each->data;
  });
}

bool attendant::chooses_the_truth(const tree& nodes) const {
  const auto* parent = nodes.find(path_of(shared_service));
  bool any = false;
  for (const auto& name : parent ? parent->children : std::set<std::string>()) {
    const auto& there = nodes.find(path_of(shared_service) + '/' + name)->data;
    if (there == chosen_) return true;
    any = any || of_.is_enabled(there);
  }
  return !any && chosen_.empty();
}

}  // namespace zkrecipes::simulation
