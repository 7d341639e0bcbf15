// The part of a process in a balance that processes share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <zkrecipes/balance_status.hpp>
#include <zkrecipes/error.hpp>
#include <zkrecipes/lease_clock.hpp>

namespace zkrecipes {

/// What a `shared_balance` knows at the moment. No server is asked.
struct shared_balance_status {
  std::vector<balance_track_status> tracks{};  ///< Those of this process, in the order in which they were made.
  std::uint64_t range = 0;                     ///< As in the options.
  std::uint64_t limit = 0;                     ///< The limit as this process has read it last. It may be higher by now.
  std::uint64_t floor = 0;                     ///< So many steps of all its tracks this process has told to the others.
  bool is_member = false;  ///< Its tracks take part in the balance, if `valid_until` has not passed.
  bool is_pacer = false;   ///< This process computes the limit.
  /// Until when the tracks may move if nothing more is heard from the servers. The clock's zero without a membership.
  lease_clock::time_point valid_until{};
  std::uint64_t joins = 0;  ///< How often it has joined. After the first time its tracks may have been moved forward.
  /// Why the latest try to join, or to move the limit, had no success. Clear after the next one that had.
  error_code error{};
  /// The node of a live member whose floor this process can not know, so that it can not move the limit: `error` is
  /// `no_auth` (we have no right to read it, and have left the pace to others; it is read again after 1 to 30 seconds)
  /// or `foreign_data`. With `no_auth` this does no harm while another member, which can read all, is the pacer. If all
  /// members tell one, the limit stays. Empty: there is none, or this process has not tried to be the pacer.
  std::string obstacle{};
};

}  // namespace zkrecipes
