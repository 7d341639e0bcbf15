// The suppression of repeats in a run of a consumer: `message_repeats`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <zkrecipes/consumer/queue_consumer.hpp>
#include <zkrecipes/transaction.hpp>

#include "delivery/delivery_frame.hpp"
#include "delivery/delivery_window.hpp"
#include "delivery/message_source.hpp"
#include "format/json_object.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

/// Which numbers of each producer were processed: `message_repeats`.
/// The mark of a producer is the set of its numbers that were processed, as ranges. A number that was not noted is not
/// in it, so whatever was parked, skipped or deleted is processed when it comes. If there are too many ranges the
/// lowest is dropped: its numbers are processed again, and none is lost.
class producer_marks {
 public:
  static constexpr std::size_t longest_name = 255;
  static constexpr std::size_t most_gaps = 64;  ///< Between the ranges of a producer.
  static constexpr std::size_t most_bytes = 32 * 1024;

  /// Nothing if it is not a record of this kind.
  static std::optional<producer_marks> parse(std::string_view text);
  std::string to_text() const;

  bool has_processed(const message_origin& which) const;
  void record_processed(const message_origin& which);

  /// Forgets producers, from the one whose mark has not moved for longest, and returns how many.
  std::size_t forget(std::size_t most_producers);
  std::size_t size() const noexcept { return marks_.size(); }

 private:
  struct range {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
  };
  using ranges = std::vector<range>;
  struct mark {
    ranges processed{};       // in ascending order
    std::uint64_t moved = 0;  // in the order of the moves
    std::size_t bytes = 0;    // in the text
  };
  using entry = std::map<std::string, mark>::value_type;

  static ranges::const_iterator find_behind(const ranges& all, std::uint64_t number);
  static bool add(ranges& all, std::uint64_t number);
  static std::optional<range> parse_range(std::string_view text);
  static bool parse_mark(std::string_view text, ranges& into);
  static std::string text_of(const entry& each);
  void moved(entry& which);
  std::vector<const entry*> by_move() const;

  std::map<std::string, mark> marks_;
  std::uint64_t moves_ = 0;
  std::size_t bytes_ = 0;  // of all marks and the unknown fields
  json_object unknown_fields_;
};

/// The marks are read once in a run. The term has written its record in this session before, so the read shows all
/// commits of earlier terms, and there are no later ones. Whether a message is a repeat is decided when it is next, so
/// that it is not processed, and confirmed when it is committed: by the marks that this very commit moves from their
/// known version. Without the option nothing is read or written, and no message is a repeat.
class delivery_repeats {
 public:
  delivery_repeats(core_ptr session, const delivery_frame& frame);

  bool is_used() const noexcept { return how_.has_value(); }
  /// Reads the marks, unless they are known. Errors: `foreign_data`, or what ends the run.
  awaitable<error_code> prepare();
  /// Somebody else may have written the marks, or it is not known whether we have: reads them again.
  awaitable<error_code> look_again();

  /// The operation of `moving` was refused. Without an error the next commit can be tried.
  awaitable<error_code> answer_refusal(error_code why);

  /// Finds out whose message it is. Returns why it can not be processed; empty: it can. By key, its producer is the one
  /// that has given it its lane: only there does it wait for the messages of this producer.
  std::string take_origin(message_in_hand& next) const;
  /// Whether its number is processed, or will be once what is in front of it in its lane is committed.
  bool is_repeat(const message_in_hand& next, const delivery_window& window);

  /// A commit is composed from here on.
  awaitable<error_code> begin_commit();
  /// The next message of the commit. False: it was taken for a repeat, and is none. A message that has become a repeat
  /// since it was processed loses its effects.
  bool confirm(message_in_hand& next) const;
  /// The commit settles this message.
  void record(const message_in_hand& which, settlement::kind how);
  /// The operation that moves the marks with the commit. If it only settles repeats: one that checks their version.
  transaction moving();
  /// The commit was done. Returns how many producers it has forgotten.
  std::size_t committed();

 private:
  awaitable<error_code> read();
  awaitable<error_code> rest();
  using numbered = std::pair<std::string, std::uint64_t>;  // the producer, and its number
  bool is_first(const numbered& which, std::uint64_t in_window, const delivery_window& window) const;
  void drop_old_firsts(const delivery_window& window);

  core_ptr session_;
  std::optional<message_repeats> how_;
  message_order order_;
  std::string path_;
  back_off pause_;
  producer_marks marks_;                     // as they are stored
  producer_marks next_;                      // with the commit that is composed, or in flight
  std::optional<std::int32_t> version_;      // of `marks_`; nothing: there is no node
  std::optional<std::int32_t> old_version_;  // of what `next_` was made from: a reader may renew `marks_` meanwhile
  // In strict order, by what was begun or processed last with this number: its place in the window. It may be gone.
  std::map<numbered, std::uint64_t> firsts_;
  bool is_known_ = false;
  bool must_make_folder_ = false;
  bool has_moved_ = false;     // `next_`
  bool has_repeats_ = false;   // the commit
  std::size_t forgotten_ = 0;  // by `next_`
};

}  // namespace zkrecipes::detail
