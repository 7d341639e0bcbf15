// What the commands about single nodes are asked for: ls, get, stat, tree, watch, set, delete.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace zkadmin {

enum class node_format { table, json, ndjson, tsv };

/// How `get` prints data.
enum class data_form { plain, hex, base64 };

struct node_request {
  std::string path;
  node_format format = node_format::table;
  bool recursive = false;                ///< `ls`, `delete`
  bool is_long = false;                  ///< `ls`
  std::optional<std::uint32_t> depth{};  ///< `tree`; nothing: without a limit.
  std::optional<std::uint64_t> count{};  ///< `watch`: ends after so many changes.
  data_form form = data_form::plain;     ///< `get`
  std::optional<std::string> data{};     ///< `set`; nothing: from the file, else from standard input.
  std::optional<std::string> file{};
  std::optional<std::int32_t> version{};  ///< `set`, `delete`; nothing: the version that is read.
  bool force = false;                     ///< Also what a recipe keeps.
  std::optional<std::string> yes{};       ///< The path once more, in place of the question.
  bool read_write = false;
};

}  // namespace zkadmin
