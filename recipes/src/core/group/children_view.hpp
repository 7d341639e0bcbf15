// Keeps a view of the children of a node up to date.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include <zkrecipes/children_view.hpp>

#include "session/background.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

class children_reader : public std::enable_shared_from_this<children_reader> {
 public:
  children_reader(core_ptr session, std::string path, children_view_options options);

  // From any thread.
  void start();
  void stop_later();
  const scheduler_ptr& get_scheduler() const noexcept { return scheduler_; }
  const std::string& path() const noexcept { return path_; }
  children_snapshot snapshot() const;

  // On the strand.
  /// Whether the snapshot is as of the last reading, and this has not failed.
  bool is_ready() const noexcept { return ready_ && !error_; }
  /// Whether there was a view, which the snapshot shows.
  bool had_view() const noexcept { return ready_; }
  /// Why there is no view now, if there is a reason.
  const error_code& error() const noexcept { return error_; }
  /// There is another view, or no view now.
  condition& told() noexcept { return told_; }
  awaitable<outcome<children_snapshot>> current();
  awaitable<outcome<children_change>> change(children_snapshot seen);

 private:
  struct slot {
    child_ptr node;
    std::unique_ptr<watch> hint;  // if it is missing or has fired, the node has to be read
  };
  using slots = std::map<std::string, slot>;

  awaitable<void> run();
  awaitable<void> follow();
  awaitable<bool> await_next(bool only_if_changed, lease_clock::time_point not_before);
  awaitable<error_code> look();
  awaitable<error_code> list();
  awaitable<error_code> await_parent();
  awaitable<error_code> read(std::span<const std::string> names);
  void keep_only(const std::vector<std::string>& names);
  error_code accept(const std::string& name, backend::reply answer);
  std::vector<std::string> outdated() const;
  bool is_outdated() const;
  void publish();
  void report(const error_code& error);

  scheduler_ptr scheduler_;
  core_ptr session_;
  const std::string path_;
  children_view_options options_;
  slots slots_;
  bool exists_ = false;
  std::unique_ptr<watch> parent_hint_;  // on the list, or on the creation of a missing parent
  bool ready_ = false;                  // there was a first view
  error_code error_;                    // why there is no view now
  condition hinted_;
  condition told_;
  background work_;

  mutable std::mutex mutex_;
  children_snapshot snapshot_;
};

using children_reader_ptr = std::shared_ptr<children_reader>;

}  // namespace zkrecipes::detail
