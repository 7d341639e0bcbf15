// Translation between our requests and the C client's calls and callbacks.
#pragma once

#include <functional>
#include <memory>

#include "backend/request.hpp"
#include "backend/zookeeper/c_client.hpp"

namespace zkrecipes::backend {

/// Our error for a return code of the C client. The connection's own codes (-2, -4, -5, -7, invalid state, closing,
/// session moved) all mean "connection lost, outcome unknown". ZNOWATCHER, by the client itself or by the server, is no
/// error: there is nothing left to remove.
error_code from_c_client(int rc) noexcept;

/// Passes the request to the C client. `done` is called from the C client's callback, so it must only store the reply.
/// Returns the C client's code; unless that is ZOK, `done` is not called.
int submit(zhandle_t* handle, request what, watcher_fn watcher, void* context, std::function<void(reply)> done);

}  // namespace zkrecipes::backend
