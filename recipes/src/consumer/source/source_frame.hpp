// What all parts of one source share.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "format/json_object.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"
#include "source/source_layout.hpp"

namespace zkrecipes::detail {

/// Each kind of source adds its options. The record stands at the path: the first that uses the path writes it.
struct source_frame {
  core_ptr session{};
  source_layout where{};
  json_object record{};
  std::uint32_t shards = 1;
  std::string only_group{};  ///< The only one of a source without groups. Empty: it has groups.

  /// Whether this can be the name of a group: see `name_problem`.
  bool is_group(std::string_view name) const;
};

using source_frame_ptr = std::shared_ptr<const source_frame>;

/// `kind`, `count`, `hash`: as the records of all sources but those of the user begin.
json_object record_of_source(std::string_view kind, std::uint32_t shards);

/// Compares the record at the path with ours, and makes it if it is missing. Errors: `size_mismatch` (the field `count`
/// differs), `foreign_data` (another field of ours does, or it is no record), and those of `core::perform`.
awaitable<error_code> agree_on_record(source_frame_ptr frame);
/// Compares it only. Errors: `no_node` (there is none), and the same.
awaitable<error_code> find_record(source_frame_ptr frame);
/// The request that reads it, and what its reply says of ours. One that is missing, or empty, is no error.
backend::request request_of_record(const source_frame& frame);
error_code compare_record(const source_frame& frame, const backend::reply& found);

}  // namespace zkrecipes::detail
