// Makes the parts of the program as the configuration says.
#pragma once

#include <memory>
#include <optional>

#include <zkrecipes/consumer.hpp>
#include <zkrecipes/flow.hpp>
#include <zkrecipes/zkrecipes.hpp>

#include "configuration.hpp"
#include "intake.hpp"
#include "json_log.hpp"
#include "role.hpp"

namespace service {

zkrecipes::session make_session(boost::asio::io_context& io, const configuration& settings, json_log& log);
std::optional<zkrecipes::limiter> make_limiter(boost::asio::io_context& io, const configuration& settings);
std::unique_ptr<role> make_role(const zkrecipes::session& over, const configuration& settings,
                                const std::optional<zkrecipes::limiter>& limiter);
std::unique_ptr<intake> make_intake(const zkrecipes::session& over, const configuration& settings);

}  // namespace service
