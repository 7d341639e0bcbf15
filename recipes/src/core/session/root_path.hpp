#pragma once

#include <string>

#include <zkrecipes/node.hpp>

#include "backend/reply.hpp"
#include "backend/request.hpp"

namespace zkrecipes::detail {

/// The root of a session: it is put in front of each path that is sent, and taken from those that come back.
class root_path {
 public:
  /// `path`: empty, or "/a/b". `standard`: the rights of nodes for which the request names none; empty: everybody.
  root_path(std::string path, const acl& standard);

  const std::string& text() const noexcept { return path_; }
  bool empty() const noexcept { return path_.empty(); }
  std::string full(std::string path) const;
  std::string below(std::string path) const;
  void apply(backend::request& what) const;
  void strip(backend::reply& answer) const;

 private:
  std::string path_;
  acl standard_;
};

}  // namespace zkrecipes::detail
