// The names of the marks by which the transactions of a two-phase commit are listed: see transaction_index.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace zkrecipes::detail {

std::string undecided_folder(const std::string& path);
std::string undecided_mark(const std::string& path, const std::string& id);
std::string decided_folder(const std::string& path);
/// `begun`: the creation time of the transaction's node, in milliseconds.
std::string decided_mark(const std::string& path, const std::string& id, std::int64_t begun);
/// The beginning of the hour that a folder stands for, in milliseconds; nothing if it is not one of ours.
std::optional<std::int64_t> hour_of(const std::string& folder);

}  // namespace zkrecipes::detail
