// Seeds: inputs from which the fuzzers begin, as text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fuzz {

/// The bytes as one line of printable ASCII: \n, \\, \xNN.
std::string escaped(std::string_view bytes);

/// The bytes of such a line. Throws std::runtime_error if it was not written like that.
std::string unescaped(std::string_view line);

/// The seeds in a file, one a line; lines that begin with a # are comments. Throws std::runtime_error.
std::vector<std::string> read_seeds(const std::string& file);

}  // namespace fuzz
