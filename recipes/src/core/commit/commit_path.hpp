// What the data of the path of a two-phase commit says about the marks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace zkrecipes::detail {

/// How the path is used.
enum class commit_layout {
  missing,  ///< There is no such node.
  mixed,    ///< There may be transactions without marks, begun by an older version.
  indexed,  ///< Every transaction has a mark.
};
/// The layout that the data of the path tells; nothing if the data is not of this recipe, or of a layout that this
/// version does not know.
std::optional<commit_layout> layout_of(const std::string& data);
/// The data of the path when every transaction has a mark; keeps what else the present data says.
std::string indexed_data(const std::string& present = {});

/// The path as it was read.
struct commit_path {
  commit_layout layout = commit_layout::missing;
  std::string data;
  std::int32_t version = 0;
};

}  // namespace zkrecipes::detail
