// Scripts: operations of the library, each to be tried under every single fault.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "scenario/election.hpp"

namespace zkrecipes::simulation {

/// The process that runs a script, as the script sees it.
class actor {
 public:
  virtual ~actor() = default;
  virtual session& zk() = 0;
  virtual election& line() = 0;
  virtual ownership& held() = 0;
  virtual operations& all() = 0;
  virtual asio::cancellation_signal& signal() = 0;
  /// To be called when the script is over.
  virtual void done(error_code error) = 0;
  /// To be called when the operation has ended because it was cancelled, and the script goes on.
  virtual void was_cancelled() = 0;
  /// `check` is called with the nodes when everything is over.
  virtual void afterwards(std::function<void(const tree& nodes)> check) = 0;
  virtual stage& in() = 0;
  /// To be called when the actor was told that it owns the line.
  virtual void granted(ownership what) = 0;
  /// Calls `what` after 300 ms, and again every 300 ms until the script is over.
  virtual void meanwhile(std::function<void()> what) = 0;
  /// An operator removes the actor's node in the line.
  virtual void remove_own_node() = 0;

  /// Runs the operation to be tried. Its results besides the error do not matter.
  template <class... Results, class Begin>
  void run(Begin begin) {
    all().template start<Results...>(signal(), std::move(begin), [this](error_code error, Results...) { done(error); });
  }
  /// Like `run` above; keeps an object alive until the operation is over.
  template <class... Results, class Begin>
  void run(Begin begin, std::shared_ptr<void> kept) {
    all().template start<Results...>(signal(), std::move(begin),
                                     [this, kept = std::move(kept)](error_code error, Results...) { done(error); });
  }
  /// Runs another operation, to make something happen. Its result does not matter.
  template <class... Results, class Begin>
  void aside(Begin begin) {
    all().template start<Results...>(std::move(begin), [](error_code, Results...) {});
  }
};

struct script {
  std::string name;
  bool holds;  ///< The actor owns the line when the script begins.
  std::function<void(actor&)> run;
  std::vector<error_code> ends;  ///< Errors with which it may end even without a fault.
  bool is_retried = false;       ///< A lost connection is not reported.
  bool is_cancellable = true;
  bool uses_line = true;                 ///< Other members of `script_line` may matter to it.
  std::vector<error_code> if_lost{};     ///< More errors with which it may end if a request or an answer is lost.
  std::vector<error_code> if_expired{};  ///< More errors with which it may end if the session ends.
  /// Nodes that exist when it begins: paths and data.
  std::vector<std::pair<std::string, std::string>> before{};
};

const std::vector<script>& scripts();
std::vector<script> recipe_scripts();     ///< The part of `scripts` for locks and semaphores.
std::vector<script> agreement_scripts();  ///< The part for barriers and the two-phase commit.
std::vector<script> group_scripts();      ///< The part for groups, services and shared values.
std::vector<script> queue_scripts();      ///< The part for queues.

inline constexpr const char* script_node = "/script";  ///< It exists when a script begins.
inline constexpr const char* script_group = "/group";
inline constexpr const char* script_services = "/services";
inline constexpr const char* script_line = "/election";

}  // namespace zkrecipes::simulation
