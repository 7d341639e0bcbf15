// The compiled halves of the operations of `session`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <zkrecipes/completion_token.hpp>
#include <zkrecipes/credentials.hpp>
#include <zkrecipes/detail/initiate.hpp>
#include <zkrecipes/diagnostic.hpp>
#include <zkrecipes/lease_clock.hpp>
#include <zkrecipes/node.hpp>
#include <zkrecipes/session_options.hpp>
#include <zkrecipes/session_status.hpp>
#include <zkrecipes/transaction.hpp>

namespace zkrecipes::detail {

class core;

/// Each function begins the operation of its name, and calls the handler when that has ended.
struct session_operations {
  using core_ptr = std::shared_ptr<core>;
  using secret_ptr = std::shared_ptr<const credentials>;
  template <class... Results>
  using handler = handler_for<void(error_code, Results...)>;

  static void start_status_change(handler<session_status>, core_ptr, std::uint64_t);
  static void start_connected_for(handler<>, core_ptr, time_budget);
  static void start_create(handler<created_node>, core_ptr, std::string, std::string, create_mode, acl);
  static void start_create_with_parents(handler<created_node>, core_ptr, std::string, std::string, create_mode);
  static void start_ensure_path(handler<>, core_ptr, std::string);
  static void start_remove(handler<>, core_ptr, std::string, std::int32_t);
  static void start_remove_with_children(handler<std::size_t>, core_ptr, std::string);
  static void start_get(handler<node_data>, core_ptr, std::string);
  static void start_set(handler<node_stat>, core_ptr, std::string, std::string, std::int32_t);
  static void start_exists(handler<node_stat>, core_ptr, std::string);
  static void start_children(handler<node_children>, core_ptr, std::string);
  static void start_commit(handler<std::vector<operation_result>>, core_ptr, transaction);
  static void start_sync(handler<>, core_ptr);
  static void start_get_acl(handler<acl>, core_ptr, std::string);
  static void start_set_acl(handler<>, core_ptr, std::string, acl, std::int32_t);
  static void start_add_credentials(handler<>, core_ptr, secret_ptr);
  /// Takes them to a place that is wiped, and leaves none of the secret in `given`.
  static secret_ptr hold(credentials& given);
  static void start_data_change(handler<node_data>, core_ptr, std::string, std::int64_t);
  static void start_children_change(handler<node_children>, core_ptr, std::string, std::int64_t);
  static void start_close_for(handler<>, core_ptr, time_budget, diagnostic);
  static void start_close(handler<>, core_ptr);
};

}  // namespace zkrecipes::detail
