// The messages between a process and the guardian of its machine. This is the one description of the protocol.
//
// The two talk over a Unix stream socket. A message is one JSON object in one line, which ends with a newline and has
// at most `longest_line` bytes with it. Fields that are not known are ignored; everything else that does not fit the
// lists below is refused, and the guardian then closes the socket. Bytes (session passwords, secrets of digests) are
// text in lower-case hex, two digits each; so are session ids, as 1 to 16 digits. Paths have the root in front.
//
// From the process, with the field "type":
//   hello        "version": 1, "client": 32 hex digits, drawn once for each session object, "hang_limit_ms": 0 or more.
//                It is the first message, comes once, and carries a pidfd of the process (SCM_RIGHTS).
//   session      "id", "password", "timeout_ms", "servers": ["host:port", ...], "digest": ["user:secret in hex", ...].
//                An incarnation has begun, or what was said of it has changed.
//   session_end  "id". It is over, or closed in order: it and its terms are taken back.
//   term         "session": id, "record": path, "node": `leader_node` of the record, "seat": path of the
//                session's node that entitles to it. A term of that session has begun. Without the seat, or if it is
//                not the leader's node or not the session's, nothing is written into the record.
//   term_end     "session", "record", "node". It is over.
//   complete     Everything was told. All that this client has told over an earlier connection and not repeated over
//                this one is taken back. The guardian answers `held`.
//   ping         The process is not hung. To be sent at least every third of the hang limit, if there is one.
//
// From the guardian:
//   held         The answer to `complete`. "sessions", "terms": how many of this client the guardian holds. Earlier
//                versions do not tell them.
//   full         "reason". The message before was not taken, because a limit is reached; the connection stays.
//   refused      "reason". The guardian closes the socket.
//
// A reader must not take the end of the connection for more than that: what was told before stays held until it is
// taken back, or until the process has ended.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <zkrecipes/error.hpp>
#include <zkrecipes/session_options.hpp>

#include "backend/link.hpp"

namespace zkrecipes::backend {

// Bytes and session ids as hexadecimal text.

/// Two lower-case digits for each byte.
std::string to_hex(std::string_view bytes);
/// Nothing unless the text is what `to_hex` writes.
std::optional<std::string> from_hex(std::string_view text);

/// 1 to 16 lower-case digits, without leading zeros.
std::string session_to_hex(std::int64_t id);
/// Nothing for 0 either, which is no session.
std::optional<std::int64_t> session_from_hex(std::string_view text);

constexpr std::size_t longest_line = 64 << 10;
constexpr std::size_t longest_path = 8 << 10;
constexpr std::size_t most_guarded_servers = 64;
constexpr std::size_t most_guarded_digests = 32;
constexpr std::chrono::milliseconds shortest_hang_limit{100};
constexpr std::chrono::milliseconds longest_hang_limit{3'600'000};

struct guardian_hello {
  std::string client;
  std::chrono::milliseconds hang_limit{0};
  friend bool operator==(const guardian_hello&, const guardian_hello&) = default;
};

struct guarded_session {
  session_key key;
  std::vector<endpoint> servers;  ///< Names, unresolved.
  std::vector<credentials> digest;
};
bool operator==(const guarded_session& one, const guarded_session& other);

struct guarded_session_end {
  std::int64_t id = 0;
  friend bool operator==(const guarded_session_end&, const guarded_session_end&) = default;
};

struct guarded_term {
  std::int64_t session = 0;
  std::string record;
  std::string node;
  std::string seat;
  friend bool operator==(const guarded_term&, const guarded_term&) = default;
};

struct guarded_term_end {
  std::int64_t session = 0;
  std::string record;
  std::string node;
  friend bool operator==(const guarded_term_end&, const guarded_term_end&) = default;
};

struct guardian_complete {
  friend bool operator==(const guardian_complete&, const guardian_complete&) = default;
};

struct guardian_ping {
  friend bool operator==(const guardian_ping&, const guardian_ping&) = default;
};

using guardian_message = std::variant<guardian_hello, guarded_session, guarded_session_end, guarded_term,
                                      guarded_term_end, guardian_complete, guardian_ping>;

/// How much is held of one client.
struct guarded_count {
  std::size_t sessions = 0;
  std::size_t terms = 0;
  friend bool operator==(const guarded_count&, const guarded_count&) = default;
};

/// What the guardian says.
struct guardian_answer {
  enum class kind { held, full, refused };
  kind type = kind::held;
  std::string reason{};
  std::optional<guarded_count> count{};
  friend bool operator==(const guardian_answer&, const guardian_answer&) = default;
};

/// A message, or what is wrong with the line. The problem names fields, and never repeats what stands in them.
struct read_message {
  std::optional<guardian_message> message;
  std::string problem;
};

/// `line` has no newline at its end.
read_message parse_guardian_message(std::string_view line);
/// The line with its newline. Nothing if a reader would refuse it, for example because it would be too long.
std::optional<std::string> to_line(const guardian_message& message);

/// Nothing if it is not an answer.
std::optional<guardian_answer> parse_guardian_answer(std::string_view line);
std::string to_line(const guardian_answer& answer);

/// "0x1f": for people.
std::string shown_session(std::int64_t id);

/// Receives the events of a line, on the strand, never from inside a call. No call comes after `guardian_down`, or once
/// the line is destroyed; it may be destroyed inside of a call.
class guardian_listener {
 public:
  /// The first message is to be `hello`: it takes the pidfd of this process with it.
  virtual void guardian_up() = 0;
  virtual void guardian_said(const guardian_answer& what) = 0;
  virtual void guardian_down(const error_code& reason) = 0;

 protected:
  ~guardian_listener() = default;
};

/// Its destructor ends the connection at once.
class guardian_line {
 public:
  virtual ~guardian_line() = default;
  /// False if the message can not be told, because it has something that a guardian would refuse. Then nothing is sent.
  virtual bool send(const guardian_message& what) = 0;
  /// The last call: nobody is told anything any more. The connection ends when the guardian has taken what was sent, or
  /// after a second.
  virtual void finish() {}
  /// The last call: the guardian does not answer. One that belongs to us is killed.
  virtual void give_up() {}
};

}  // namespace zkrecipes::backend
