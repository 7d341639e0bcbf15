#pragma once

namespace zkrecipes::backend {

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

}  // namespace zkrecipes::backend
