#include "career/end_of_term.hpp"

#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>

#include <zkrecipes/error.hpp>

namespace zkrecipes::detail {

bool is_end_of_term(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const boost::system::system_error& error) {
    const auto& code = error.code();
    return is_loss(code) || is_fatal(code) || code == errc::superseded || code == errc::outcome_unknown ||
           code == errc::connection_loss || code == boost::asio::error::operation_aborted;
  } catch (...) {
    return false;
  }
}

std::string text_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& known) {
    return known.what();
  } catch (...) {
    return "an exception of an unknown type";
  }
}

}  // namespace zkrecipes::detail
