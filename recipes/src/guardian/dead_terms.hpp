// The records of the terms of a dead process, and what is to be written into them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "backend/reply.hpp"
#include "backend/request.hpp"
#include "guardian/dead_session.hpp"

namespace zkrecipes::detail {

/// The held terms, what is known of each of them, and the requests that bring this further. It sends nothing itself.
/// Nothing is written into the record of a leader whose node, the seat, was never seen as one of the session.
class dead_terms {
 public:
  dead_terms(std::vector<held_term> held, std::int64_t session_id);

  /// Whether each record has been written, or need not or must not be. Seats do not count: they end with the session.
  bool is_settled() const noexcept;
  std::size_t died() const noexcept { return count(state::died); }
  std::size_t passed_over() const noexcept { return count(state::passed_over); }
  /// Whether a server has refused one of the last looks or writes because it is too busy.
  bool was_refused() const noexcept { return was_refused_; }
  /// Whether a record may not be read or written.
  bool was_forbidden() const noexcept { return was_forbidden_; }

  /// Reads of what is not settled yet.
  std::vector<backend::request> looks();
  /// The answers, in the order of `looks`.
  void handle_looks(const std::vector<backend::reply>& answers);
  /// The transactions that follow from the looks, of bounded size. Records come before seats, so that a successor finds
  /// the record written when it becomes the first.
  std::vector<backend::request> writes();
  /// The answers, in the order of `writes`.
  void handle_writes(const std::vector<backend::reply>& answers);

 private:
  enum class state { open, died, passed_over };
  struct record {
    held_term held;
    std::size_t seat;  // its place in `seats_`
    state is = state::open;
    std::string next{};  // what is to be written; empty: it has to be looked at
    std::int32_t version = 0;
    bool was_sent = false;  // a write of ours may have been executed
  };
  struct seat {
    std::string path;
    bool is_open = true;
    bool was_ours = false;  // it was seen, as a node of the session
  };
  /// One transaction: what each of its operations is about.
  struct chunk {
    transaction all{};
    std::size_t bytes = 0;
    std::vector<record*> records{};  // of each operation; null: a seat's
    std::vector<seat*> seats{};
  };

  std::size_t count(state which) const noexcept;
  std::size_t place_of(const std::string& seat_path);
  void record_seat(seat& which, const backend::reply& answer);
  void judge(record& which, const backend::reply& answer) const;
  void handle_read(record& which, const backend::reply& answer);
  chunk& room_for(std::size_t operations, std::size_t bytes);
  void add(record& which);
  void add(seat& which);
  void handle_write(chunk& which, const backend::reply& answer);
  void handle_refusal(chunk& which, const backend::reply& answer);
  void give_up(record& which, const error_code& why);

  std::int64_t session_id_;
  std::vector<record> records_;
  std::vector<seat> seats_;
  std::vector<chunk> chunks_;
  bool was_forbidden_ = false;
  bool was_refused_ = false;
};

}  // namespace zkrecipes::detail
