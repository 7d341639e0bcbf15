// How Boost.Test prints the library's enumerations.
#pragma once

#include <ostream>

#include <zkrecipes/consumer/leader_career.hpp>
#include <zkrecipes/session.hpp>

namespace zkrecipes {

inline std::ostream& boost_test_print_type(std::ostream& out, errc value) {
  return out << make_error_code(value) << ' ' << make_error_code(value).message();
}
inline std::ostream& boost_test_print_type(std::ostream& out, session_state value) { return out << to_string(value); }
inline std::ostream& boost_test_print_type(std::ostream& out, term_phase value) { return out << to_string(value); }
inline std::ostream& boost_test_print_type(std::ostream& out, takeover value) { return out << to_string(value); }
inline std::ostream& boost_test_print_type(std::ostream& out, term_end value) { return out << to_string(value); }

}  // namespace zkrecipes
