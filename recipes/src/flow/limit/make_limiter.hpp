// Makes the inside of limiters: checks the options, makes the world. The tests give it a world of theirs.
#pragma once

#include <memory>

#include <zkrecipes/flow/keyed_limiter.hpp>
#include <zkrecipes/flow/limiter.hpp>

#include "session/make.hpp"

namespace zkrecipes::detail {

class limiter_state;
class keyed_limiter_state;

/// \throws std::invalid_argument naming the executor or the field.
std::shared_ptr<limiter_state> make_limiter(const asio::any_io_executor& executor, const limiter_options& options,
                                            const world_factory& world);
std::shared_ptr<keyed_limiter_state> make_keyed_limiter(const asio::any_io_executor& executor,
                                                        const keyed_limiter_options& options,
                                                        const world_factory& world);

}  // namespace zkrecipes::detail
