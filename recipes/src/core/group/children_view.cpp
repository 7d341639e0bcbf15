#include <algorithm>
#include <stdexcept>
#include <utility>

#include <zkrecipes/children_view.hpp>

#include "group/children_reader.hpp"
#include "session/make.hpp"

namespace zkrecipes {

namespace {

bool by_name(const child_ptr& node, std::string_view name) { return node->name < name; }

bool is_same_node(const child_node& one, const child_node& other) { return one.stat.czxid == other.stat.czxid; }

bool is_same(const child_node& one, const child_node& other) {
  return is_same_node(one, other) && one.stat.mzxid == other.stat.mzxid && one.error == other.error;
}

}  // namespace

child_ptr children_snapshot::find(std::string_view name) const {
  auto found = std::lower_bound(nodes.begin(), nodes.end(), name, &by_name);
  return found != nodes.end() && (*found)->name == name ? *found : nullptr;
}

children_change difference(const children_snapshot& before, const children_snapshot& now) {
  children_change result;
  result.now = now;
  for (const auto& each : now.nodes) {
    auto known = before.find(each->name);
    if (known && is_same(*known, *each)) continue;
    (known && is_same_node(*known, *each) ? result.changed : result.added).push_back(each);
  }
  for (const auto& each : before.nodes) {
    auto present = now.find(each->name);
    if (!present || !is_same_node(*present, *each)) result.removed.push_back(each);
  }
  return result;
}

using namespace detail;

children_view::children_view(session over, std::string path, children_view_options options)
    : session_(std::move(over)), options_(std::move(options)) {
  require_path("children_view path", path);
  if (options_.interval < std::chrono::milliseconds(0) || options_.interval > std::chrono::hours(1)) {
    throw std::invalid_argument("children_view_options::interval is " + std::to_string(options_.interval.count()) +
                                " ms; it must be from 0 to 1 h");
  }
  reader_ = std::make_shared<children_reader>(require_session(session_), std::move(path), options_);
  reader_->start();
}

children_view::children_view() noexcept = default;
children_view::children_view(children_view&&) noexcept = default;

children_view& children_view::operator=(children_view&& other) noexcept {
  if (reader_ && reader_ != other.reader_) reader_->stop_later();
  session_ = std::move(other.session_);
  options_ = std::move(other.options_);
  reader_ = std::move(other.reader_);
  return *this;
}

children_view::~children_view() {
  if (reader_) reader_->stop_later();
}

children_snapshot children_view::snapshot() const { return reader_ ? reader_->snapshot() : children_snapshot(); }
const std::string& children_view::path() const noexcept { return reader_ ? reader_->path() : no_path(); }

void children_view::start_current(handler_for<void(error_code, children_snapshot)> h, reader_ptr reader) {
  launch(std::move(h), std::move(reader), &children_reader::current);
}

void children_view::start_change(handler_for<void(error_code, children_change)> h, reader_ptr reader,
                                 children_snapshot seen) {
  launch_endless(std::move(h), std::move(reader), &children_reader::change, std::move(seen));
}

}  // namespace zkrecipes
