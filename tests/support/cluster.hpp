// One real ensemble for all test cases of an executable: three servers, each behind a proxy.
#pragma once

#include <string>
#include <vector>

#include <testcluster/ensemble.hpp>
#include <testcluster/proxy.hpp>

namespace zkrecipes::test {

inline constexpr int server_count = 3;

/// The ensemble. The first call starts it; it ends with the process.
testcluster::ensemble& cluster();

/// "address:port" of each server itself, past the proxies; server 1 comes first.
const std::vector<std::string>& direct_hosts();
/// "address:port" of each server's proxy.
const std::vector<std::string>& proxy_hosts();

/// All hosts, separated by commas.
std::string join_hosts(const std::vector<std::string>& hosts);

/// The number (1 to 3) of the server with this address, its own or that of its proxy.
int server_at(const std::string& address);

/// The answer of a server to a four-letter word.
std::string ask(int server, const std::string& word);

/// The number of watches that the servers keep, over all sessions.
long watches_on_servers();

/// Makes all proxies pass everything on again, without delay.
void heal_proxies();

}  // namespace zkrecipes::test
