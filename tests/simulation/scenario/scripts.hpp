// One operation of each kind, to be tried under every single fault.
#pragma once

#include "scenario/contender.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace zkrecipes::simulation {

/// The process that runs a script: what the script may use.
class actor {
 public:
  virtual ~actor() = default;
  virtual session& zk() = 0;
  virtual election& line() = 0;
  virtual ownership& held() = 0;
  virtual operations& all() = 0;
  virtual asio::cancellation_signal& signal() = 0;
  /// The script is over.
  virtual void done(error_code error) = 0;
  /// What has to be true of the nodes when everything is over.
  virtual void afterwards(std::function<void(const tree& nodes)> check) = 0;
  virtual stage& in() = 0;
  /// Told that the line is ours.
  virtual void granted(ownership what) = 0;
  /// A moment after the operation has begun, and again until it is over.
  virtual void meanwhile(std::function<void()> what) = 0;
  /// An operator removes the node that stands for us.
  virtual void remove_own_node() = 0;

  /// The operation to be tried. What it returns besides the error does not matter.
  template <class... Results, class Begin>
  void run(Begin begin) {
    all().template start<Results...>(signal(), std::move(begin),
                                     [this](error_code error, Results...) { done(error); });
  }
  /// The same with something that is kept until it is over.
  template <class... Results, class Begin>
  void run(Begin begin, std::shared_ptr<void> kept) {
    all().template start<Results...>(signal(), std::move(begin),
                                     [this, kept = std::move(kept)](error_code error, Results...) { done(error); });
  }
  /// Another one, which makes something happen.
  template <class... Results, class Begin>
  void aside(Begin begin) {
    all().template start<Results...>(std::move(begin), [](error_code, Results...) {});
  }
};

struct script {
  std::string name;
  bool holds;  ///< The line is ours when it begins.
  std::function<void(actor&)> run;
  std::vector<error_code> ends;  ///< As it may end without a fault, besides without an error.
  bool is_retried = false;       ///< A lost connection is not reported.
  bool is_cancellable = true;
  bool uses_line = true;                 ///< It may matter who else stands in `script_line`.
  std::vector<error_code> if_lost{};     ///< As it may end besides if a request or an answer is lost,
  std::vector<error_code> if_expired{};  ///< and if the session ends.
  /// Nodes that are there when it begins: paths and data.
  std::vector<std::pair<std::string, std::string>> before{};
};

const std::vector<script>& scripts();
std::vector<script> recipe_scripts();   ///< Those of `scripts` that use a recipe of its own path,
std::vector<script> meeting_scripts();  ///< those of the barriers and the two-phase commit,
std::vector<script> group_scripts();    ///< those of groups, services and shared values,
std::vector<script> queue_scripts();    ///< and those of the queues.

inline constexpr const char* script_node = "/script";  ///< Exists.
inline constexpr const char* script_group = "/group";
inline constexpr const char* script_services = "/services";
inline constexpr const char* script_line = "/election";

}  // namespace zkrecipes::simulation
