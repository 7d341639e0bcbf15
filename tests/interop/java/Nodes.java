import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.barriers.DistributedBarrier;
import org.apache.curator.framework.recipes.nodes.GroupMember;

/** A barrier, and a group. */
final class Nodes {
  private final CuratorFramework client;
  private final String group;
  private final DistributedBarrier gate;
  private GroupMember self;

  Nodes(CuratorFramework client, String path) {
    this.client = client;
    group = path + "/group";
    gate = new DistributedBarrier(client, path + "/gate");
  }

  void raise() throws Exception {
    gate.setBarrier();
  }

  void lift() throws Exception {
    gate.removeBarrier();
  }

  void pass() throws Exception {
    gate.waitOnBarrier();
  }

  void join(String name, String data) {
    self = new GroupMember(client, group, name, data.getBytes(UTF_8));
    self.start();
  }

  void leave() {
    self.close();
  }

  String members() {
    Map<String, byte[]> seen = new TreeMap<>(self.getCurrentMembers());
    return seen.entrySet().stream()
        .map(each -> each.getKey() + "=" + new String(each.getValue(), UTF_8))
        .collect(Collectors.joining(" "));
  }
}
