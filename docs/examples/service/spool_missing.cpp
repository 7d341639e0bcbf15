// Stands for spool_outlet.cpp where the component `spool` is not installed.
#include <stdexcept>

#include "spool_outlet.hpp"

namespace service {

bool has_spool() { return false; }

std::unique_ptr<outlet> make_spool_outlet(const zkrecipes::queue&, const std::string&, const configuration&) {
  throw std::logic_error("built without the component spool");
}

std::unique_ptr<outlet> make_spool_outlet(const zkrecipes::topic&, const std::string&, const configuration&) {
  throw std::logic_error("built without the component spool");
}

}  // namespace service
