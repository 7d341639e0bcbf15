#include "scenario/queue_trial.hpp"

#include <algorithm>

#include "queue/queue_layout.hpp"

namespace zkrecipes::simulation {

using detail::queue_kind;

queue_contents::queue_contents(const tree& nodes, const detail::queue_layout& where) : nodes_(nodes), where_(where) {
  const auto* items = nodes.find(where.items);
  for (const auto& name : items ? items->children : std::set<std::string>()) {
    if (where.parse(name)) items_.emplace_back(name, nodes.find(where.item(name))->data);
  }
  const auto folder = where.on_side(detail::dead_folder);
  const auto* letters = nodes.find(folder);
  for (const auto& name : letters ? letters->children : std::set<std::string>()) {
    const auto letter = detail::read_letter(nodes.find(folder + '/' + name)->data);
    letters_.push_back(letter ? letter->data : "?");
  }
}

std::ptrdiff_t queue_contents::waiting(const std::string& data) const {
  return std::ranges::count(items_, data, &std::pair<std::string, std::string>::second);
}

std::ptrdiff_t queue_contents::dead(const std::string& data) const { return std::ranges::count(letters_, data); }

std::vector<std::string> queue_contents::in_order() const {
  std::vector<std::string> all;
  for (const auto& each : items_) all.push_back(each.second);
  return all;
}

const node* queue_contents::item(const std::string& name) const { return nodes_.find(where_.item(name)); }

std::string queue_trial::name_of(queue_kind kind, int item) {
  const detail::queue_layout where(kind, path);
  return where.marker(kind == queue_kind::priority ? 100 : 0) + "000000000" + std::to_string(item - 1);
}

queue_trial::queue_trial(actor& actor_, queue_kind kind, queue_options options)
    : by(actor_), where(kind, path), queue(by.zk(), kind, path, std::move(options)) {}

void queue_trial::check_in_the_end(queue_check check) {
  by.afterwards([&in = by.in(), where = where, told = told, check = std::move(check)](const tree& nodes) {
    check(in, queue_contents(nodes, where), *told);
  });
}

void queue_trial::give_back(const message& item, error_code with) {
  by.all().start<>([&](auto token) { queue.base().async_return(item, std::move(token)); },
                   [self = shared_from_this(), with](error_code error) {
                     const bool fine = !error || error == errc::superseded;
                     self->by.in().require(fine, "an item can be given back", error.message());
                     self->end(with);
                   });
}

void queue_trial::has_taken(const message& item) const {
  auto& in = by.in();
  const auto& nodes = in.servers().committed_state();
  const auto session = by.zk().status().session_id;
  const auto* there = nodes.find(where.item(item.name));
  const auto* claim = nodes.find(where.claim(item.name));
  in.require(there && there->data == item.data, "an item handed out is in the queue", item.name);
  in.require(claim ? claim->stat.ephemeral_owner == session : !in.servers().ephemeral_owner_alive(session),
             "an item handed out is claimed", item.name);
  if (!there || !claim) return;
  in.require(item.attempts == detail::attempts_of(there->visible()), "every attempt counts", item.name);
  const auto what = where.parse(item.name);
  if (where.kind == queue_kind::delayed) in.require(claim->stat.ctime >= what->rank, "not before its time", item.name);
}

}  // namespace zkrecipes::simulation
