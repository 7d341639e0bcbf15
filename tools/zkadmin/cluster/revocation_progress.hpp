// Holders that are to give up, and when the node of each has gone.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "cluster/revocation.hpp"

namespace zkadmin {

/// What has become of one of the holders.
struct holder_progress {
  std::string who;                                        ///< Its id or, if it has none, its node.
  std::string node;                                       ///< Name of its node.
  bool was_sent = false;                                  ///< A request was written for it by this command.
  std::optional<std::chrono::milliseconds> gone_after{};  ///< Since the request, by our clock. Nothing: it is there.
};

/// Plain data; changed by `record_gone` only.
struct revocation_progress {
  std::string path;
  std::vector<holder_progress> holders;
  std::vector<std::string> present{};  ///< Those that hold it after that; meaningful with `is_present_known`.
  bool is_present_known = false;

  bool is_done() const noexcept;
  void record_gone(std::size_t which, std::chrono::milliseconds after) { holders[which].gone_after = after; }
};

revocation_progress progress_of(const revocation& found);

}  // namespace zkadmin
