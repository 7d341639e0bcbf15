// A request to a server.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <zkrecipes/node.hpp>
#include <zkrecipes/session_options.hpp>
#include <zkrecipes/transaction.hpp>

#include "backend/opcode.hpp"

namespace zkrecipes::backend {

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
