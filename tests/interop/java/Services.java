import java.util.Collection;
import java.util.stream.Collectors;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.x.discovery.ServiceDiscovery;
import org.apache.curator.x.discovery.ServiceDiscoveryBuilder;
import org.apache.curator.x.discovery.ServiceInstance;

/** Registers and lists services. */
final class Services implements AutoCloseable {
  private final ServiceDiscovery<String> discovery;
  private ServiceInstance<String> registered;

  Services(CuratorFramework client, String path) throws Exception {
    discovery = ServiceDiscoveryBuilder.builder(String.class).client(client).basePath(path).build();
    discovery.start();
  }

  void register(String name, String id, String address, int port, String payload) throws Exception {
    registered = ServiceInstance.<String>builder()
        .name(name)
        .id(id)
        .address(address)
        .port(port)
        .payload(payload)
        .build();
    discovery.registerService(registered);
  }

  void unregister() throws Exception {
    discovery.unregisterService(registered);
  }

  String instances(String name) throws Exception {
    Collection<ServiceInstance<String>> all = discovery.queryForInstances(name);
    return all.stream().map(Services::describe).sorted().collect(Collectors.joining(" "));
  }

  private static String describe(ServiceInstance<String> each) {
    return each.getId() + "=" + each.getAddress() + ":" + each.getPort() + "/" + each.getPayload();
  }

  @Override
  public void close() throws Exception {
    discovery.close();
  }
}
