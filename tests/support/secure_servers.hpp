// Tests on the real ensemble whose servers speak TLS themselves.
#pragma once

namespace zkrecipes::test {

/// True if ZKRECIPES_TEST_TLS is "servers": each server of the ensemble has a second port, for TLS, and the proxies are
/// in front of it, so they can not drop single requests and replies. With any other value the servers speak plain text,
/// and `tls_front` is in front of the proxies.
bool secure_servers();

}  // namespace zkrecipes::test
