#include <stdexcept>
#include <utility>

#include <zkrecipes/flow/shared_gate.hpp>

#include "line/member_data.hpp"
#include "session/make.hpp"
#include "shared_gate/gate_entry.hpp"
#include "shared_gate/gate_root.hpp"

namespace zkrecipes {

using namespace detail;

namespace {

void require_options(const shared_gate_options& options) {
  require_id("shared_gate_options::id", options.id);
  if (options.buckets < 1 || options.buckets > gate_root::max_buckets) {
    throw std::invalid_argument("shared_gate_options::buckets is " + std::to_string(options.buckets) +
                                ": it must be 1 to " + std::to_string(gate_root::max_buckets));
  }
  if (lease_clock::duration(options.safety).count() <= 0) {
    throw std::invalid_argument("shared_gate_options::safety is not positive");
  }
}

struct gate_caller {
  std::string key;
  arrival how;
  std::string data;
  time_budget safety;
  diagnostic why;
};

awaitable<outcome<shared_gate_pass>> enter(std::shared_ptr<gate_root> gate, gate_caller who) {
  auto agreeing = gate->agree(who.why);
  auto error = co_await std::move(agreeing);
  if (error) co_return failed<shared_gate_pass>(error);
  gate_place place(gate->path(), gate->buckets(), who.key, who.how);
  gate_entry entry(gate->session(), place, who.data, who.safety);
  auto entered = co_await entry.enter();
  if (std::get<0>(entered) == errc::foreign_data) gate->refuse_bucket(place.line().parent, who.why);
  co_return entered;
}

}  // namespace

shared_gate::shared_gate(session over, std::string path, shared_gate_options options)
    : session_(std::move(over)), path_(std::move(path)), options_(std::move(options)) {
  require_session(session_);
  require_path("gate path", path_);
  if (path_ == "/") reject("gate path", path_, "it is the root");
  require_options(options_);
  root_ = std::make_shared<gate_root>(session_.get_core(), path_, options_.buckets);
}

void shared_gate::start_enter(handler_for<void(error_code, shared_gate_pass)> h, root_ptr root, std::string key,
                              arrival how, shared_gate_options options, diagnostic why) {
  const auto on = root->session()->get_scheduler();
  gate_caller who{std::move(key), how, id_data(options.id), options.safety, std::move(why)};
  launch(*on, std::move(h), enter(std::move(root), std::move(who)));
}

}  // namespace zkrecipes
