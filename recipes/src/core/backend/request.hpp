// A request to a server, and its size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <zkrecipes/error.hpp>
#include <zkrecipes/lease_clock.hpp>
#include <zkrecipes/node.hpp>
#include <zkrecipes/session_options.hpp>
#include <zkrecipes/transaction.hpp>

namespace zkrecipes::backend {

/// The answer to a request.
/// `error` is clear, an answer of the server, or one of `connection_loss`, `session_expired` and `closed`. With these
/// three the request may or may not have been executed.
struct reply {
  error_code error;
  bool sent = true;        ///< False: the request was never sent, so it was surely not executed.
  bool throttled = false;  ///< The server was too busy: surely not executed. The error is `server_error`.
  std::int64_t zxid = 0;   ///< The last transaction that the server had executed when it answered; 0: not known.
  /// When the link sent it, if it held it back until answers to others had come.
  lease_clock::time_point passed{};
  std::string path;
  std::string data;
  node_stat stat;
  std::vector<std::string> children;
  acl access;
  std::vector<operation_result> results;
};

using reply_handler = std::function<void(reply)>;

/// Which operation of a transaction failed; -1: none, or the whole request.
inline int failed_at(const reply& answer) {
  for (std::size_t i = 0; answer.error && i < answer.results.size(); ++i) {
    if (answer.results[i].error == answer.error) return static_cast<int>(i);
  }
  return -1;
}

/// The kinds of request that a server takes.
enum class opcode {
  create,
  remove,
  get,
  set,
  exists,
  children,
  sync,
  multi,
  get_acl,
  set_acl,
  authenticate,    ///< Credentials for the connection: requests behind it have the rights of them, too.
  forget_data,     ///< Remove the data watch of a path.
  forget_children  ///< Remove the child watch of a path.
};

const char* to_string(opcode op) noexcept;
/// Whether it changes nodes.
bool is_write(opcode op) noexcept;

struct request {
  opcode op = opcode::exists;
  std::string path;  ///< As the server knows it.
  std::string data;
  std::shared_ptr<const credentials> secret;  ///< For `authenticate`. To be wiped: see `hold_secret`.
  std::int32_t version = any_version;
  create_mode mode = create_mode::persistent;
  acl access;
  bool watch = false;
  bool probes = false;                ///< One by which the session finds out changes that no event has told.
  std::vector<operation> operations;  ///< For `multi`.
};

request make_request(opcode op, std::string path, bool watch = false);
request make_probe(opcode op, std::string path);
request make_multi(transaction all);
request make_authenticate(std::shared_ptr<const credentials> secret);
/// A transaction that changes nothing and requires nothing: even if the node is missing or must not be read, the leader
/// has judged it and a quorum has logged that. A read behind it on the same connection is no older than it. A sync is
/// not enough: a leader that was deposed and has not noticed answers it, and then shows old data.
request make_catch_up();

}  // namespace zkrecipes::backend

namespace zkrecipes::detail {

/// The size that a server compares with its `jute.maxbuffer`: the bytes of the packet behind its length, header and
/// body, in ZooKeeper's encoding (zookeeper.jute). The result may be a few bytes too large.
std::size_t size_on_wire(const backend::request& what);

/// The most data that a recipe puts into one request: what a server accepts by default, less room for the names. An
/// operation with more completes with `too_large` before anything is sent.
inline constexpr std::size_t max_data_bytes = 1'000'000;

inline bool is_too_large(const std::string& data) { return data.size() > max_data_bytes; }

}  // namespace zkrecipes::detail
