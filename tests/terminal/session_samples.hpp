// Answers of ZooKeeper 3.8.0 about its sessions.
#pragma once

#include <cstdint>
#include <string>

/// To /commands/configuration.
inline std::string admin_configuration_text(std::uint16_t client_port) {
  return R"({"client_port":)" + std::to_string(client_port) +
         R"(,"data_dir":"/x","tick_time":2000,"command":"configuration","error":null})";
}

/// To /commands/connections.
inline const std::string admin_connections_text = R"({
  "connections" : [ {
    "remote_socket_address" : "10.0.0.7:41884",
    "interest_ops" : 1,
    "outstanding_requests" : 2,
    "packets_received" : 7,
    "packets_sent" : 5,
    "session_id" : 72058454119481344,
    "last_operation" : "PING",
    "established" : 1795714004295,
    "session_timeout" : 8000,
    "last_cxid" : 3,
    "last_zxid" : 3,
    "last_response_time" : 13140783,
    "last_latency" : 1,
    "min_latency" : 0,
    "avg_latency" : 2,
    "max_latency" : 8
  }, {
    "remote_socket_address" : "10.0.0.8:50000",
    "session_id" : 72058454119481345,
    "last_response_time" : 13137783
  }, {
    "remote_socket_address" : "10.0.0.9:50001",
    "interest_ops" : 0,
    "outstanding_requests" : 0
  } ],
  "secure_connections" : [ ],
  "command" : "connections",
  "error" : null
})";

/// To /commands/dump, of a leader.
inline const std::string admin_dump_text = R"({
  "expiry_time_to_session_ids" : {
    "13147000" : [ ],
    "13149000" : [ 72058454119481344, 72058454119481345, 72058454119481346 ]
  },
  "session_id_to_ephemeral_paths" : {
    "72058454119481344" : [ "/app/lock/a", "/other/b" ],
    "-6917529027641081856" : [ "/app/e" ]
  },
  "command" : "dump",
  "error" : null
})";

inline const std::string cons_text =
    " /10.0.0.7:41884[1](queued=2,recved=8,sent=6,sid=0x10000c840db0000,lop=PING,est=1795714004295,to=8000,lcxid=0x3,"
    "lzxid=0x3,lresp=13141785,llat=0,minlat=0,avglat=2,maxlat=8)\n"
    " /[0:0:0:0:0:0:0:1]:50000[1](queued=0,recved=1,sent=1,sid=0x10000c840db0001,lop=CREA,est=1795714004295,to=4000,"
    "lcxid=0x3,lzxid=0x3,lresp=13140785,llat=3,minlat=0,avglat=2,maxlat=8)\n"
    " /10.0.0.9:51318[0](queued=0,recved=1,sent=0)\n\n";

/// A leader's.
inline const std::string dump_text =
    "SessionTracker dump:\nSession Sets (4)/(1):\n0 expire at Thu Nov 26 17:26:52 UTC 2026:\n"
    "2 expire at Thu Nov 26 17:26:55 UTC 2026:\n\t0x10000c840db0000\n\t0x10000c840db0001\nephemeral nodes dump:\n"
    "Sessions with Ephemerals (2):\n0x10000c840db0000:\n\t/app/lock/a\n\t/other/b\n0xa000000000000000:\n\t/app/e\n"
    "Connections dump:\nConnections Sets (2)/(2):\n1 expire at Thu Nov 26 17:26:55 UTC 2026:\n"
    "\tip: /127.0.0.1:41884 sessionId: 0x10000c840db0000\n";

/// That of a server that does not lead.
inline const std::string followers_dump_text =
    "SessionTracker dump:\nGlobal Sessions(1):\n0x10000c840db0000\t8000ms\nephemeral nodes dump:\n"
    "Sessions with Ephemerals (0):\nConnections dump:\nConnections Sets (0)/(0):\n";

inline const std::string not_allowed_text = "cons is not executed because it is not in the whitelist.\n";
