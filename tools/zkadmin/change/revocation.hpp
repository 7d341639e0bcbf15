// Asks the holders of a lock, a read-write lock or a semaphore to give up.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "change/intervention.hpp"
#include "change/waiting_line.hpp"

namespace zkadmin {

/// The holders that are to be asked, and how.
struct revocation_choice {
  std::string of{};                                  ///< The id of a holder, or its node; empty: all holders.
  std::optional<std::chrono::milliseconds> grace{};  ///< How long a holder may take; nothing: as long as it likes.
  bool in_curators_form = false;                     ///< Curator's request in place of data that is not ours.
  bool force = false;                                ///< Those that can not be asked are not refused.
};

/// A holder that is to give up.
struct asked_holder {
  line_place place;
  bool was_asked = false;  ///< With this grace or a shorter one: nothing is to be written.
  std::string obstacle{};  ///< Why it can not be asked; empty: it can.
};

struct revocation {
  std::string path;
  recipe kind = recipe::none;
  std::vector<asked_holder> holders;
  intervention request{};  ///< Without requests if all of them have been asked already, or can not be.
};

/// Throws `failure`: if nobody holds it, if it is an election, or if one of the holders can not be asked.
boost::asio::awaitable<revocation> find_revocation(zkrecipes::session session, std::string path, recipe_query query,
                                                   revocation_choice choice, deadline limit);

/// The same, and throws `failure`, too, if all have been asked already.
boost::asio::awaitable<intervention> prepare_revocation(zkrecipes::session session, std::string path,
                                                        recipe_query query, revocation_choice choice, deadline limit);

/// A pure function: what `find_revocation` does once the line has been read.
revocation revocation_of(const waiting_line& line, const revocation_choice& choice);

// Holders that are to give up, and when the node of each has gone.

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
