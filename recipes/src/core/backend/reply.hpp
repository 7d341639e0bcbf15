// The answer to a request.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <zkrecipes/error.hpp>
#include <zkrecipes/node.hpp>
#include <zkrecipes/transaction.hpp>

namespace zkrecipes::backend {

/// `error` is clear, an answer of the server, or one of `connection_loss`, `session_expired` and `closed`. With these
/// three the request may or may not have been executed.
struct reply {
  error_code error;
  bool sent = true;        ///< False: the request was never sent, so it was surely not executed.
  bool throttled = false;  ///< The server was too busy: surely not executed. The error is `server_error`.
  std::int64_t zxid = 0;   ///< The last transaction that the server had executed when it answered; 0: not known.
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

}  // namespace zkrecipes::backend
