// One real ensemble for all cases of an executable: three servers, each behind a proxy.
#pragma once

#include <testcluster/ensemble.hpp>
#include <testcluster/proxy.hpp>

#include <string>
#include <vector>

namespace zkrecipes::test {

inline constexpr int server_count = 3;

/// Started with the first call, gone with the process.
testcluster::ensemble& cluster();

/// "address:port" of each server itself, past the proxies; server 1 comes first.
const std::vector<std::string>& direct_hosts();
/// "address:port" of each server's proxy.
const std::vector<std::string>& proxy_hosts();

/// All of them, comma separated.
std::string join_hosts(const std::vector<std::string>& hosts);

/// Number of the server (1 to 3) that this address, or its proxy's, belongs to.
int server_at(const std::string& address);

/// The answer of a server to a four-letter word.
std::string ask(int server, const std::string& word);

/// Watches that the servers keep for all sessions together.
long watches_on_servers();

/// Proxies pass everything on again.
void heal_proxies();

}  // namespace zkrecipes::test
