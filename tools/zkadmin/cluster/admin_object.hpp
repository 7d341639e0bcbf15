// The answers of an AdminServer.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <boost/json/object.hpp>

namespace zkadmin {

/// The object that each command of the AdminServer answers with; nothing: it is something else, and `trouble` says
/// what.
std::optional<boost::json::object> admin_object(std::string_view body, const char* command, std::string& trouble);

}  // namespace zkadmin
