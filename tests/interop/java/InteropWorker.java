import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.curator.framework.recipes.queue.SimpleDistributedQueue;

/** Takes part in a recipe beside the C++ and Python workers: worker/main.cpp lists the commands. */
public final class InteropWorker {
  private ObservedClient client;
  private Turn turn;
  private Witness witness;
  private SimpleDistributedQueue queue;
  private Services services;
  private Nodes nodes;

  public static void main(String[] arguments) throws IOException {
    InteropWorker self = new InteropWorker();
    BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    for (String line = commands.readLine(); line != null; line = commands.readLine()) {
      System.out.println(self.answer(line));
      System.out.flush();
    }
    System.exit(0);
  }

  private String answer(String line) {
    try {
      List<String> words = Arrays.asList(line.split(" "));
      String result = obey(words.get(0), words.subList(1, words.size()));
      return result.isEmpty() ? "ok" : "ok " + result;
    } catch (Exception e) {
      return String.valueOf(e.getMessage() == null ? e : e.getMessage());
    }
  }

  private String obey(String command, List<String> words) throws Exception {
    switch (command) {
      case "secure" -> secure(words.get(0), words.get(3));
      case "open" -> open(words.get(0), words.get(1), words.get(2), words.get(3), words.get(4));
      case "close" -> close();
      case "enter" -> enter();
      case "leave" -> leave();
      case "until" -> take_turns(Long.parseLong(words.get(0)));
      case "put" -> queue.offer(words.get(0).getBytes(UTF_8));
      case "take" -> {
        return take(Integer.parseInt(words.get(0)));
      }
      case "raise" -> nodes.raise();
      case "lift" -> nodes.lift();
      case "pass" -> nodes.pass();
      case "join" -> nodes.join(words.get(0), words.get(1));
      case "leave-group" -> nodes.leave();
      case "members" -> {
        return nodes.members();
      }
      case "register" -> services.register(
          words.get(0), words.get(1), words.get(2), Integer.parseInt(words.get(3)), words.get(4));
      case "unregister" -> services.unregister();
      case "instances" -> {
        return services.instances(words.get(0));
      }
      default -> throw new IllegalArgumentException("no such command: " + command);
    }
    return "";
  }

  /** The client reads these when it connects. */
  private static void secure(String authority, String keyAndCertificate) {
    System.setProperty("zookeeper.client.secure", "true");
    System.setProperty("zookeeper.clientCnxnSocket", "org.apache.zookeeper.ClientCnxnSocketNetty");
    System.setProperty("zookeeper.ssl.keyStore.type", "PEM");
    System.setProperty("zookeeper.ssl.keyStore.location", keyAndCertificate);
    System.setProperty("zookeeper.ssl.trustStore.type", "PEM");
    System.setProperty("zookeeper.ssl.trustStore.location", authority);
  }

  private void open(String hosts, String kind, String path, String witnessed, String name) throws Exception {
    client = ObservedClient.connect(hosts);
    switch (kind) {
      case "queue" -> queue = new SimpleDistributedQueue(client.curator, path);
      case "nodes" -> nodes = new Nodes(client.curator, path);
      case "discovery" -> services = new Services(client.curator, path);
      default -> {
        turn = Turn.of(kind, client.curator, path, name);
        witness = new Witness(client.curator, witnessed, name, kind.equals("read"));
      }
    }
  }

  private void close() throws Exception {
    if (services != null) {
      services.close();
      services = null;
    }
    client.close();
  }

  private void enter() throws Exception {
    turn.acquire();
    witness.enter();
  }

  private void leave() throws Exception {
    witness.leave();
    turn.release();
  }

  private void take_turns(long hand_offs) throws Exception {
    do {
      enter();
      leave();
    } while (witness.hand_offs() < hand_offs);
  }

  private String take(int count) throws Exception {
    List<String> all = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      all.add(new String(queue.take(), UTF_8));
    }
    return String.join(" ", all);
  }
}
