import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.data.Stat;

/** The witness of which workers are inside: see worker/turns.cpp, which does the same. */
final class Witness {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final CuratorFramework client;
  private final String path;
  private final String name;
  private final boolean shared;
  private int version;
  private long hand_offs;

  Witness(CuratorFramework client, String path, String name, boolean shared) {
    this.client = client;
    this.path = path;
    this.name = name;
    this.shared = shared;
  }

  long hand_offs() {
    return hand_offs;
  }

  void enter() throws Exception {
    if (shared) {
      count_reader(+1);
    } else {
      enter_alone();
    }
  }

  void leave() throws Exception {
    if (shared) {
      count_reader(-1);
    } else {
      leave_alone();
    }
  }

  private void enter_alone() throws Exception {
    Stat stat = new Stat();
    ObjectNode record = read(stat);
    require_no_writer(record);
    if (record.get("readers").asInt() != 0) {
      throw new IllegalStateException("overlap: readers are inside");
    }
    record_turn(record);
    record.put("writer", name);
    version = write(record, stat.getVersion(), "entering");
    hand_offs = record.get("hand_offs").asLong();
  }

  private void leave_alone() throws Exception {
    ObjectNode record = read(new Stat());
    record.putNull("writer");
    write(record, version, "inside");
  }

  private void count_reader(int change) throws Exception {
    while (true) {
      Stat stat = new Stat();
      ObjectNode record = read(stat);
      require_no_writer(record);
      int readers = record.get("readers").asInt() + change;
      record.put("readers", readers);
      record.put("max_readers", Math.max(readers, record.get("max_readers").asInt()));
      if (change > 0) {
        record_turn(record);
      }
      try {
        client.setData().withVersion(stat.getVersion()).forPath(path, JSON.writeValueAsBytes(record));
      } catch (KeeperException.BadVersionException e) {
        continue;  // another reader was quicker
      }
      hand_offs = record.get("hand_offs").asLong();
      return;
    }
  }

  private void record_turn(ObjectNode record) {
    boolean handed_on = record.get("last").isTextual() && !record.get("last").asText().equals(name);
    if (handed_on) {
      record.put("hand_offs", record.get("hand_offs").asLong() + 1);
    }
    record.put("last", name);
    ObjectNode turns = (ObjectNode) record.get("turns");
    turns.put(name, turns.path(name).asLong() + 1);
  }

  private static void require_no_writer(ObjectNode record) {
    if (record.get("writer").isTextual()) {
      throw new IllegalStateException("overlap: " + record.get("writer").asText() + " is inside");
    }
  }

  private ObjectNode read(Stat stat) throws Exception {
    return (ObjectNode) JSON.readTree(client.getData().storingStatIn(stat).forPath(path));
  }

  private int write(ObjectNode record, int expected, String when) throws Exception {
    try {
      return client.setData().withVersion(expected).forPath(path, JSON.writeValueAsBytes(record)).getVersion();
    } catch (KeeperException.BadVersionException e) {
      throw new IllegalStateException("overlap: while " + when);
    }
  }
}
